"""Every block of code in the README, in docs/ and in the description of the corpus is run or checked.

A page is worked through from top to bottom in a folder of its own, which holds assets/ and configs/:

    python            runs; the blocks of a page are one program
    bash              every command runs, inside this process
    ini               is merged into configs/tok2vec.cfg, and the pipeline is built
    text title=FILE   is that file: written, or compared if a command has made it
    text output       is what the last command printed
    text bracket      is bracket notation

Where that would take long, or needs what is not here, comments above a block say so:

    <!-- test: given FILE, FILE -->   these are made first, see GIVEN
    <!-- test: with OPTIONS -->       every `spacy train` of the block gets these, too
    <!-- test: skip, REASON -->       the commands are only parsed: they must exist, with their options
"""

import re
import shlex
import shutil
from itertools import accumulate
from pathlib import Path

import pytest
from commands import ROOT, parse_spacy, run_spacy
from spacy.util import load_config, load_config_from_str, load_model_from_config, registry

from spacy_nested_ner.corpus import convert, read_docs, write_docs

BLOCK = re.compile(
    r"((?:^<!-- test: [^\n]* -->\n)*)^```(\S*)(?: (output|bracket|title=\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
MARK = re.compile(r"<!-- test: (given|with|skip,) (.*) -->")
PAGES = [
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "assets" / "README.md")
    if "\n```" in page.read_text(encoding="utf-8")
]


def make_corpus(folder):
    for part in ("train", "dev", "test"):
        convert(f"assets/sample/{part}.txt", folder / f"{part}.spacy")


def make_model(folder):
    """From `corpus`, which must be given before."""
    few = "--training.max_steps 10 --training.eval_frequency 10"
    paths = "--paths.train corpus/train.spacy --paths.dev corpus/dev.spacy"
    execute(f"spacy train configs/tok2vec.cfg -o {folder.parent} {paths} {few}")


def make_litbank(folder):
    """Two files called as those of LitBank."""
    for n, doc in enumerate(list(read_docs("assets/sample/dev.txt"))[:2]):
        write_docs([doc], folder / f"{n}_a_story_brat.tsv")


# What blocks may ask for, and how it is made from the sample corpus.
GIVEN = {
    "corpus": make_corpus,
    "training/model-best": make_model,
    "litbank/entities/tsv": make_litbank,
    "train.ids": lambda path: path.write_text("0_a_story_brat.tsv\n"),
    "train.jsonl": lambda path: convert("assets/sample/train.txt", path),
    "dev.jsonl": lambda path: convert("assets/sample/dev.txt", path),
    "test.jsonl": lambda path: convert("assets/sample/test.txt", path),
    "documents.jsonl": lambda path: convert("assets/sample/dev.txt", path, target_format="jsonl-text"),
}


# What of the sample corpus is outside the default search space is told, and rightly so.
@pytest.mark.filterwarnings("ignore:nested_ner cannot learn")
@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_true(name, tmp_path, monkeypatch):
    if name == "docs/commands.md":  # `analyze` lists the plots it made
        pytest.importorskip("matplotlib")
    for folder in ("assets", "configs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / name).read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    assert 2 * len(blocks) == len(re.findall("^```", page, re.MULTILINE)), "a fence that is no block"
    names: dict = {}
    output = ""
    for marks, language, kind, text in blocks:
        told = dict(MARK.findall(marks))
        assert len(told) == marks.count("<!--"), f"unknown mark in {marks}"
        for path in filter(None, told.get("given", "").split(", ")):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            GIVEN[path](Path(path))
        if language == "python":
            exec(compile(text, name, "exec"), names)
        elif language == "bash" and "skip," in told:
            check(text)
        elif language == "bash":
            output = execute(text, told.get("with", ""))
        elif language == "ini":
            build(text)
        elif kind == "output":
            assert output == text
        elif kind == "bracket":
            read_brackets(text)
        elif kind.startswith("title="):
            write_or_compare(Path(kind.removeprefix("title=")), text)
        else:
            pytest.fail(f"{name}: nothing is known about blocks of {language} {kind}:\n{text}")


def commands(text):
    """The words of each command, without comments; a backslash continues a line."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def arguments_of_spacy(words):
    """What follows `spacy` or `python -m spacy`; None for another program."""
    words = words[2:] if words[:2] == ["python", "-m"] else words
    return words[1:] if words[0] == "spacy" else None


def execute(text, options=""):
    """Run the commands, and give what the last one printed."""
    for words in commands(text):
        arguments = arguments_of_spacy(words)
        assert arguments, f"only spacy is run here: {words}"
        result = run_spacy(*arguments, *(shlex.split(options) if arguments[0] == "train" else []))
        assert result.exit_code == 0, f"{words}\n{result.output}\n{result.exception}"
    return result.output


def check(text):
    """Parse the commands."""
    for words in commands(text):
        arguments = arguments_of_spacy(words)
        if arguments:
            parse_spacy(*arguments)
        elif words[0] == "make":
            assert re.search(f"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), words
        else:
            assert words[0] == "python", words
            assert (ROOT / words[1]).exists(), words


def build(text):
    """A pipeline and readers from the default config with these settings; sections around them may be left out."""
    sections = [tuple(section.split(".")) for section in re.findall(r"^\[(.+)\]$", text, re.MULTILINE)]
    around = {name for section in sections for name in accumulate(section, "{}.{}".format)}
    missing = sorted(around - {".".join(section) for section in sections})
    settings = load_config_from_str("".join(f"[{name}]\n" for name in missing) + text, interpolate=False)
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


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), ROOT / "assets" / "README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
