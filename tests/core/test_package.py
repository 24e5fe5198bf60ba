"""A public function is never hidden by a room of its name, whatever was imported before."""

from __future__ import annotations

from pathlib import Path

import judgerel_ray


def test_no_room_has_the_name_of_a_public_function():
    """Python binds every imported submodule to its parent, over what was there."""
    rooms = {path.stem for path in Path(judgerel_ray.__file__).parent.iterdir()}
    assert len(rooms) > 10
    assert not rooms & set(judgerel_ray.__all__)
