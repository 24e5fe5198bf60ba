"""What tables call the columns of judgments: closed lists, of whole names alone.

English, German, Chinese, Spanish and French; case, accents and punctuation do not matter. A name
that is on no list means nothing here, however alike it looks.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, takewhile
from pathlib import Path
from shlex import quote

ROLES: dict[str, tuple[str, ...]] = {
    "item_id": (
        "item", "item_id", "question_id", "question", "qid", "id", "prompt_id", "example_id",
        "sample_id", "doc_id", "case_id", "case", "task_id", "problem_id", "query_id", "pair_id",
        "trace_id", "testidx", "user_input", "uid", "instance_id", "conversation_id", "record_id",
        "task", "problem", "pair", "reference_example_id", "test_case", "test_id", "nr", "frage_nr",
        "essay_id", "text_id", "comparison_id", "ticket", "ticket_id", "testfall", "prompt_nr",
        "frage_id", "frage", "aufgabe", "aufgaben_id", "fall", "fall_id", "beispiel_id",
        "题目编号", "题号", "问题编号", "样本编号", "编号", "题目", "问题", "序号",
        "id_pregunta", "pregunta_id", "pregunta", "id_ejemplo", "caso",
        "id_question", "identifiant", "id_exemple", "cas",
    ),
    "replication": (
        "replication", "rep", "repeat", "replicate", "repetition", "run", "run_index", "run_idx",
        "trial",
        "sample", "sample_index", "iteration", "epoch", "repeat_idx", "repeat_index", "attempt",
        "try", "seed", "random_seed", "rng_seed", "round", "sample_idx", "evaluator_run",
        "durchlauf", "wiederholung", "lauf", "durchgang", "versuch",
        "轮次", "次数", "重复", "重复次数", "运行", "第次", "第轮",
        "repeticion", "ejecucion", "intento", "iteracion",
        "essai", "passage", "execution", "repetition_n",
    ),
    "verdict": (
        "verdict", "judgment", "judgement", "judge_verdict", "decision", "winner", "choice", "pass",
        "passed", "label", "vote", "outcome_label", "outcome", "grade_label", "classification",
        "preferred", "grade", "rating", "result", "evaluation", "assessment", "preference",
        "prediction", "pred", "predicted", "is_correct", "is_pass", "success", "judge_label",
        "llm_verdict", "llm_judgment", "urteil", "entscheidung", "gewinner", "einstufung",
        "判定", "判断", "结论", "评判", "判决",
        "veredicto", "juicio", "ganador", "etiqueta",
        "jugement", "gagnant", "etiquette",
    ),
    "score": (
        "score", "rating", "grade", "points", "mark", "stars", "best_score", "judge_score",
        "llm_score", "llm_rating",
        "punkte", "note", "bewertung", "punktzahl", "wertung",
        "分数", "得分", "评分", "打分",
        "puntuacion", "nota", "calificacion", "puntaje",
        "notation", "evaluation",
    ),
    "judge": (
        "judge", "judge_model", "judge_name", "judge_id", "rater", "evaluator", "evaluator_model",
        "grader", "grader_model", "llm_judge", "model",
        "richter", "bewerter", "pruefer", "gutachter", "modell",
        "评审模型", "裁判", "裁判模型", "评委", "模型",
        "juez", "evaluador", "modelo",
        "juge", "evaluateur", "modele",
    ),
    "option_order": (
        "option_order", "order", "position_order", "ordering", "permutation", "swap", "swapped",
        "is_swapped", "presentation_order",
        "reihenfolge", "顺序", "选项顺序", "orden", "ordre",
    ),
    "temperature": ("temperature", "temp", "temperatur", "温度", "temperatura"),
    "criterion": (
        "criterion", "criteria", "metric", "aspect", "dimension", "metric_name", "rubric",
        "kriterium", "标准", "指标", "维度", "criterio", "metrica", "critere", "metrique",
    ),
    "responder": (
        "responder", "answer_model", "candidate", "candidate_model", "target_model", "system",
        "antwortmodell", "候选模型", "回答模型", "sistema", "systeme",
    ),
}  # fmt: skip
"""Names by the column of judgments that they mean."""

PEOPLE = (
    "human", "gold", "expected", "reference", "annotator", "annotation", "ground_truth", "truth",
    "human_label", "human_verdict", "gold_label", "target", "correct_answer", "expert",
    "mensch", "experte", "lehrer", "referenz", "erwartet", "人工", "人工评分", "参考", "标准答案",
    "humano", "humana", "referencia", "teacher",
    "esperado", "humain", "humaine", "attendu",
)  # fmt: skip
"""What people said, or what is right: never a judge's word."""
TIMES = (
    "timestamp",
    "time",
    "created_at",
    "created",
    "date",
    "datetime",
    "tstamp",
    "started_at",
    "finished_at",
    "zeit",
    "zeitpunkt",
    "datum",
    "ts",
    "时间",
    "日期",
    "fecha",
    "hora",
    "heure",
)
"""When a judgment was made."""
SPENT = (
    "token_count",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "tokens",
    "cost",
    "cost_usd",
    "price",
    "logprob",
    "logprobs",
    "usage",
    "latency",
    "latency_ms",
    "duration",
    "execution_time",
    "elapsed",
    "n_tokens",
    "kosten",
    "dauer",
    "用时",
    "costo",
    "cout",
)
"""What a judgment took."""
TEXTS = (
    "reason", "reasoning", "explanation", "comment", "justification", "rationale", "feedback",
    "judge_reason", "judge_output", "response", "answer", "output", "completion", "text", "prompt",
    "question_text", "notes", "error", "begruendung", "kommentar", "antwort", "理由", "原因",
    "评语", "razon", "comentario", "raison", "commentaire", "question", "user_input", "title",
    "description", "input", "inputs",
)  # fmt: skip
"""Free text, which says why and tells no judgments apart."""
QUESTIONS = ("prompt", "question", "question_text", "input", "inputs", "user_input", "query",
             "frage", "问题", "pregunta")  # fmt: skip
