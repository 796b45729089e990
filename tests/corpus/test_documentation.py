"""What docs/formats.md says is what happens."""

import re
import shlex
from pathlib import Path

from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_nested_ner.cli  # noqa: F401 - what spaCy does through the entry point

PAGE = Path(__file__).parent.parent.parent / "docs" / "formats.md"
BLOCK = re.compile(r"^```(\S+)(?: (output|title=(\S+)))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples_run(tmp_path, monkeypatch):
    """Blocks with a title are files: written if they are not there, compared if a command made them."""
    monkeypatch.chdir(tmp_path)
    output = ""
    n_commands = 0
    for language, kind, title, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(text, str(PAGE), "exec"), {})
        elif language == "bash":
            result = CliRunner().invoke(app, shlex.split(text)[3:])
            assert result.exit_code == 0, result.output
            output = result.output
            n_commands += 1
        elif kind == "output":
            assert output == text
        elif title and Path(title).exists():
            assert Path(title).read_text(encoding="utf-8") == text
        elif title:
            Path(title).parent.mkdir(exist_ok=True)
            Path(title).write_text(text, encoding="utf-8")
    assert n_commands == 8
