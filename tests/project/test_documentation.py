"""Every block of code in the documentation is run or checked.

The blocks of a page run from top to bottom in a temporary folder with a copy of assets/ and configs/:

    python            runs; all blocks of a page are one program
    bash              every command runs: spacy inside this process, a Python file of the page in one of its own
    ini               is merged into configs/tok2vec.cfg, and the pipeline is built
    … title=FILE      is written to FILE, or compared with it if a command has made it
    text output       must be what the last block of commands or Python printed
    text bracket      must be bracket notation

Comments above a block ask for data, for less training, or not to be run:

    <!-- test: given FILE, FILE -->   make these first, see GIVEN
    <!-- test: with OPTIONS -->       add these options to every `spacy train` of the block
    <!-- test: skip, REASON -->       only parse the commands: they must exist, with their options and files

With UPDATE_DOCS=1 in the environment, output that has changed is written into the page. Read it before you commit.

`<!-- options of NAME -->` is a table of the options of a command, which only the site has.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from itertools import accumulate, dropwhile
from pathlib import Path

import pytest
from commands import ROOT, parse_spacy, run_spacy
from spacy.language import Language
from spacy.util import load_config, load_config_from_str, load_model_from_config, registry

import spacy_nested_ner
import spacy_nested_ner.evaluation
from spacy_nested_ner.corpus import FORMATS, convert, read_docs, write_docs

BLOCK = re.compile(
    r"((?:^<!-- test: [^\n]* -->\n)*)^```(\S*)(?: (output|bracket|title=\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
MARK = re.compile(r"<!-- test: (given|with|skip,) (.*) -->")
ALL_PAGES = [
    str(page.relative_to(ROOT))
    for pattern in ("*.md", "docs/**/*.md", "assets/*.md", "experiments/*.md", "spacy_nested_ner/**/*.md")
    for page in sorted(ROOT.glob(pattern))
]
PAGES = [name for name in ALL_PAGES if "\n```" in (ROOT / name).read_text(encoding="utf-8")]
# They train or run pipelines for more than two seconds.
SLOW = dict.fromkeys(
    (
        "README.md",
        "docs/how-to/batch.md",
        "docs/how-to/pytorch.md",
        "docs/how-to/thresholds.md",
        "docs/how-to/transformers.md",
        "docs/reference/commands.md",
        "docs/reference/formats.md",
        "docs/tutorial.md",
    ),
    pytest.mark.slow,
)
# What pages need that is not installed with the package.
NEEDS = {
    "docs/how-to/batch.md": "pyarrow",
    "docs/how-to/pytorch.md": "transformers",
    "docs/how-to/serve.md": "fastapi",
    "docs/reference/commands.md": "matplotlib",
}
UPDATE = bool(os.environ.get("UPDATE_DOCS"))
# Programs that the documentation names and the tests cannot check.
OTHER_PROGRAMS = {".", "curl", "export", "git", "pip", "pre-commit", "ray", "uvicorn"}


def make_corpus(folder):
    for part in ("train", "dev", "test"):
        convert(f"assets/sample/{part}.txt", folder / f"{part}.spacy")


def make_model(folder):
    """The pipeline that comes with the package, so that pages need not train one."""
    spacy_nested_ner.load_sample().to_disk(folder)


def make_litbank(folder):
    """Two files called as those of LitBank."""
    for n, doc in enumerate(list(read_docs("assets/sample/dev.txt"))[:2]):
        write_docs([doc], folder / f"{n}_a_story_brat.tsv")


# What blocks may ask for, and how it is made from the sample corpus.
GIVEN = {
    "corpus": make_corpus,
    "model": make_model,
    "training/model-best": make_model,
    "litbank/entities/tsv": make_litbank,
    "train.ids": lambda path: path.write_text("0_a_story_brat.tsv\n"),
    "train.jsonl": lambda path: convert("assets/sample/train.txt", path),
    "dev.jsonl": lambda path: convert("assets/sample/dev.txt", path),
    "test.jsonl": lambda path: convert("assets/sample/test.txt", path),
    "export.json": lambda path: convert("assets/sample", path, target_format="label-studio"),
    "documents.jsonl": lambda path: convert("assets/sample/dev.txt", path, target_format="jsonl-text"),
}


# Some mentions of the sample corpus are outside the default search space, and the component rightly says so.
@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
@pytest.mark.filterwarnings("ignore:Using .httpx. with")
@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in PAGES])
def test_every_block_is_true(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    for folder in ("assets", "configs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    page = (ROOT / name).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(page))
    assert 2 * len(blocks) == len(re.findall("^```", page, re.MULTILINE)), "a fence that is no block"
    run = PageRun(name)
    for block in blocks:
        run.block(*block.groups(default=""))
    if UPDATE:
        for block, text in reversed(list(zip(blocks, run.texts))):
            page = page[: block.start(4)] + text + page[block.end(4) :]
        (ROOT / name).write_text(page, encoding="utf-8")


class PageRun:
    """The blocks of a page, run one after another.

    names (dict[str, Any]): What the Python blocks have defined.
    output (str): What the last block printed.
    texts (list[str]): The text of every block as it should be.
    """

    def __init__(self, page):
        self.page = page
        self.names = {}
        self.output = ""
        self.texts = []

    def block(self, marks, language, kind, text):
        asked = dict(MARK.findall(marks))
        assert len(asked) == marks.count("<!--"), f"unknown mark in {marks}"
        self.texts.append(text)
        for path in filter(None, asked.get("given", "").split(", ")):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            GIVEN[path](Path(path))
        if "skip," in asked:
            check(text, language, kind)
        elif kind.startswith("title="):
            write_or_compare(Path(kind.removeprefix("title=")), text)
        elif language == "python":
            self.output = run_python(text, self.page, self.names)
        elif language == "bash":
            self.output = execute(text, asked.get("with", ""))
        elif language == "ini":
            build(text)
        elif kind == "output":
            self.texts[-1] = self.output
            assert UPDATE or self.output == text
        elif kind == "bracket":
            read_brackets(text)
        else:
            pytest.fail(f"{self.page}: a block of unknown kind, {language} {kind}:\n{text}")


def commands(text):
    """The words of each command, without comments; a backslash continues a line."""
    lines = text.replace("\\\n", " ").splitlines()
    every = (shlex.split(line, comments=True) for line in lines)
    # Variables of the environment come before a command.
    return [words for words in (list(dropwhile(lambda word: "=" in word, words)) for words in every) if words]


def arguments_of_spacy(words):
    """What follows `spacy` or `python -m spacy`; None for another program."""
    words = words[2:] if words[:2] == ["python", "-m"] else words
    return words[1:] if words[0] == "spacy" else None


def run_python(text, name, names):
    """Run a block in the program of its page, and give what it printed."""
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(text, name, "exec"), names)
    return printed.getvalue()


def execute(text, options=""):
    """Run the commands, and give what the last one printed."""
    output = ""
    for words in commands(text):
        arguments = arguments_of_spacy(words)
        if arguments is None:
            output = run_file(words)
            continue
        result = run_spacy(*arguments, *(shlex.split(options) if arguments[0] == "train" else []))
        assert result.exit_code == 0, f"{words}\n{result.output}\n{result.exception}"
        output = result.output
    return output


def run_file(words):
    """Run a Python file that the page has written."""
    assert words[0] == "python", f"only spacy and Python files are run here: {words}"
    assert Path(words[1]).exists(), f"only spacy and Python files are run here: {words}"
    result = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True)
    assert result.returncode == 0, f"{words}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def check(text, language, kind):
    """Parse what is not run: commands and settings. Output that is marked was printed in other circumstances."""
    if language == "ini":
        load_config_from_str(with_sections_around(text), interpolate=False)
    for words in commands(text) if language == "bash" else ():
        arguments = arguments_of_spacy(words)
        if arguments:
            parse_spacy(*arguments)
        elif words[0] == "make":
            assert re.search(f"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), words
        elif words[:2] == ["python", "-m"]:
            assert find_spec(words[2]), words
            assert all((ROOT / word).exists() for word in words if word.startswith("tests/")), words
        elif words[0] == "python":
            assert (ROOT / words[1]).exists(), words
        else:
            assert words[0] in OTHER_PROGRAMS, words


def with_sections_around(text):
    """Settings with the sections around them, which pages may leave out."""
    sections = [tuple(section.split(".")) for section in re.findall(r"^\[(.+)\]$", text, re.MULTILINE)]
    around = {name for section in sections for name in accumulate(section, "{}.{}".format)}
    missing = sorted(around - {".".join(section) for section in sections})
    return "".join(f"[{name}]\n" for name in missing) + text


def build(text):
    """A pipeline and readers from the default config with these settings."""
    settings = load_config_from_str(with_sections_around(text), interpolate=False)
    paths = {"paths.train": "train.spacy", "paths.dev": "dev.spacy"}
    config = load_config("configs/tok2vec.cfg", overrides=paths, interpolate=False).merge(settings)
    nlp = load_model_from_config(config, auto_fill=True)
    registry.resolve(nlp.config.interpolate()["corpora"])


def read_brackets(text):
    Path("brackets.txt").write_text(text, encoding="utf-8")
    mentions = [span for doc in read_docs("brackets.txt") for span in doc.spans["sc"]]
    assert len(mentions) == text.count("[") > 0


def write_or_compare(path, text):
    if path.exists():
        assert path.read_text(encoding="utf-8") == text
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", ALL_PAGES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            target, _, anchor = link.partition("#")
            file = page.parent / target if target else page
            assert file.exists(), link
            assert not anchor or anchor in anchors(file), link


# The changelog names what was removed.
@pytest.mark.parametrize("name", [name for name in ALL_PAGES if name != "CHANGELOG.md"])
def test_modules_and_files_exist(name):
    """Everything that a page names by its path or dotted name; NAME is a placeholder."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for path in re.findall(r"`((?:spacy_nested_ner|tests|configs|benchmarks)/[\w/.]*)`", text):
        assert "NAME" in path or (ROOT / path).exists(), path
    for dotted in re.findall(r"`(spacy_nested_ner(?:\.\w+)+)`", text):
        module, _, attribute = dotted.rpartition(".")
        assert hasattr(import_module(module), attribute) or find_spec(dotted), dotted