"""The text of a question, beside which an id may be of the row."""
ANSWERS = (
    "answer", "response", "output", "outputs", "completion", "summary", "solution", "translation",
    "essay", "generation", "candidate", "message", "antwort", "zusammenfassung", "回答",
    "respuesta", "reponse",
)  # fmt: skip
"""What was judged, or the judge's own words: rows that differ in it may be no repeats."""
REQUESTS = ("request_id", "call_id", "span_id", "uuid")
"""Which request a row came of: another one for every judgment."""
ANNOTATORS = ("annotator", "annotator_id", "expert", "worker", "worker_id", "experte", "anotador",
              "annotateur", "标注员", "email", "email_address", "e_mail_adresse", "respondent",
              "participant")  # fmt: skip
"""Who among people judged, where rows differ in it."""
CATEGORIES = (
    "task", "problem", "question", "case", "frage", "aufgabe", "fall", "beispiel", "题目",
    "pregunta", "caso", "cas", "user_input", "问题",
)  # fmt: skip
"""Names of items that as often name a kind of them."""
AGGREGATES = ("mean", "avg", "average", "median", "total", "sum", "overall", "final", "majority",
              "consensus", "combined", "ensemble", "std", "stdev", "variance")  # fmt: skip
"""What is computed of several judges, and is none."""
SEEDS = ("seed", "random_seed", "rng_seed")
"""What repeats are drawn by: their number where nothing else numbers them."""
TRIES = ("attempt", "versuch", "intento", "try")
"""Repeats that may be tries after a failure."""
JUDGES = re.compile(
    r"(?i)(^|/)(gpt|chatgpt|o[134]|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|command|"
    r"grok|phi|yi|glm|kimi|prometheus|judgelm|nova|jamba|olmo|falcon|vicuna|haiku|sonnet|opus)"
    r"(\b|[-_.\d])"
)
"""Names of models, by how they begin."""
VARIANTS = frozenset((
    "large", "medium", "small", "tiny", "mini", "nano", "micro", "pro", "flash", "lite", "turbo",
    "ultra", "max", "plus", "r", "base", "instruct", "it", "chat", "coder", "reasoner", "thinking",
    "preview", "beta", "exp", "latest",
))  # fmt: skip
"""Words behind the name of a model that are of the name."""
MODELS = ("model", "modell", "modele", "modelo", "模型")
"""Who judged, where no column says it better: as often who answered."""
WORDS = frozenset(("pass", "fail", "passed", "failed", "yes", "no", "true", "false", "correct",
                   "incorrect", "win", "lose", "tie"))  # fmt: skip
