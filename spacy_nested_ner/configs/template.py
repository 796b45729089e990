"""The configs that come with the package, and how to change settings in them without losing their comments.

A template is a complete config that spaCy can load as it is. Its paragraphs, between blank lines, are a comment about
the whole file and then one section each.
"""

import configparser
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from textwrap import wrap
from typing import Any

from thinc.api import Config

TEMPLATES = ("tok2vec", "transformer")
"""The names of the configs that come with the package."""

_HEADING = re.compile(r"\[(.+)\]")
_REFERENCE = re.compile(r"\$\{[\w.]+\}")
# Characters in a line of a comment.
_WIDTH = 118

# The settings of a section by their names.
Section = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What to change in a template.

    header (str): Replaces the comment about the whole file.
    values (Mapping[str, Any]): New values of settings, by full names such as "nlp.lang".
    sections (Mapping[str, Section]): Sections to replace as a whole.
    comments (Mapping[str, str]): Comments to add above a setting or section, below those that are there.
    """

    header: str
    values: Mapping[str, Any] = field(default_factory=dict)
    sections: Mapping[str, Section] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)


def read_template(name: str) -> str:
    """A config of the package.

    name (str): One of `TEMPLATES`.
    RETURNS (str): Its text, with comments.
    """
    if name not in TEMPLATES:
        raise ValueError(f"template is {name!r}; expected one of {', '.join(TEMPLATES)}")
    return files(__package__).joinpath(f"{name}.cfg").read_text(encoding="utf-8")


def fill(template: str, changes: Changes) -> str:
    """A template with other settings.

    RETURNS (str): The text of the config. An error if the template has no such setting, or if the syntax of configs
        cannot express a value.
    """
    missing = {*changes.values, *changes.sections, *changes.comments} - set(_names(template))
    if missing:
        raise ValueError(f"the template has no {', '.join(sorted(missing))}")
    _, *paragraphs = template.split("\n\n")
    filled = [_comment(changes.header), *("\n".join(_fill(paragraph, changes)) for paragraph in paragraphs)]
    return "\n\n".join(filled).rstrip("\n") + "\n"


def _lines(paragraph: str) -> Iterator[tuple[str, str]]:
    """The lines of a section, each with the full name of what it sets; comments have none."""
    section = None
    for line in paragraph.splitlines():
        if heading := _HEADING.fullmatch(line):
            section = heading[1]
            yield line, section
        else:
            is_setting = section is not None and not line.startswith("#")
            yield line, f"{section}.{_key(line)}" if is_setting else ""


def _key(line: str) -> str:
    return line.partition(" = ")[0]


def _names(template: str) -> Iterator[str]:
    """The full names of all sections and settings."""
    return (name for paragraph in template.split("\n\n") for _, name in _lines(paragraph) if name)


def _fill(paragraph: str, changes: Changes) -> Iterator[str]:
    """The lines of a section with its new settings."""
    for line, name in _lines(paragraph):
        if name in changes.comments:
            yield _comment(changes.comments[name])
        if name in changes.values:
            yield _setting(_key(line), changes.values[name])
        else:
            yield line
        if name in changes.sections:
            yield from (_setting(key, value) for key, value in changes.sections[name].items())
            return


def _comment(text: str) -> str:
    """Wrapped where a line is too long. Commands, which are indented, are not wrapped."""
    lines: list[str] = []
    for line in text.splitlines():
        lines += [line] if line.startswith(" ") else wrap(line, _WIDTH) or [""]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _setting(key: str, value: Any) -> str:
    """A line of a config. References to other settings are not quoted."""
    if isinstance(value, str) and _REFERENCE.fullmatch(value):
        return f"{key} = {value}"
    line = f"{key} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
    # Read it again: configs have no way to write some characters, such as $ in a value and = in a name.
    try:
        is_kept = Config().from_str(f"[section]\n{line}") == {"section": {key: value}}
    except (ValueError, configparser.Error):
        is_kept = False
    if not is_kept:
        raise ValueError(
            f"a config cannot hold {key} = {value!r}, because of its special characters; rename the file or the spans "
            f"key, and use only letters, digits and simple punctuation"
        )
    return line
