"""What a text of a template has to fill in."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
"""``{name}`` is filled (group 2); ``{{name}}`` stands for the text ``{name}`` (group 1)."""