"""Verdicts, which are nobody's name."""
METRICS = (
    "faithfulness", "answer_relevancy", "answer_relevance", "context_precision", "context_recall",
    "context_relevancy", "answer_correctness", "answer_similarity", "factual_correctness",
    "helpfulness", "harmlessness", "honesty", "toxicity", "coherence", "consistency", "fluency",
    "relevance", "correctness", "conciseness", "completeness", "groundedness", "accuracy",
    "clarity", "depth", "creativity", "safety",
)  # fmt: skip
"""Names of criteria that answers are rated by."""
ORDERS = re.compile(r"(?i)^(ab|ba|original|swapped|forward|reversed?|order_?[01]|first|second)$")
"""Names of orders in which options are shown."""
BARE = ("", "r", "k")
"""Letters before a number that name a repeat; ``q1`` and ``s1`` may be questions or criteria."""
STATED = (
    r"(?i)^(?:([a-z]+)\s*[:=]\s*)?(?:\[\[\s*)?([-+]?\d+(?:[.,]\d+)?)"
    r"\s*(?:(?:/|out of|of|von|sur|de)\s*(\d+)|(%)|pts?|points?|punkte?|stars?)?(?:\s*\]\])?$"
)
"""A number as texts state it: ``Score: 2/5``, ``4 out of 5``, ``1,5``, ``80 %``, ``[[5]]``."""
_OF_A_CRITERION = re.compile(r"(?i)(?:feedback|scores)\.(.+?)(?:\.score)?|(.+)/v\d+/score")
_COUNTED = re.compile(
    r"(?i)(?:n|num|number|count|anzahl|votes)(?:_of|_for)?[_\-. ]+(.+)|"
    r"(.+)[_\-. ]+(?:n|counts?|votes)"
)
_BESIDE_ANSWERS = ("Status", "Score", "Named Scores", "Metric: ", "Grader Reason", "Comment",
                   "Latency", "Reasoning")  # fmt: skip
"""What promptfoo writes beside each answer, which is called ``[who] prompt``."""
_COUNTS = ("n", "count", "counts", "freq", "frequency", "n_votes", "n_replies", "anzahl", "nombre")
_BRACES = re.compile(r"\{(\w+)\}")
_RUN_OF = re.compile(r"(.+?)([_\-. ]+[^\W\d_]+[_\-. ]*)\d+")
_SIMPLIFIED = str.maketrans(
    "題問編號樣評審輪數複運判決結論裁準標指維順選時間語據應則項對試測務",
    "题问编号样评审轮数复运判决结论裁准标指维顺选时间语据应则项对试测务",
)
"""Traditional Chinese characters of the lists."""
_MOST_JOINTS = 8
_TWO = 2  # orders
_NUMBER_OF = re.compile(r"(.+?)(?:no|nr|num|number|nummer|index|idx)")
_NUMBERED = ("item_id", "replication")
_WRAPPERS = ("row", "data", "fields")
"""What records stand in that other things are said beside."""


@lru_cache(maxsize=4096)
def key_of(name: str) -> str:
    """A name without case, accents, blanks and punctuation, as the lists are searched by.

    Examples
    --------
    >>> key_of("Frage-ID"), key_of("judgeModel"), key_of("Begründung")
    ('frageid', 'judgemodel', 'begruendung')
    """
    spelled = name.lower()
    for umlaut, plain in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        spelled = spelled.replace(umlaut, plain)
    bare = unicodedata.normalize("NFKD", spelled.translate(_SIMPLIFIED))
    return "".join(one for one in bare if one.isalnum() and not unicodedata.combining(one))


