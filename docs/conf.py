"""How Sphinx builds the documentation: ``make docs``, offline, warnings are errors."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.util import logging

import judgerel_ray.stats

project = "judgerel_ray"
author = "the authors of judgerel_ray"
version = release = judgerel_ray.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["data", "decisions/000-template.md"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # numpydoc sections say the types, with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
html_theme = "furo"
html_title = "judgerel_ray"
html_copy_source = html_show_sourcelink = False
html_math_renderer = "mathml"  # what browsers draw by themselves; MathJax would be fetched

for _name in judgerel_ray.stats.__all__:  # loaded when first asked for; autodoc looks, and asks not
    getattr(judgerel_ray.stats, _name)


def _mathml(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML."""
    block = isinstance(node, nodes.math_block)
    text = node.astext().replace(r"\Big", "")  # MathML sizes brackets by itself
    try:
        written = latex2mathml.tex2mathml(text, as_block=block)
    except latex2mathml.MathError as error:
        logging.getLogger("math").warning("%s", error, location=node)
        written = f"<code>{html.escape(text)}</code>"
    translator.body.append(f"<div>{written}</div>" if block else written)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
    if not Path(app.srcdir, "generated").is_dir():
        raise SystemExit("docs/generated is not there. Try: make docs")
