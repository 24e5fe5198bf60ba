"""The results released with Bergman et al. (2025): models that think twice, and judges of them.

Their files hold the 600 questions of MMLU-Pro, too.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import PurePosixPath

import polars as pl

from judgerel_ray.benchmarks.admission import admit_rows
from judgerel_ray.benchmarks.mmlu_pro import mmlu_pro_item
from judgerel_ray.benchmarks.multiple_choice import number_place, options_by_place
from judgerel_ray.benchmarks.source import Record, name_kind, read_records
from judgerel_ray.core import Item, Menu, Outcome, SweepError
from judgerel_ray.protocols import read_verdict
from judgerel_ray.protocols.replies.correctness_form import read_confidence
from judgerel_ray.protocols.replies.verdicts import read_selection

ROLES = ("responder", "participant", "evaluator_only")
"""What a file's model was asked as: alone, as a judge with its own answer shown, or without."""
_NAMED = {
    "monolithic": "responder",
    "judge_participant_mode": "participant",
    "judge_evaluator_only_mode": "evaluator_only",
}
_REPLIES = {
    "choose": ("final_answer", "second_response"),
    "judge": ("correct_answer", "judge_response"),
}
_SELECTED, _SELECTED_MOST = "first_response", 2
_PROVIDER = re.compile(r"([^_]+)_\1_(.+)")
_SCHEMA = {
    "judge": pl.String(), "benchmark": pl.String(), "category": pl.String(),
    "item_id": pl.String(), "protocol": pl.String(), "stage": pl.String(), "role": pl.String(),
    "responder": pl.String(), "replication": pl.Int64(), "verdict": pl.String(),
    "label": pl.String(), "confidence": pl.Float64(), "outcome": pl.String(), "gold": pl.String(),
}  # fmt: skip


def load_bergman2025(path: str) -> tuple[Item, ...]:
    r"""Read the questions of Bergman et al. (2025) out of one of their result files.

    Parameters
    ----------
    path : str
        A file of results of a model alone or of a judge, CSV or Parquet, with ``question_id``,
        ``question``, ``options`` (one text, ``0. ...`` a line), ``category`` and
        ``correct_answer`` (from 0). Its other columns are answers, which ``import bergman2025``
        reads.

    Returns
    -------
    tuple of Item
        As :func:`load_mmlu_pro` gives them: the same ids, options and gold.

    Raises
    ------
    SweepError
        If the file is not of that layout; row and field are named.

    Notes
    -----
    Layout by the files released at https://github.com/GuidoBergman/reliability-judge.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "monolithic_m.csv")
    ...     _ = file.write_text("question_id,question,options,category,correct_answer\n"
    ...                         '70,Which?,"0. oak\n1. apple",biology,1\n')
    ...     item = load_bergman2025(str(file))[0]
    >>> item.item_id, item.gold, [option.text for option in item.options]
    ('mmlu_pro:70', '1', ['oak', 'apple'])
    """
    return admit_rows(path, _item)


def _item(record: Record, _: int) -> Item:
    record.require("question_id", "question", "options", "category", "correct_answer")
    options = options_by_place(_texts(record), record)
    right = number_place(record, "correct_answer", len(options), first=0)
    return mmlu_pro_item(record, options, right)


def _texts(record: Record) -> tuple[str, ...]:
    """Options out of their one text; a line that does not go on counting belongs to the last."""
    texts: list[str] = []
    for line in record.text("options").split("\n"):
        number, dot, text = line.partition(". ")
        if dot and number == str(len(texts)):
            texts.append(text)
        elif texts:
            texts[-1] += f"\n{line}"
        else:
            raise record.wrong(f"options must start with '0. ', got text {line[:40]!r}")
    return tuple(texts)