def _keys_of_column_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(key_of, names))


_ROLE_OF = {role: _keys_of_column_names(names) for role, names in ROLES.items()}
_PEOPLE, _TIMES, _SPENT, _TEXTS = map(_keys_of_column_names, (PEOPLE, TIMES, SPENT, TEXTS))
_ANSWERS, _REQUESTS = map(_keys_of_column_names, (ANSWERS, REQUESTS))
_ANNOTATORS, _CATEGORIES, _AGGREGATES, _TRIES = map(
    _keys_of_column_names, (ANNOTATORS, CATEGORIES, AGGREGATES, TRIES)
)
_METRICS, _SEEDS, _QUESTIONS, _MODELS = map(
    _keys_of_column_names, (METRICS, SEEDS, QUESTIONS, MODELS)
)
_SIZES = _keys_of_column_names(("length", "len", "chars", "words", "count", "ms", "s", "seconds"))


COMMON = frozenset(one for names in ROLES.values() for one in names)
"""All names, as files write them in small letters."""


def roles_of(name: str) -> list[str]:
    """What a column may be by its name; nothing of what people said.

    Examples
    --------
    >>> roles_of("prompt_id"), roles_of("Urteil"), roles_of("human_label"), roles_of("verdict_2")
    (['item_id'], ['verdict'], [], [])
    """
    key = key_of(name)
    if key in _PEOPLE:
        return []
    found = [role for role, keys in _ROLE_OF.items() if key in keys]
    if not found and (numbered := _NUMBER_OF.fullmatch(key)):  # run_no, Question number
        found = [role for role in _NUMBERED if numbered[1] in _ROLE_OF[role]]
    return found


def is_of_people(name: str) -> bool:
    """Whether a column holds what people said, or what is right."""
    return key_of(name) in _PEOPLE


def is_side_column(name: str) -> bool:
    """Whether a column says when, at what cost or why, and tells no judgments apart."""
    name = re.sub(r"\.\d+$", "", name)  # as pandas numbers a name that comes again
    name = re.sub(r"^.+/v\d+/", "", name)  # as MLflow writes what is of a version of a metric
    return key_of(name) in _TIMES | _SPENT | _TEXTS | _REQUESTS


def may_come_again(name: str, names: Iterable[str]) -> bool:
    """Whether several of the columns are of one thing by one name: repeats of a verdict, or texts.

    Examples
    --------
    >>> [may_come_again(name, ["id", "verdict"]) for name in ("verdict", "reason", "question")]
    [True, True, False]
    """
    roles = {*roles_of(name)}
    if name.startswith(_BESIDE_ANSWERS) and any(one.startswith("[") for one in names):
        return True
    is_numbered = any("replication" in roles_of(one) for one in names)
    return (bool(roles & _VALUES) and not is_numbered) or (not roles and is_side_column(name))


def counted_in(name: str) -> str | None:
    """What a column counts by its name: a verdict, or "" for what else the row says.

    Examples
    --------
    >>> counted_in("n_yes"), counted_in("pass_count"), counted_in("count"), counted_in("n_tokens")
    ('yes', 'pass', '', None)
    """
    if is_side_column(name) or roles_of(name):
        return None
    found = _COUNTED.fullmatch(name)
    return "" if name.lower() in _COUNTS else (found and (found[1] or found[2]))


def is_time(name: str) -> bool:
    """Whether a column says when a judgment was made."""
    return key_of(name) in _TIMES


def is_request(name: str) -> bool:
    """Whether a column says which request a judgment came of."""
    return key_of(name) in _REQUESTS


def is_answer(name: str) -> bool:
    """Whether a column holds what was judged, or the judge's own words: its name does not say.

    Examples
    --------
    >>> is_answer("student_answer"), is_answer("response_id"), is_answer("reason")
    (True, True, False)
    """
    if key_of(name) in _ANSWERS or is_side_column(name) or is_metric(name):
        return key_of(name) in _ANSWERS
    parts = {key_of(part) for part in re.split(r"[_\-. ]+", name)}
    return bool(parts & _ANSWERS) and not parts & (_SPENT | _TIMES | _SIZES)


