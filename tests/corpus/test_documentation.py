"""What the pages about corpora and commands say is what happens."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from commands import ROOT, run

BLOCK = re.compile(r"^```(\S+)(?: (output|title=(\S+)))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name, n_commands", [("docs/formats.md", 8), ("docs/commands.md", 5), ("assets/README.md", 1)])
def test_the_examples_run(tmp_path, monkeypatch, name, n_commands):
    """Blocks with a title are files: written if they are not there, compared if a command made them."""
    if name == "docs/commands.md":  # `analyze` lists the plots it made
        pytest.importorskip("matplotlib")
    page = ROOT / name
    shutil.copytree(ROOT / "assets", tmp_path / "assets")
    monkeypatch.chdir(tmp_path)
    output = ""
    for language, kind, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(text, str(page), "exec"), {})
        elif language == "bash":
            result = run(*shlex.split(text)[4:])
            assert result.exit_code == 0, result.output
            output = result.output
            n_commands -= 1
        elif kind == "output":
            assert output == text
        elif title and Path(title).exists():
            assert Path(title).read_text(encoding="utf-8") == text
        elif title:
            Path(title).parent.mkdir(exist_ok=True)
            Path(title).write_text(text, encoding="utf-8")
    assert n_commands == 0