def import_bergman2025(
    path: str, *, judge: str | None = None, role: str | None = None, reread: bool = False
) -> pl.DataFrame:
    r"""Read a result file of [1]_ as judgments of protocol think_twice.

    Parameters
    ----------
    path : str
        CSV or Parquet: a model alone (``monolithic_*``: question_id, question, options, category,
        correct_answer, first_response, second_response, selected_option, confidence, ...), or a
        judge (``judge_participant_mode_*``, ``judge_evaluator_only_mode_*``: judge_response in
        place of the two responses).
    judge : str, optional
        Name of the model; by default what the file's name says behind those words, without the
        providers.
    role : {"responder", "participant", "evaluator_only"}, optional
        What it was asked as; by default what the file's columns and name say.
    reread : bool
        Whether verdicts and confidences are read in the replies by the readers of
        :mod:`judgerel_ray.protocols`; by default they are what the authors read, and published.

    Returns
    -------
    pl.DataFrame
        One row a question and stage, in the order of the file, which differs between the released
        files: join them by ``item_id``. ``stage`` is choose for a model alone (which is its own
        ``responder``) and judge for a judge; ``verdict`` the option's number as in
        :func:`.load_bergman2025`, ``outcome`` ``off_menu`` for a number
        that was not on offer and ``unparsed`` for none, ``confidence`` null where there is none,
        ``gold`` the right option. Where the file has first_response, a row of stage select says
        in ``label`` which options were selected, or in ``outcome`` why that cannot be read. No
        temperature: none was sent.

    Raises
    ------
    SweepError
        If the file is of another layout, a question stands twice, a value is no option or no
        probability, or neither file nor arguments say whose it is.

    Notes
    -----
    The released files hold no reply that the authors could not read: those were asked again until
    they could. So a rate of readable replies of these files is 1 by construction. And a reply may
    not be the one that was read: of the released files, one row of 1,800 states another answer
    and confidence than were taken from it.

    References
    ----------
    .. [1] Bergman, Bersia, Ruzak, Heredia and Molina (2025), Reliability Judge,
       https://github.com/GuidoBergman/reliability-judge.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> head = "question_id,question,options,category,correct_answer,second_response"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "monolithic_lab_lab_m-1.csv")
    ...     _ = file.write_text(f"{head},selected_option,confidence\n"
    ...                         '70,Which?,"0. oak\n1. apple",biology,1,Final Answer: 1,1,0.85\n')
    ...     found = import_bergman2025(str(file))
    >>> found.select("judge", "role", "item_id", "verdict", "confidence", "gold").row(0)
    ('m-1', 'responder', 'mmlu_pro:70', '1', 0.85, '1')
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise SweepError(
            f"unknown kind of file, expected .csv or .parquet, got {suffix or 'none'}",
            where={"path": path},
        )
    records = read_records(path)
    items = load_bergman2025(path)
    records[0].require("selected_option", "confidence")
    asked_as = _role(records[0], path, role)
    name = judge or _judge(path)
    alone = asked_as == "responder"
    form, column = _REPLIES["choose" if alone else "judge"]
    rows = []
    for record, item in zip(records, items, strict=True):
        shared = {
            "judge": name,
            "benchmark": item.benchmark,
            "category": item.category,
            "item_id": item.item_id,
            "protocol": "think_twice",
            "role": asked_as,
            "responder": name if alone else None,
            "replication": 0,
            "gold": item.gold,
        }
        if alone and _SELECTED in record.fields:
            rows.append({**shared, "stage": "select", **_selected(record, item)})
        answer = (
            _reading(record.text(column), item, form) if reread else _recorded_answer(record, item)
        )
        rows.append({**shared, "stage": "choose" if alone else "judge", **answer})
    return pl.DataFrame(rows, schema=_SCHEMA)


def _selected(record: Record, item: Item) -> dict[str, object]:
    """Which options were selected, or why that cannot be read."""
    menu = replace(_menu(item, "options"), most=_SELECTED_MOST)
    found = read_selection(record.text(_SELECTED), finish_reason="stop", menu=menu)
    return {
        "verdict": None,
        "label": ",".join(found.labels) or None,
        "confidence": None,
        "outcome": found.outcome,
    }


def _reading(text: str, item: Item, form: str) -> dict[str, object]:
    """What a reply says, by our own readers."""
    found = read_verdict(text, finish_reason="stop", menu=_menu(item, form))
    confidence = read_confidence(text, finish_reason="stop", form=form)
    return {
        "verdict": found.label,  # options are named by their numbers
        "label": found.label,
        "confidence": confidence if found.outcome is Outcome.SCORED else None,
        "outcome": found.outcome,
    }


def _menu(item: Item, form: str) -> Menu:
    """The numbers of an item's options."""
    numbers = tuple(option.option_id for option in item.options)
    return Menu(labels=numbers, option_ids=numbers, form=form)


