"""Training configs: the templates that come with the package, and what fits a corpus."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from .plan import ConfigPlan, init_config
    from .template import TEMPLATES, read_template

_MODULES = {
    "plan": ("ConfigPlan", "init_config"),
    "template": ("TEMPLATES", "read_template"),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _MODULES)
