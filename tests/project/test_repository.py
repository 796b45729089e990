"""The files at the root of the repository: citation, changelog, hooks."""

import re

import srsly
from commands import ROOT

import spacy_nested_ner
from spacy_nested_ner.sample import SAMPLE_PATH


def test_the_citation_names_the_software_and_the_paper():
    citation = srsly.read_yaml(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"]
    assert citation["title"].startswith("spacy-nested-ner")
    assert citation["authors"]
    assert citation["version"] == spacy_nested_ner.__version__
    (paper,) = citation["references"]
    assert paper["type"] == "conference-paper"
    assert paper["title"].startswith("A dynamic programming algorithm for span-based nested named-entity recognition")
    assert [(author["given-names"], author["family-names"]) for author in paper["authors"]] == [("Caio", "Corro")]
    assert paper["year"] == 2023


def test_the_changelog_keeps_its_form():
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## [Unreleased]"
    assert all(re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", line) for line in versions[1:])
    kinds = {line.removeprefix("### ") for line in lines if line.startswith("### ")}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_hooks_run_the_linters_of_make_and_download_nothing():
    config = srsly.read_yaml(ROOT / ".pre-commit-config.yaml")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    for hook in config["repos"][0]["hooks"]:
        assert hook["language"] == "system"
        assert re.search(rf"\$\(BIN\)/{hook['name']}\b", makefile), hook["name"]


def test_source_files_end_as_the_editor_config_says():
    """With LF and a final newline."""
    endings = {".py", ".pyi", ".pyx", ".pxd", ".h", ".cfg", ".yml", ".md"}
    folders = ("spacy_nested_ner", "tests", "configs", "docs", "benchmarks", "experiments")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in endings]
    files = [path for path in files if not path.is_relative_to(SAMPLE_PATH)]  # spaCy wrote those
    assert files
    for path in files:
        content = path.read_bytes()
        assert b"\r" not in content, path
        assert not content or content.endswith(b"\n"), path
