"""Names of a package that load their module when they are asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """What a package assigns to `__getattr__`, `__dir__` and `__all__`.

    package (str): Its `__name__`.
    modules (Mapping[str, tuple[str, ...]]): Names by the module below the package that has them.
    """
    home = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home[name]), name)

    return get, lambda: sorted(home), sorted(home)
