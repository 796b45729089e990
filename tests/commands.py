"""spaCy's command line, run inside the test."""

from pathlib import Path

from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_nested_ner.cli  # noqa: F401 - what spaCy does through the entry point

ROOT = Path(__file__).parent.parent


def run(*arguments):
    """`spacy nested-ner …`"""
    return CliRunner().invoke(app, ["nested-ner", *map(str, arguments)])
