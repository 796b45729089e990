"""The project workflow in a copy of its own, with few steps."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command, cwd):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    arguments = [sys.executable, "-m", "spacy", *map(str, command)]
    result = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


def test_the_whole_workflow(tmp_path):
    for name in ("assets", "configs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    text = (ROOT / "project.yml").read_text(encoding="utf-8")
    few = text.replace("max_steps: 400", "max_steps: 20").replace("eval_frequency: 100", "eval_frequency: 10")
    assert few != text
    (tmp_path / "project.yml").write_text(few, encoding="utf-8")
    run("project", "run", "all", cwd=tmp_path)
    for made in (
        "corpus/sample/test.spacy",
        "training/sample/model-best/meta.json",
        "metrics/sample/test.json",
        "metrics/sample/coverage.json",
        "reports/sample/report.html",
        "packages/en_nested_ner_sample-0.1.0/dist/en_nested_ner_sample-0.1.0.tar.gz",
    ):
        assert (tmp_path / made).exists(), made
    # Nothing runs again without need.
    assert "Skipping" in run("project", "run", "all", cwd=tmp_path)
    shown = run("nested-ner", "show", "training/sample/model-best", "corpus/sample/test.spacy", "-n", "2", cwd=tmp_path)
    assert len(shown.strip().splitlines()) >= 2


def test_the_readme_describes_the_project(tmp_path):
    """`spacy project document` would write what stands there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shutil.copy(ROOT / "project.yml", tmp_path)
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    run("project", "document", "-o", "README.md", cwd=tmp_path)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == readme