def is_annotator(name: str) -> bool:
    """Whether a column may say who of several people judged."""
    return key_of(name) in _ANNOTATORS


def is_category(name: str) -> bool:
    """Whether a name of items as often names a kind of them."""
    return key_of(name) in _CATEGORIES


def is_aggregate(name: str) -> bool:
    """Whether a name is of what is computed of several judges."""
    return key_of(name) in _AGGREGATES or any(
        key_of(part) in _AGGREGATES for part in re.split(r"[_\-. ]+", name)
    )


def is_try(name: str) -> bool:
    """Whether repeats of this name may be tries after a failure."""
    return key_of(name) in _TRIES


def is_question(name: str) -> bool:
    """Whether a column holds the text of a question."""
    return key_of(name) in _QUESTIONS


def is_seed(name: str) -> bool:
    """Whether a column holds what a repeat was drawn by."""
    return key_of(name) in _SEEDS


def is_model(name: str) -> bool:
    """Whether a name is of a model throughout.

    Examples
    --------
    >>> is_model("claude-3-opus"), is_model("openai/gpt-4o"), is_model("gpt_tone")
    (True, True, False)
    """
    found = JUDGES.search(name)
    rest = re.split(r"[_\-. :]+", name[found.end() :].lower()) if found else ["none"]
    return all(not one.isalpha() or one in VARIANTS or JUDGES.match(one) for one in rest)


def is_plain_model(name: str) -> bool:
    """Whether a column is called a model, which may have judged or answered."""
    return key_of(name) in _MODELS


def is_metric(name: str) -> bool:
    """Whether a column is called like a criterion that answers are rated by."""
    return key_of(name) in _METRICS


def criterion_in(name: str) -> str | None:
    """The criterion of a column below ``feedback``, or of a metric and its version; None of others.

    Examples
    --------
    >>> criterion_in("feedback.tone.score"), criterion_in("toxicity/v1/score"), criterion_in("tone")
    ('tone', 'toxicity', None)
    >>> criterion_in("feedback.tone.comment") is criterion_in("toxicity/v1/justification") is None
    True
    """
    found = _OF_A_CRITERION.fullmatch(name)
    called = (found[1] or found[2]) if found else ""
    return None if is_side_column(called.rpartition(".")[2]) else called or None


def facet_of(names: Iterable[str]) -> str | None:
    """What all of some names tell: a judge, a criterion, a repeat or an order; None of others.

    Examples
    --------
    >>> facet_of(["gpt-4o", "claude-3"]), facet_of(["run1", "run2"]), facet_of(["tone", "gpt-4o"])
    ('judge', 'replication', None)
    """
    each = [
        {facet for pattern, facts in _cuts_of(name) for facet in facts
         if pattern == f"{{{facet}}}" or (len(facts) == 1 and _numbered_repeat_column(name))}
        for name in names
    ]  # fmt: skip
    order = ("replication", "option_order", "criterion", "judge")
    return next((one for one in order if each and all(one in facts for facts in each)), None)


def facets_in(place: str) -> tuple[str, ...]:
    """What a pattern of names tells in braces.

    Examples
    --------
    >>> facets_in("{judge}_run{replication}"), facets_in("winner")
    (('judge', 'replication'), ())
    """
    return tuple(_BRACES.findall(place))


