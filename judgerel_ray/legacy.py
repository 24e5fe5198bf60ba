"""Deprecated name of :mod:`judgerel_ray.papers`."""

import warnings

from judgerel_ray.core.rooms import offer
from judgerel_ray.papers import *  # noqa: F403

offer(__name__)

warnings.warn(
    "judgerel_ray.legacy is deprecated: import the same names from judgerel_ray.papers",
    DeprecationWarning,
    stacklevel=2,
)
