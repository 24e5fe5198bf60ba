"""Names that a package and one of its modules share: the package's own wins."""

from __future__ import annotations

from types import ModuleType


class NamesFirst(ModuleType):
    """A package whose public names stay what they are when a module of the same name is imported.

    Python binds every imported submodule to its parent: without this, ``judgerel_ray.reduce``
    would be the function or the room, depending on what was imported before.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__dict__.get("__all__", ())):
            super().__setattr__(name, value)