def names_by_pattern(pattern: str, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """What each name that is like a pattern tells, of the cuts that tell the fewest things apart.

    Examples
    --------
    >>> names_by_pattern("{judge}_{criterion}", ["gpt_long_tone", "gpt_tone"])["gpt_long_tone"]
    {'judge': 'gpt', 'criterion': 'long_tone'}
    """
    parts = _BRACES.split(pattern)
    ways = []
    for least in ("?", ""):
        rule = "".join(re.escape(part) if n % 2 == 0 else f"(?P<{part}>.+{least})"
                       for n, part in enumerate(parts))  # fmt: skip
        found = {name: match.groupdict() for name in names if (match := re.fullmatch(rule, name))}
        ways.append(found)
    return min(ways, key=lambda way: sum(
        len({facts[facet] for facts in way.values()}) for facet in facets_in(pattern)
    ))  # fmt: skip


def _numbered_repeat_column(name: str) -> re.Match[str] | None:
    """A word for a repeat, or none, and the number behind it."""
    found = re.fullmatch(r"([^\W\d_]*[_\-. ]*)(\d+)", name)
    word = found[1].rstrip("_-. ") if found else ""
    return found if word.lower() in BARE or "replication" in roles_of(word) else None


@lru_cache(maxsize=4096)
def _cuts_of(name: str, deep: int = 0) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """The patterns that a name is like, and what it tells by each."""
    joints = [*re.finditer(r"[_\-. :/]+", name)]
    if deep > _MOST_JOINTS or len(joints) > _MOST_JOINTS:
        return ()
    found: list[tuple[str, Mapping[str, str]]] = []
    roles = {*roles_of(name), *roles_of(name.removesuffix("s"))}
    if roles & {"verdict", "score", "judge"}:
        found.append((name, {}))
    if is_model(name):
        found.append(("{judge}", {"judge": name}))
    if is_metric(name):
        found.append(("{criterion}", {"criterion": name}))
    if ORDERS.match(name):
        found.append(("{option_order}", {"option_order": name}))
    if numbered := _numbered_repeat_column(name):
        found.append((numbered[1] + "{replication}", {"replication": numbered[2]}))
    for joint in joints:
        for before, facts in _cuts_of(name[: joint.start()], deep + 1):
            for after, more in _cuts_of(name[joint.end() :], deep + 1):
                if not facts.keys() & more.keys():
                    found.append((before + joint[0] + after, {**facts, **more}))
    return tuple(found)


def patterns_of(names: Iterable[str]) -> dict[str, dict[str, Mapping[str, str]]]:
    """Patterns that tell several things, or one in a known word, and what each name tells by them.

    A number behind a judge's name may be of the judge, and tells nothing alone.

    Examples
    --------
    >>> patterns_of(["gpt_run1", "gpt_run2", "reason"])
    {'{judge}_run{replication}': {'gpt_run1': {'judge': 'gpt', 'replication': '1'}, \
'gpt_run2': {'judge': 'gpt', 'replication': '2'}}}
    """
    found: dict[str, dict[str, Mapping[str, str]]] = {}
    for name in names:
        for pattern, facts in _cuts_of(name):
            words = re.split(r"[_\-. :/]+", _BRACES.sub("", pattern))
            known = {
                role for one in words for role in roles_of(one) + roles_of(one.removesuffix("s"))
            }
            # The first and the second model answered; only verdicts and scores are of an order.
            of_order = facts.keys() == {"option_order"} and known & {"verdict", "score"}
            if len(facts) > 1 or (known and facts.keys() & {"judge", "criterion"}) or of_order:
                found.setdefault(pattern, {})[name] = facts
    return found


def in_common(names: Sequence[str]) -> tuple[str, str] | None:
    """How names begin and end alike, in whole words; None where they do neither.

    Examples
    --------
    >>> in_common(["run1_x", "run2_x"]), in_common(["good_x", "bad_x"]), in_common(["a", "b"])
    (('run', '_x'), ('', '_x'), None)
    """
    begin = _begin_of(names)
    begin = _whole_words(begin, [name[len(begin) :] for name in names])
    turned = [name[len(begin) :][::-1] for name in names]
    end = _begin_of(turned)
    end = _whole_words(end, [name[len(end) :] for name in turned])[::-1]
    return (begin, end) if begin or end else None


def _whole_words(begin: str, rests: Sequence[str]) -> str:
    """What names begin with, cut where a word or a number ends that goes on in any of the names."""
    firsts, last = {one[:1] for one in rests}, begin[-1:]
    if last.isdecimal() and any(map(str.isdecimal, firsts)):
        return begin.rstrip("0123456789")
    if any(all(map(kind, (last, one))) for kind in (str.islower, str.isupper) for one in firsts):
        return begin[: max((one.end() for one in re.finditer(r"[_\-. :/]+", begin)), default=0)]
    return begin


def _begin_of(texts: Sequence[str]) -> str:
    """The letters with which all texts begin."""
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*texts, strict=False))
    return "".join(first for first, *_ in alike)


