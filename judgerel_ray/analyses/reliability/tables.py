"""What ``reduce``, ``questions`` and ``serving`` print."""

from __future__ import annotations

from judgerel_ray.core.schema import Float64, SchemasByVerb, String
from judgerel_ray.measuring.tables import Coefficients, Questions


class Tolerated(Coefficients):
    """Coefficients, held against tolerances where any is set."""

    tolerance = Float64(
        "Least value allowed (of flip_rate the most), null where none is set; the column is there "
        "where any tolerance is."
    )
    standing = String(
        "meets or fails where the whole confidence interval does, else undecided; null without a "
        "tolerance."
    )


TABLES: SchemasByVerb = {
    "reduce": {"": Tolerated},
    "questions": {"": Questions},
    "serving": {"": Tolerated},
}