def _recorded_answer(record: Record, item: Item) -> dict[str, object]:
    """What was chosen, and how surely."""
    number = _number(record, "selected_option")
    if number is None:
        return {"verdict": None, "label": None, "confidence": None, "outcome": Outcome.UNPARSED}
    if number != math.floor(number) or number < 0:
        raise record.wrong(f"selected_option must be an option's number, got {number:g}")
    confidence = _number(record, "confidence")
    if confidence is not None and not 0 <= confidence <= 1:
        raise record.wrong(f"confidence must be between 0 and 1, got {confidence:g}")
    label = str(int(number))
    offered = label in {option.option_id for option in item.options}
    return {
        "verdict": label if offered else None,
        "label": label,
        "confidence": confidence if offered else None,
        "outcome": Outcome.SCORED if offered else Outcome.OFF_MENU,
    }


def _number(record: Record, name: str) -> float | None:
    """A number as a number or in digits; None for null, nothing or NaN."""
    value = record.fields[name]
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = float(value)
        except ValueError:
            raise record.wrong(f"{name} must be a number, got {name_kind(value)}") from None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isinf(value):
        raise record.wrong(f"{name} must be a number, got {name_kind(value)}")
    return float(value)


def _role(record: Record, path: str, role: str | None) -> str:
    """What the file's model was asked as, by its columns, its name and what was stated."""
    if role is not None and role not in ROLES:
        raise SweepError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
    judged = "judge_response" in record.fields
    alone = "second_response" in record.fields
    if judged == alone:
        raise record.wrong(
            "expected a column second_response (a model alone) or judge_response (a judge), got "
            + ("both" if judged else "neither")
        )
    if alone:
        found: str | None = "responder"
    elif any(name.startswith("judge_original_") for name in record.fields):
        found = "participant"
    else:
        # Only judges that saw their own answer have columns of it; a cut file may lack them.
        found = _role_and_model(path)[0] or role
    if found is None or (judged and found == "responder"):
        raise SweepError(
            "neither columns nor name say whether the judge's own answer was shown to it",
            where={"file": path},
            hint="--role participant or --role evaluator_only",
        )
    if role is not None and role != found:
        raise SweepError(
            f"the role is {found} by the file's columns and name, got {role!r}",
            where={"file": path},
        )
    return found


def _judge(path: str) -> str:
    """The model's name, by the file's."""
    name = _role_and_model(path)[1]
    if not name:
        raise SweepError(
            "the file's name does not say whose answers it holds, expected "
            f"{', '.join(f'{one}_<model>' for one in _NAMED)}",
            where={"file": path},
            hint="--judge NAME",
        )
    provider = _PROVIDER.fullmatch(name)
    return provider[2] if provider else name


def _role_and_model(path: str) -> tuple[str | None, str | None]:
    """Role and model, as far as a file's name says."""
    stem = PurePosixPath(path).stem
    for start, role in _NAMED.items():
        if stem.startswith(f"{start}_"):
            return role, stem.removeprefix(f"{start}_")
    return None, None
