"""A tiny run and a tiny table to try the package on; their judges are simulated.

``run`` is a run directory, made by ``judgerel run sweep.toml --out run`` with judges that draw
their replies from stated distributions: no model is behind them. ``judgments.csv`` holds the
verdicts drawn at temperature 1. `python -m demo.write_example` makes both anew. `labels.csv` says
the right option of each item, as `gold` of `items.jsonl` does; `series.toml` refreshes
`anchors.toml`.
"""

from pathlib import Path
from typing import Literal, get_args

from judgerel_ray.core.errors import SweepError

Example = Literal["run", "sweep.toml", "items.jsonl", "judgments.csv", "labels.csv", "series.toml"]


def example(name: Example) -> str:
    """Find what is shipped to try the package on; its judges are simulated, not models.

    Parameters
    ----------
    name : {"run", "sweep.toml", "items.jsonl", "judgments.csv", "labels.csv", "series.toml"}
        A run directory; the sweep that it is of; that sweep's items; verdicts of the run as a table
        of judge, item_id, replication, verdict and gold; the right option of each item; a series.

    Returns
    -------
    str
        Its path; to be read, not written.

    Raises
    ------
    SweepError
        If there is no such example.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(example("judgments.csv")).read_text().splitlines()[:2]
    ['judge,item_id,replication,verdict,gold', 'simulated-erratic,q1,0,b,b']
    """
    if name not in get_args(Example):
        raise SweepError(f"the example must be one of {', '.join(get_args(Example))}, got {name!r}")
    return str(Path(__file__).with_name(name))
