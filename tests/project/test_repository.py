"""The files at the root of the repository: citation, changelog, hooks, workflows, and what is supported."""

import re
from configparser import ConfigParser

import pytest
import srsly
from commands import ROOT
from pipeline.save_pipeline import SAVED

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


def test_the_changelog_knows_the_version():
    """It is that of the newest release, or else the changelog says that it will be the next one."""
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", log, re.MULTILINE)
    assert released == sorted(set(released), key=by_number, reverse=True)
    version = spacy_nested_ner.__version__
    if version not in released[:1]:
        assert all(by_number(version) > by_number(other) for other in released)
        assert f"release will be {version}." in log.partition("\n## [Unreleased]")[2].partition("\n## ")[0]
    saved = {path.name for path in SAVED.iterdir()}
    assert saved.issuperset([*released, version]), "CONTRIBUTING.md says how to save a pipeline with a new version"


def by_number(version):
    return [int(part) for part in version.split(".")]


def test_the_guide_to_a_release_names_the_version():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tags = re.findall(r"\bv(\d+\.\d+\.\d+)\b", guide)
    assert len(tags) >= 2
    assert set(tags) == {spacy_nested_ner.__version__}


def test_all_places_name_the_same_versions_of_python():
    config = settings_of_the_package()
    pythons = re.findall(r"Python :: (3\.\d+)", config["metadata"]["classifiers"])
    assert pythons
    assert config["options"]["python_requires"] == f">={pythons[0]}"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wheels = " ".join(f"cp{python.replace('.', '')}-*" for python in pythons)
    assert f'build = "{wheels}"' in project
    assert f'python_version = "{pythons[0]}"' in project
    assert f'target-version = "py{pythons[0].replace(".", "")}"' in project
    tests = srsly.read_yaml(ROOT / ".github" / "workflows" / "tests.yml")
    assert tests["jobs"]["systems"]["strategy"]["matrix"]["python"] == pythons
    for name in ("README.md", "CONTRIBUTING.md", "docs/index.md"):
        assert f"Python {pythons[0]} or later" in (ROOT / name).read_text(encoding="utf-8"), name


def test_the_table_of_platforms_names_the_lowest_versions():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| lowest versions: (.*?) \|", guide, re.MULTILINE)
    required = settings_of_the_package()["options"]["install_requires"]
    lowest = {name.lower(): version for name, version in re.findall(r"(\w+) ([\d.]+)", row)}
    assert sorted(lowest) == ["numpy", "spacy", "thinc"]
    for name, version in lowest.items():
        assert re.search(rf"^{name}>={re.escape(version)}(,|$)", required, re.MULTILINE), name


def settings_of_the_package():
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_workflows_are_pinned_and_may_do_little(path):
    text = path.read_text(encoding="utf-8")
    actions = re.findall(r"^ +(?:- )?uses: (.*)$", text, re.MULTILINE)
    for action in actions:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+|\./\.github/workflows/\w+\.yml", action), action
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    workflow = srsly.read_yaml(path)
    assert workflow["permissions"] == {}
    written = [
        (name, right)
        for name, job in workflow["jobs"].items()
        for right, access in job["permissions"].items()
        if access != "read"
    ]
    assert written == ([("publish", "id-token"), ("announce", "contents")] if path.stem == "release" else [])


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
    # spaCy wrote those.
    files = [path for path in files if not any(map(path.is_relative_to, (SAMPLE_PATH, SAVED)))]
    assert files
    for path in files:
        content = path.read_bytes()
        assert b"\r" not in content, path
        assert not content or content.endswith(b"\n"), path
