"""Hooks of MkDocs that prepare the pages: option tables from `--help`, and links to files outside docs/.

The pages are read on the site and as plain Markdown in the repository, so they use no syntax that only the site knows.
"""

import posixpath
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from spacy.cli._util import app
from typer.main import get_command

import spacy_nested_ner.cli  # noqa: F401 - adds its commands to those of spaCy

ROOT = Path(__file__).parents[2]
# Where the site has the files of the repository that pages link to.
OUTSIDE = "repository"
IMAGES = {".png", ".svg", ".jpg"}
LANGUAGES = {".cfg": "ini", ".py": "python", ".yml": "yaml", ".json": "json", ".toml": "toml"}

# The text of a link and where it leads: a path, and perhaps an anchor on that page.
LINK = re.compile(r"(\[[^\[\]]*\])\(([^)\s#:]+)(#[^)\s]*)?\)")
COMMENT = re.compile(r"^<!-- (?:test: .*|end) -->\n", re.MULTILINE)
OPTIONS = re.compile(r"^<!-- options of ([\w-]+) -->$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+) (?:output|bracket)$", re.MULTILINE)
# Headings of what `spacy project document` writes: a second title, and pictures that the site has nowhere else.
SECOND_TITLE = re.compile(r"^# 🪐 .*\n", re.MULTILINE)
PICTURE = re.compile(r"^(#+) [^\w\s`]+ (?=\w)", re.MULTILINE)
TITLE = re.compile(r"^```(\w+) title=(\S+)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to, directly or through each other."""
    waiting = [Path(file.abs_src_path) for file in files.documentation_pages() if file.abs_src_path]
    seen = set(waiting)
    while waiting:
        source = waiting.pop()
        for target in _links(source):
            if target in seen or not target.is_file() or target.is_relative_to(ROOT / "docs"):
                continue
            seen.add(target)
            files.append(_outside_file(target, config))
            if target.suffix == ".md":
                waiting.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """What is on the page in the repository, in the form of the site."""
    if page.parent is None:
        # Nothing else is in its part of the site.
        page.meta["hide"] = ["navigation"]
    markdown = COMMENT.sub("", markdown)
    markdown = OPTIONS.sub(lambda match: option_table(match[1]), markdown)
    markdown = PICTURE.sub(r"\1 ", SECOND_TITLE.sub("", markdown))
    markdown = FENCE.sub(r"```\1", markdown)
    markdown = TITLE.sub(r'```\1 title="\2"', markdown)
    return LINK.sub(lambda match: _site_link(match, page.file.src_uri), markdown)


def option_table(command: str) -> str:
    """The arguments and options of a command of `spacy nested-ner`, as its `--help` describes them."""
    parameters = get_command(app).commands["nested-ner"].commands[command].params  # type: ignore[attr-defined]
    rows = [_option_row(parameter) for parameter in parameters if parameter.name != "help"]
    return "\n".join(["| argument or option | default | meaning |", "|---|---|---|", *rows])


def _option_row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        many = " …" if parameter.nargs == -1 else ""
        name, default = f"`{parameter.metavar}{many}`", "" if parameter.required else _shown(parameter.default)
    else:
        name = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
        default = "required" if parameter.required else _shown(parameter.default)
    text = " ".join((parameter.help or "").split()).replace("|", "\\|")
    if isinstance(parameter.default, Enum):
        text += ": " + ", ".join(map(_shown, type(parameter.default)))
    return f"| {name} | {default} | {text} |"


def _shown(default: Any) -> str:
    """A default as it would be typed; nothing for options that are not set."""
    if callable(default):
        default = default()
    if isinstance(default, Enum):
        default = default.value
    if default is None or default == () or default is click.core.UNSET:  # type: ignore[attr-defined]
        return ""
    return {True: "on", False: "off"}.get(default, f"`{default}`") if isinstance(default, bool) else f"`{default}`"


# ---- links to files outside docs/ ----


def _links(source: Path) -> Iterator[Path]:
    """The files that a page links to."""
    for match in LINK.finditer(source.read_text(encoding="utf-8")):
        yield Path(posixpath.normpath((source.parent / match[2]).as_posix()))


def _outside_file(path: Path, config: MkDocsConfig) -> File:
    """A page for Markdown, a page with the text of any other file, or a copy of an image."""
    uri = _outside_uri(path.relative_to(ROOT).as_posix())
    if path.suffix in IMAGES:
        return File.generated(config, uri, abs_src_path=str(path))
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        text = f"# {path.relative_to(ROOT).as_posix()}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}````\n"
    return File.generated(config, uri, content=text)


def _outside_uri(path: str) -> str:
    """Where the site has a file, by its path in the repository."""
    known = Path(path).suffix in IMAGES | {".md"}
    return f"{OUTSIDE}/{path}" + ("" if known else ".md")


def _site_link(link: re.Match[str], page: str) -> str:
    """A link of a page, changed if the page or its target is outside docs/. The site has no pages for folders."""
    text, path, anchor = link[1], link[2], link[3] or ""
    own = page.removeprefix(f"{OUTSIDE}/") if page.startswith(f"{OUTSIDE}/") else f"docs/{page}"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(own), path))
    if (ROOT / target).is_dir():
        return text[1:-1]
    if (ROOT / target).is_file() and not (own.startswith("docs/") and target.startswith("docs/")):
        uri = target.removeprefix("docs/") if target.startswith("docs/") else _outside_uri(target)
        path = posixpath.relpath(uri, posixpath.dirname(page) or ".")
    return f"{text}({path}{anchor})"
