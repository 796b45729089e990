"""The project workflow, run in a copy with few training steps."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import srsly
from commands import ROOT, parse_spacy
from weasel.util import substitute_project_variables

PROJECT = substitute_project_variables(srsly.read_yaml(ROOT / "project.yml"))
COMMANDS = {command["name"]: command for command in PROJECT["commands"]}


def run(*command, cwd):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    arguments = [sys.executable, "-m", "spacy", *map(str, command)]
    result = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


@pytest.mark.slow
def test_the_whole_workflow(tmp_path):
    for name in ("assets", "configs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    text = (ROOT / "project.yml").read_text(encoding="utf-8")
    few = text.replace("max_steps: 600", "max_steps: 20").replace("eval_frequency: 100", "eval_frequency: 10")
    assert few != text
    (tmp_path / "project.yml").write_text(few, encoding="utf-8")
    run("project", "run", "all", cwd=tmp_path)
    for made in (
        "corpus/sample/test.spacy",
        "training/sample/calibrated/meta.json",
        "metrics/sample/test.json",
        "metrics/sample/coverage.json",
        "reports/sample/report.html",
        "packages/en_nested_ner_sample-0.1.0/dist/en_nested_ner_sample-0.1.0.tar.gz",
    ):
        assert (tmp_path / made).exists(), made
    # Only what depends on a change runs again.
    assert run("project", "run", "all", cwd=tmp_path).count("Skipping") == len(PROJECT["workflows"]["all"])
    with (tmp_path / "assets" / "sample" / "test.txt").open("a", encoding="utf-8") as file:
        file.write("\n[PER The last one] left .\n")
    again = run("project", "run", "all", cwd=tmp_path)
    skipped = [name for name in COMMANDS if f"Skipping '{name}'" in again]
    assert skipped == ["analyze", "train-model", "calibrate", "package"]
    shown = run("nested-ner", "show", "training/sample/calibrated", "corpus/sample/test.spacy", "-n", "2", cwd=tmp_path)
    assert len(shown.strip().splitlines()) >= 2


@pytest.mark.parametrize("workflow", PROJECT["workflows"])
def test_every_command_has_its_files_and_options(workflow, tmp_path, monkeypatch):
    """The files that commands read exist before they run, and so do the options they use."""
    for name in ("assets", "configs", "benchmarks", "docs", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for name in PROJECT["directories"]:
        Path(name).mkdir(parents=True, exist_ok=True)
    assets = [asset["dest"] for asset in PROJECT["assets"]]
    commands = [COMMANDS[name] for name in PROJECT["workflows"][workflow]]
    # If another workflow makes a file, the help names the command.
    announced = [made for name, other in COMMANDS.items() for made in other["outputs"] if f"`{name}`" in str(commands)]
    for command in commands:
        for needed in command["deps"]:
            fetched = needed.startswith(tuple(assets))
            assert Path(needed).exists() or fetched or needed in announced, f"{command['name']} needs {needed}"
            touch(needed)
        for line in command["script"]:
            program, *arguments = shlex.split(line)
            assert program == "python"
            if arguments[0] == "-m":
                assert arguments[1] == "spacy"
                parse_spacy(*arguments[2:])
                # Commands of nested-ner make the folder they write to; `spacy evaluate` does not.
                written = arguments[arguments.index("-o") + 1] if "evaluate" in arguments else "."
                assert Path(written).parent.is_dir(), f"{command['name']}: no folder for {written}"
            else:
                assert Path(arguments[0]).exists()
            for path in arguments:
                known = (*command["deps"], *command["outputs"])
                is_input = path.startswith(("assets/", "configs/", "corpus/"))
                assert not is_input or any(f"{each}/".startswith(f"{path}/") for each in known), (
                    f"{path} is no dependency"
                )
        for made in command["outputs"]:
            touch(made)


def touch(path):
    """An empty file, or a folder if its name has no suffix."""
    if Path(path).suffix:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    else:
        Path(path).mkdir(parents=True, exist_ok=True)


def test_nothing_has_to_be_fetched_for_the_sample_corpus():
    """Without a network, `spacy project assets` succeeds: all assets are extra."""
    assert all(asset["extra"] for asset in PROJECT["assets"])


@pytest.mark.slow
def test_a_page_describes_the_project(tmp_path):
    """It is what `spacy project document` would write, but for the link, which is for a page at the top."""
    page = (ROOT / "docs" / "project.md").read_text(encoding="utf-8")
    shutil.copy(ROOT / "project.yml", tmp_path)
    (tmp_path / "project.md").write_text(page, encoding="utf-8")
    run("project", "document", "-o", "project.md", cwd=tmp_path)
    written = (tmp_path / "project.md").read_text(encoding="utf-8")
    assert written.replace("(project.yml)", "(../project.yml)") == page
