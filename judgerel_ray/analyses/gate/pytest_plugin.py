"""A fixture for pytest: a test passes where a judge meets its requirements.

Installed with the package. Nothing is loaded before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from judgerel_ray.analyses.gate.from_run import Gated


@pytest.fixture
def judgerel_gate() -> Callable[..., Gated]:
    """Give a function that judges judgments, and fails the test where they do not pass.

    It takes what :func:`judgerel_ray.gate` takes; with ``inconclusive="skip"`` a test that is open
    is skipped, and does not fail.
    """

    def judged(path: object, *, inconclusive: str = "fail", **asked: Any) -> Gated:
        from judgerel_ray.analyses.gate.verb import gate

        if inconclusive not in ("fail", "skip"):
            raise ValueError(f"inconclusive must be fail or skip, got {inconclusive!r}")
        found: Gated = gate(path, **asked)  # type: ignore[arg-type]
        if found.verdict == "INCONCLUSIVE" and inconclusive == "skip":
            pytest.skip(found.as_text())
        if found.verdict != "PASS":
            pytest.fail(found.as_text(), pytrace=False)
        return found

    return judged