def patterns_like(names: Sequence[str]) -> list[str]:
    """Patterns that names are like, by what may stand where they differ.

    Examples
    --------
    >>> patterns_like(["run1_x", "run2_x"]), patterns_like(["gpt-4o", "claude-3"])
    (['run{replication}_x'], ['{judge}', '{responder}'])
    """
    if runs := _runs_of(names):
        return runs
    begin, end = in_common(names) or ("", "")
    inner = [name[len(begin) : len(name) - len(end)] for name in names]
    inner = [re.sub(r"^(\d+)(st|nd|rd|th|\.)$", r"\1", one) for one in inner]
    word = re.split(r"[_\-. ]+", begin.strip("_-. "))[-1]
    # Bare numbers are of repeats where a word says so: of judges and models as well.
    is_bare = all(one.isdecimal() for one in inner) and "replication" not in roles_of(word)
    known = None if is_bare else facet_of(inner)
    if known is None and (whole := facet_of(names)) not in (None, "replication"):
        begin, end, known = "", "", whole
    if "" in inner:
        begin, end = "", ""
    several = ["item_id", "judge", "criterion", "replication", "responder"]
    if is_bare and sorted(map(int, inner)) in ([*range(len(inner))], [*range(1, len(inner) + 1)]):
        several.insert(0, several.pop(3))  # numbered from the first on, as repeats are
        several[1:1] = ["option_order"] * (len(inner) == _TWO)
    known = known or next((role for role in roles_of(word) if role in several), None)
    if known is not None:
        several = [known, *(["responder"] if known == "judge" else [])]
    return [f"{begin}{{{one}}}{end}" for one in several]


def places_side_by_side(names: Sequence[str]) -> Sequence[str]:
    """Places of columns that may hold judgments: side by side, or alone by a word of one.

    Examples
    --------
    >>> places_side_by_side(["raw_verdict", "tone"]), places_side_by_side(["gpt-4o", "claude-3"])
    (['raw_verdict'], ['{judge}', '{responder}'])
    """
    if len(names) < 2 or in_common(names):
        return patterns_like(names) if len(names) > 1 else names
    of_value = [one for one in names
                if any({*roles_of(part)} & _VALUES for part in chain(*halves(one)))]  # fmt: skip
    stems = Counter(re.sub(r"\d+$", "{replication}", name) for name in names)
    several = [stem for stem, n in stems.items() if n > 1]
    return of_value or [*several, *patterns_like(names)]


def _runs_of(names: Sequence[str]) -> list[str]:
    """Patterns of runs of several things, by what the things may be: ``t0_run1``, ``t1_run1``."""
    found = [one for name in names if (one := _RUN_OF.fullmatch(name))]
    heads = [one[1] for one in found]
    ends = {one[2] for one in found}
    word = next(iter(ends), "").strip("_-. ")
    if len(found) < len(names) or len({*heads}) < 2 or len(ends) > 1:
        return []
    if "replication" not in roles_of(word):
        return []
    begin, _ = in_common(heads) or ("", "")
    is_number = all(re.fullmatch(r"\d+(\.\d+)?", one[len(begin) :]) for one in heads)
    head = begin.strip("_-. ").lower()
    known = [role for role in roles_of(head) if role not in _VALUES]
    known += ["temperature"] * (is_number and head in ("", "t"))
    facets = known[:1] or ("judge", "criterion", "responder", "template")
    begin, end = begin if is_number else "", next(iter(ends))
    return [f"{begin}{{{one}}}{end}{{replication}}"
            for one in facets]  # fmt: skip


