"""What ``plan``, ``status`` and ``replay`` hold with ``--json``."""

from __future__ import annotations

from judgerel_ray.core.schema import (
    Bool,
    Float64,
    Int32,
    Int64,
    Json,
    List,
    Schema,
    SchemasByVerb,
    String,
)


class PlanAnswer(Schema):
    """What stands beside the tables."""

    sweep = String("Name of the sweep.")
    requests = Int64("Requests that are made whatever is answered.")
    requests_at_most = Int64("Requests with all that adaptive replication may add.")
    disk_bytes = Int64("Bytes that the run directory should take.")
    notes = List(String(), "What to know before it is run, a line each.")
    resolved = Json("The sweep with every default filled in.")


class PlannedStages(Schema):
    """One row per ask, stage and judge: items, conditions, requests."""

    ask = Int64("Place of the ask in the sweep, from 0.")
    judge = String("Name of the judge, or of the model that answers.")
    role = String("judge; responder and others where a model writes what is judged.")
    stage = String("Round of the protocol.")
    wave = Int64("Place of the round, from 0: a wave needs the replies of those before.")
    items = Int64("Items asked about.")
    conditions = Int64("Different prompts and settings.")
    requests = Int64("Requests that are made whatever is answered.")
    requests_at_most = Int64("Requests with all that adaptive replication may add.")


class PlannedJudges(Schema):
    """One row per judge: requests, tokens, hours of GPU time."""

    judge = String("Name of the judge.")
    requests = Int64("Requests that are made whatever is answered.")
    requests_at_most = Int64(
        "Requests with all that adaptive replication may add; tokens, hours and disk are of these."
    )
    prompt = Int64("Prompt tokens, as if each prompt were computed alone.")
    shared = Int64("Prompt tokens where every prompt is computed once.")
    generated_at_most = Int64("Tokens that may be written, by max_tokens.")
    tokens_are = String("How tokens were counted.")
    gpu_hours = Float64(
        "Hours of GPU time; null where none is needed, or the model's size is not known."
    )
    cost = Float64("Money at most, by the judge's prices; null without any.")
    node_types = Json(
        "With --cluster, how many nodes of which type one engine takes; empty without GPUs."
    )


class PlannedAnswers(Schema):
    """One row per ask and question: whether the sweep can answer it, and what that would cost."""

    ask = Int64("Place of the ask in the sweep, from 0.")
    question = String("What is to be known: repeatability, position bias, ...")
    is_known = Bool("Whether what is asked can show it.")
    because = String("Why it can, or cannot.")
    change = String("What to change where it cannot.")
    requests = Int64("Requests that this change alone adds.")


class StatusAnswer(Schema):
    """A run as a whole."""

    run = String("Address of the run directory.")
    sweep = String("Name of the sweep.")
    session = Int64("Number of the last session, from 1; 0 where none has begun.")
    state = String("running, done or incomplete.")
    live = String("Who is at work; null where nobody is.")
    asked = Int64("Requests that are asked; null where no plan says it.")
    landed = Int64("Replies that have landed.")
    owed = Int64("Requests that are pending; null where no plan says it.")
    failed = Int64("Requests that failed and are recorded.")
    outcomes = Json("Replies by what became of them.")
    tokens = Json(
        "Tokens of prompts (prompt), of them served by the cache (cached), computed and generated."
    )
    cost = Float64("Money of what landed; null without prices.")
    broken_commits = List(String(), "Records of commits that cannot be read.")
    notes = List(String(), "What is not known, and why, a line each.")


class StatusByJudge(Schema):
    """One row per judge: requests asked, landed, pending and failed, outcomes, tokens, pace."""

    judge = String("Name of the judge.")
    asked = Int64("Requests that are asked of it; null where no plan says it.")
    landed = Int64("Replies that have landed.")
    owed = Int64("Requests that are pending; null where no plan says it.")
    failed = Int64("Requests that failed and are recorded.")
    outcomes = Json("Replies by what became of them.")
    thoughts = Json("Replies that came with a thought, whole or cut off inside it.")
    tokens = Json("Tokens, as for the run.")
    busy_seconds = Float64("Seconds that its engines worked, summed over them.")
    requests_per_s = Float64(
        "Requests landed a second, of late while it runs, else on average; null where no engine "
        "has worked."
    )
    tokens_per_s = Float64("Tokens written a second, as requests_per_s.")
    seconds_left = Float64("Seconds that it should take; null where that is not known.")
    state = String("running, done, incomplete, waiting or failed.")
    error = String("What went wrong with it last; null where nothing did.")
    cost = Float64("Money of what landed; null without prices.")


class ReplayAnswer(Schema):
    """What stands beside the requests."""

    n = Int64("Requests asked again.")
    n_differing = Int64("Those whose reply differs.")
    share = Float64("Share of them (0 to 1).")
    low = Float64(
        "Lower end of the exact 95 % interval of that share of all landed requests; null where one "
        "request was named."
    )
    high = Float64(
        "Upper end of the exact 95 % interval of that share of all landed requests; null where one "
        "request was named."
    )


class ReplayedRequests(Schema):
    """One row per request: what landed, and what came back now."""

    key = String("Key of the request.")
    judge = String("Name of the judge.")
    item_id = String("The question.")
    temperature = Float64("Sampling temperature; 0 is greedy.")
    replication = Int32("Which replication it is, from 0.")
    same = Bool("Whether text and number of tokens came out the same.")
    first_difference = Int64("First character that differs, from 0; null where none does.")
    landed_tokens = Int32("Tokens of the reply that landed; null where a server does not say.")
    replayed_tokens = Int32("Tokens of the reply now; null where a server does not say.")
    landed_text = String("The reply that landed.")
    replayed_text = String("The reply now.")


TABLES: SchemasByVerb = {
    "plan": {
        "": PlanAnswer,
        "stages": PlannedStages,
        "judges": PlannedJudges,
        "answers": PlannedAnswers,
    },
    "status": {"": StatusAnswer, "judges": StatusByJudge},
    "replay": {"": ReplayAnswer, "rows": ReplayedRequests},
}
