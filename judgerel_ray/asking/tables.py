"""What each key of ``plan``, ``status`` and ``replay`` with ``--json`` means."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns

COLUMNS: Columns = {
    "plan": {
        "": {
            "sweep": "Name of the sweep.",
            "requests": "Requests that are made whatever is answered.",
            "requests_at_most": "Requests with all that adaptive replication may add.",
            "disk_bytes": "Bytes that the run directory should take.",
            "notes": "What to know before it is run, a line each.",
            "resolved": "The sweep with every default filled in.",
        },
        "stages": {
            "ask": "Place of the ask in the sweep, from 0.",
            "judge": "Name of the judge, or of the model that answers.",
            "role": "judge; responder and others where a model writes what is judged.",
            "stage": "Round of the protocol.",
            "wave": "Place of the round, from 0: a wave needs the replies of those before.",
            "items": "Items asked about.",
            "conditions": "Different prompts and settings.",
            "requests": "Requests that are made whatever is answered.",
            "requests_at_most": "Requests with all that adaptive replication may add.",
        },
        "judges": {
            "judge": "Name of the judge.",
            "requests": "Requests that are made whatever is answered.",
            "requests_at_most": (
                "Requests with all that adaptive replication may add; tokens, hours and disk are "
                "of these."
            ),
            "prompt": "Prompt tokens, as if each prompt were computed alone.",
            "shared": "Prompt tokens where every prompt is computed once.",
            "generated_at_most": "Tokens that may be written, by max_tokens.",
            "tokens_are": "How tokens were counted.",
            "gpu_hours": (
                "Hours of GPU time; null where none is needed, or the model's size is not known."
            ),
            "node_types": (
                "With --cluster, how many nodes of which type one engine takes; empty without GPUs."
            ),
        },
    },
    "status": {
        "": {
            "run": "Address of the run directory.",
            "sweep": "Name of the sweep.",
            "session": "Number of the last session, from 1; 0 where none has begun.",
            "state": "running, done or incomplete.",
            "live": "Who is at work; null where nobody is.",
            "asked": "Requests that are asked; null where no plan says it.",
            "landed": "Replies that have landed.",
            "owed": "Requests that are pending; null where no plan says it.",
            "failed": "Requests that failed and are recorded.",
            "outcomes": "Replies by what became of them.",
            "tokens": (
                "Tokens of prompts (prompt), of them served by the cache (cached), computed and "
                "generated."
            ),
            "cost": "Money of what landed; null without prices.",
            "broken_commits": "Records of commits that cannot be read.",
            "notes": "What is not known, and why, a line each.",
        },
        "judges": {
            "judge": "Name of the judge.",
            "asked": "Requests that are asked of it; null where no plan says it.",
            "landed": "Replies that have landed.",
            "owed": "Requests that are pending; null where no plan says it.",
            "failed": "Requests that failed and are recorded.",
            "outcomes": "Replies by what became of them.",
            "thoughts": "Replies that came with a thought, whole or cut off inside it.",
            "tokens": "Tokens, as for the run.",
            "busy_seconds": "Seconds that its engines worked, summed over them.",
            "requests_per_s": (
                "Requests landed a second, of late while it runs, else on average; null where no "
                "engine has worked."
            ),
            "tokens_per_s": "Tokens written a second, as requests_per_s.",
            "seconds_left": "Seconds that it should take; null where that is not known.",
            "state": "running, done, incomplete, waiting or failed.",
            "error": "What went wrong with it last; null where nothing did.",
            "cost": "Money of what landed; null without prices.",
        },
    },
    "replay": {
        "": {
            "n": "Requests asked again.",
            "n_differing": "Those whose reply differs.",
            "share": "Share of them (0 to 1).",
            "low": (
                "Lower end of the exact 95 % interval of that share of all landed requests; null "
                "where one request was named."
            ),
            "high": (
                "Upper end of the exact 95 % interval of that share of all landed requests; null "
                "where one request was named."
            ),
        },
        "rows": {
            "key": "Key of the request.",
            "judge": "Name of the judge.",
            "item_id": "The question.",
            "temperature": "Sampling temperature; 0 is greedy.",
            "replication": "Which replication it is, from 0.",
            "same": "Whether text and number of tokens came out the same.",
            "first_difference": "First character that differs, from 0; null where none does.",
            "landed_tokens": "Tokens of the reply that landed; null where a server does not say.",
            "replayed_tokens": "Tokens of the reply now; null where a server does not say.",
            "landed_text": "The reply that landed.",
            "replayed_text": "The reply now.",
        },
    },
}
