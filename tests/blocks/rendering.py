"""Blocks as HTML, without a page around them."""

from __future__ import annotations

from judgerel_ray.blocks.html import _environment


def rendered(blocks) -> str:
    """Render blocks alone."""
    return str(_environment().get_template("blocks/blocks.html").module.render(blocks)).strip()
