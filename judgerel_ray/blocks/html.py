"""Blocks as HTML: Jinja2 escapes every text, and figures are static drawings."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from judgerel_ray.blocks.charts import chart, not_drawn, sample
from judgerel_ray.core import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgerel_ray.blocks.blocks import Block

_NO_BREAK = "\u00a0"


def rendered_page(template: str, *, script: str, **values: object) -> str:
    """Fill a template of the package, which renders blocks by the macros of ``blocks.html``."""
    text = files("judgerel_ray").joinpath(script).read_text("utf-8")
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return (
        _html_template_environment()
        .get_template(template)
        .render(script=text, digest=digest, **values)
    )


def rendered_blocks(blocks: Sequence[Block]) -> str:
    """Write blocks as they stand on a page, for a place that has a style of its own."""
    macros = _html_template_environment().get_template("blocks/blocks.html").module
    return str(macros.render(blocks))  # type: ignore[attr-defined]


@cache
def _html_template_environment() -> Environment:
    """Templates of the package, with all that they call."""
    made = Environment(
        loader=PackageLoader("judgerel_ray", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless_html_text,
    )
    made.globals |= {
        "kind_of": lambda block: type(block).__name__,
        "chart_of": lambda figure: None if not_drawn() else chart(figure),
        "figures_drawn": lambda: not_drawn() is None,
        "sample": sample,
    }
    return made


def _harmless_html_text(value: object) -> object:
    """A text without what acts on a page; a number and its percent sign stay on one line."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value, lines=True).replace(" %", f"{_NO_BREAK}%")