@pytest.mark.parametrize("config", sorted(path.name for path in (ROOT / "configs").iterdir()))
def test_every_config_is_documented(config):
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    assert any(f"configs/{config}" in page.read_text(encoding="utf-8") for page in pages)


def test_pages_that_programs_name_exist():
    """Messages, help texts, comments and configs name pages of the documentation by their paths."""
    folders = ("spacy_nested_ner", "configs", "benchmarks", "experiments", "assets", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    texts = {".py", ".pyx", ".pxd", ".cfg", ".yml", ".md", ".h", ".txt"}
    files = [path for path in files if path.is_file() and path.suffix in texts]
    for path in (ROOT / "project.yml", ROOT / "mkdocs.yml", ROOT / "Makefile", *files):
        for page in re.findall(r"(?<![\w/])docs/[\w/.-]+\.md", path.read_text(encoding="utf-8")):
            assert (ROOT / page).exists(), f"{path} names {page}"


def test_every_setting_is_documented_with_its_default():
    page = (ROOT / "docs/reference/component.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \|", page, re.MULTILINE))
    Language().add_pipe("nested_ner")  # spaCy knows a factory when it is used
    for name, default in Language.get_factory_meta("nested_ner").default_config.items():
        if isinstance(default, dict):
            (reference,) = (value for key, value in default.items() if key.startswith("@"))
            assert rows[name] == reference.split(".")[1], name
        else:
            assert json.loads(rows[name]) == default, name


