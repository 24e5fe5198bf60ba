"""Blocks as HTML, without a page around them."""

from __future__ import annotations

from judgerel_ray.blocks.html import _html_template_environment


def rendered(blocks) -> str:
    """Render blocks alone."""
    return str(
        _html_template_environment().get_template("blocks/blocks.html").module.render(blocks)
    ).strip()
