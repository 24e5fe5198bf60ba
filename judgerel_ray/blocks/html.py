"""Blocks as HTML: Jinja2 escapes every text, and figures are static drawings."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judgerel_ray.blocks.blocks import Figure
from judgerel_ray.core import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgerel_ray.blocks.blocks import Block
    from judgerel_ray.blocks.charts import Chart

_NO_BREAK = "\u00a0"


def rendered_page(template: str, *, script: str, **values: object) -> str:
    """Fill a template of the package, which renders blocks by the macros of ``blocks.html``."""
    text = files("judgerel_ray").joinpath(script).read_text("utf-8")
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return _environment().get_template(template).render(script=text, digest=digest, **values)


def rendered_blocks(blocks: Sequence[Block]) -> str:
    """Write blocks as they stand on a page, for a place that has a style of its own."""
    macros = _environment().get_template("blocks/blocks.html").module
    return str(macros.render(blocks))  # type: ignore[attr-defined]


@cache
def _environment() -> Environment:
    """Templates of the package, with all that they call."""
    made = Environment(
        loader=PackageLoader("judgerel_ray", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    made.globals |= {"kind_of": lambda block: type(block).__name__, "chart_of": _chart}
    made.globals |= {"sample": _sample, "figures_drawn": _drawn}
    return made


def _harmless(value: object) -> object:
    """A text without what acts on a page; a number and its percent sign stay on one line."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, lines=True).replace(" %", f"{_NO_BREAK}%")


def _chart(figure: Figure) -> Chart | None:
    """Draw a figure, where it can be; Altair is imported where there is one."""
    from judgerel_ray.blocks.charts import chart, not_drawn

    return None if not_drawn() else chart(figure)


def _drawn() -> bool:
    """Whether figures can be drawn here."""
    from judgerel_ray.blocks.charts import not_drawn

    return not_drawn() is None


def _sample(style: str) -> Markup:
    """A small sample of a style, for a legend."""
    from judgerel_ray.blocks.charts import sample

    return sample(style)
