"""What each key of ``refresh --json`` means."""

from __future__ import annotations

from judgerel_ray.core.meanings import Columns

COLUMNS: Columns = {
    "refresh": {
        "": {
            "state": (
                "done; unchanged (nothing was due); partial (closed with requests pending); "
                "pending (run it again); held (another refresh holds the series, and all below "
                "is left out)."
            ),
            "line": "The same in a line.",
            "alarm": "Whether any judge is called drifted.",
            "series": "Name of the series.",
            "level": "Chance of a false alarm that is allowed of a judge, over all refreshes.",
            "level_of_any": (
                "At most that of any of the judges: their number times the level, and level / m "
                "more for each set of anchors that was added later, so that its judge had m."
            ),
            "since": "Refresh from which on drift counts; later ones are held against it.",
            "warnings": "What weakens the newest refresh, a line each.",
        },
        "judges": {
            "sweep": "The sweep of anchors.",
            "judge": "Name of the judge.",
            "p": (
                "p-value of the newest refresh: small where its verdicts on anchors changed; "
                "null where it is held against nothing."
            ),
            "is_drawn": (
                "Whether all verdicts that p is of are alike, so that it is drawn at random: it "
                "keeps the level, raises no alarm and hints at nothing."
            ),
            "evidence": (
                "Evidence for drift now: how much likelier a change is than none, 1 at the start."
            ),
            "level": (
                "What these anchors may err with from now on: the level, shared among a judge's "
                "sets."
            ),
            "highest_evidence": (
                "The most that it ever was; there is alarm from 1 / level on, by the level of "
                "that refresh, where p is not drawn."
            ),
            "alarm": "Whether it is called drifted.",
            "since": "Refresh at which it was first; null where it is not.",
            "refreshes": "Refreshes that count.",
        },
        "refreshes": {
            "refresh": "Number of the refresh.",
            "started_at": "When it began.",
            "state": "How it ended: done, partial or pending.",
            "sweeps": "Names of the sweeps that it asked.",
            "pending": "Requests that were left pending; null where it was not measured.",
            "causes": (
                "What moved, by sweep and judge: judge, system, asked_otherwise (no answer "
                "changed, the judge or its settings did), both, neither or undecided."
            ),
            "changes": "What changed behind a judge's name, by sweep and judge.",
        },
    },
}
