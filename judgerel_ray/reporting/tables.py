"""What ``refresh --json`` holds."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, Json, List, Schema, SchemasByVerb, String


class RefreshAnswer(Schema):
    """What stands beside the tables."""

    state = String(
        "done; unchanged (nothing was due); partial (closed with requests pending); pending (run "
        "it again); held (another refresh holds the series, and all below is left out)."
    )
    line = String("The same in a line.")
    alarm = Bool("Whether any judge is called drifted.")
    series = String("Name of the series.")
    level = Float64("Chance of a false alarm that is allowed of a judge, over all refreshes.")
    level_of_any = Float64(
        "At most that of any of the judges: their number times the level, and level / m more for "
        "each set of anchors that was added later, so that its judge had m."
    )
    since = Int64("Refresh from which on drift counts; later ones are held against it.")
    warnings = List(String(), "What weakens the newest refresh, a line each.")


class AnchorDrift(Schema):
    """One row per sweep of anchors and judge."""

    sweep = String("The sweep of anchors.")
    judge = String("Name of the judge.")
    p = Float64(
        "p-value of the newest refresh: small where its verdicts on anchors changed; null where it "
        "is held against nothing."
    )
    evidence = Float64(
        "Evidence for drift now: how much likelier a change is than none, 1 at the start."
    )
    is_drawn = Bool(
        "Whether all verdicts that p is of are alike, so that it is drawn at random: it keeps the "
        "level, raises no alarm and hints at nothing."
    )
    level = Float64(
        "What these anchors may err with from now on: the level, shared among a judge's sets."
    )
    highest_evidence = Float64(
        "The most that it ever was; there is alarm from 1 / level on, by the level of that "
        "refresh, where p is not drawn."
    )
    alarm = Bool("Whether it is called drifted.")
    since = Int64("Refresh at which it was first; null where it is not.")
    refreshes = Int64("Refreshes that count.")


class RefreshHistory(Schema):
    """One row per refresh."""

    refresh = Int64("Number of the refresh.")
    started_at = String("When it began.")
    state = String("How it ended: done, partial or pending.")
    sweeps = List(String(), "Names of the sweeps that it asked.")
    pending = Int64("Requests that were left pending; null where it was not measured.")
    causes = Json(
        "What moved, by sweep and judge: judge, system, asked_otherwise (no answer changed, the "
        "judge or its settings did), both, neither or undecided."
    )
    changes = Json("What changed behind a judge's name, by sweep and judge.")


TABLES: SchemasByVerb = {
    "refresh": {"": RefreshAnswer, "judges": AnchorDrift, "refreshes": RefreshHistory},
}
