"""A small trained pipeline that comes with the package, for first steps, examples and tests."""

from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

SAMPLE_PATH = Path(__file__).parent / "pipeline"


def load_sample(**options: Any) -> Language:
    """Load the sample pipeline. It needs no network.

    It was trained on the few hundred invented news sentences in assets/sample, by `make train`, and finds people,
    organizations, places, facilities, vehicles and weapons in English. Train your own for real work.

    options (Any): As for `spacy.load`, such as `config` or `disable`.
    RETURNS (Language): The pipeline.
    """
    return spacy.load(SAMPLE_PATH, **options)