def test_every_format_is_documented_with_its_file_names():
    page = (ROOT / "docs/reference/formats.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+?) \|", page, re.MULTILINE))
    assert rows.keys() == FORMATS.keys()
    for name, format in FORMATS.items():
        assert set(re.findall(r"`(\..+?)`", rows[name])) == set(format.suffixes), name


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    listed = {path.rpartition(".")[2] for path in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}
    assert set(spacy_nested_ner.__all__) <= listed
    assert set(spacy_nested_ner.evaluation.__all__) <= listed
    package = ROOT / "spacy_nested_ner" / "torch" / "__init__.py"  # it needs PyTorch
    assert set(re.findall(r'^    "(\w+)",$', package.read_text(encoding="utf-8"), re.MULTILINE)) <= listed


def test_messages_in_the_list_of_common_problems_exist():
    """What is the same in every message of its kind, without values, is in the source."""
    page = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text(encoding="utf-8")
    messages = re.findall(r"^- `(.*)`$", page, re.MULTILINE)
    # The others are messages of spaCy.
    messages = [message for message in messages if not message.startswith(("[E", "Config error"))]
    assert len(messages) > 4
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "spacy_nested_ner").rglob("*.py"))
    # Strings may go on in the next line.
    source = re.sub(r'"\s*\n\s*f?"', "", source)
    values = re.compile(r"^Error: …: |nested_ner|…|\(.*?\)|'[^']*'|\d[\d,]*(?: documents?)?")
    for message in messages:
        fixed = [part.strip() for part in values.split(message)]
        assert [part for part in fixed if len(part) > 9 and part not in source] == [], message