def repeats_by_name(files: Sequence[str], columns: Iterable[str]) -> list[int]:
    """Give the repeat of each file, where names differ by a number alone and no column says it.

    Examples
    --------
    >>> repeats_by_name(["run2.csv", "run10.csv"], ["id"]), repeats_by_name(["a.csv", "b.csv"], [])
    ([0, 1], [])
    """
    if len(files) < 2 or any("replication" in roles_of(name) for name in columns):
        return []
    names = [Path(file).name for file in files]
    if any(JUDGES.search(name) for name in names):  # gpt-4.csv and gpt-5.csv are two judges
        return []
    stems = {re.sub(r"\d+", "#", name) for name in names}
    numbers = [re.findall(r"\d+", name) for name in names]
    varying = [place for place in range(len(numbers[0]))
               if len({one[place] for one in numbers}) > 1] if len(stems) == 1 else []  # fmt: skip
    if len(varying) != 1:
        return []
    order = sorted(int(one[varying[0]]) for one in numbers)
    return [order.index(int(one[varying[0]])) for one in numbers] if len(set(order)) > 1 else []


_VALUES = {"verdict", "score"}


def called_of(place: str) -> str:
    """What a place inside cells is called; a list of bare values by its column: `scores.*`."""
    called = place.removesuffix(".*").rpartition(".")[2]
    return called.removesuffix("s") if place.endswith("*") else called


def is_called_verdict(place: str, called: str) -> bool:
    """Whether a name ends as those of verdicts do, or stands below one: `tone_score`, `votes.x`."""
    above = [one.removesuffix("s") for one in place.split(".")[:-1]]
    ends = [last for _, last in halves(called) if "score" in roles_of(last) or "verdict" in last]
    return bool(ends) or any(set(roles_of(name)) & _VALUES for name in above)


def is_named_element(place: str) -> bool:
    """Whether a place names elements of a list, each of another judge or criterion, say."""
    return place.endswith((".*.name", ".*.key"))


def roles_inside(place: str) -> list[str]:
    """What a value inside an object may be: the id of another thing is no question's."""
    called = called_of(place)
    above = [one for one in place.split(".")[:-1] if one != "*"]
    if called == "id" and above and above[-1] not in _WRAPPERS:  # of an example: example_id
        roles = {*roles_of(above[-1]), *roles_of(f"{above[-1]}_id")}
        return ["item_id"] if "item_id" in roles else []
    if called == "name" and above:  # of a metric or a judge, in a list of them
        one = above[-1].removesuffix("s")
        of_these = {*([] if is_plain_model(one) else roles_of(one))}
        of_these |= {*roles_of(above[-1].partition("_")[0].removesuffix("s"))} - {"judge"}
        return [role for role in ("criterion", "judge") if role in of_these]
    if called == "value":
        several = {role for one in above for role in roles_of(one.removesuffix("s"))}
        return [role for role in ("verdict", "score") if several & {*_VALUES, "criterion"}]
    return roles_of(called)


def is_numbered_thing(name: str) -> bool:
    """Whether a name is a number of a model, an answer or a judge: ``model_1``."""
    stem = re.sub(r"[_\-. ]*\d+$", "", name)
    is_thing = key_of(stem) == "answer" or bool({"judge", "responder"} & set(roles_of(stem)))
    return stem != name and is_thing


def halves(name: str) -> Iterator[tuple[str, str]]:
    """A name cut in two at each of its joints, the last first."""
    for joint in reversed([one.start() for one in re.finditer(r"[_\-. :]", name)]):
        yield name[:joint], name[joint + 1 :]


def column_flag(role: str, place: str) -> str:
    """The flag that says what a place means, as a shell takes it.

    Examples
    --------
    >>> column_flag("verdict", "winner"), column_flag("verdict", "Judge Verdict")
    ('--column verdict=winner', "--column 'verdict=Judge Verdict'")
    """
    return f"--column {quote(f'{role}={place}')}"
