"""The dynamic programs, in Cython and C. README.md is the map."""

from importlib.util import find_spec
from pathlib import Path

# In a clone, Python started at its top finds this folder before an installed package.
if find_spec(f"{__name__}.engine") is None:
    raise ImportError(
        f"spacy_nested_ner is imported from {Path(__file__).parents[3]}, where its kernels are not compiled for this "
        f"Python: run `pip install --editable .` in that folder, or start Python in another one."
    )
