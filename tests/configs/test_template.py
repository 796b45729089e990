"""The templates, and how settings are changed in them."""

from pathlib import Path

import pytest
from thinc.api import Config

from spacy_nested_ner.configs.template import TEMPLATES, Changes, fill, read_template

CONFIGS = Path(__file__).parents[2] / "configs"

TEMPLATE = """\
# About the file.

[paths]
# Where the data are.
train = null
dev = null

# The tokens.
[nlp]
lang = "en"

[training]
path = ${paths.train}
size = 1
limit = 2

[initialize]
"""


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_the_configs_of_the_repository(name):
    expected = (CONFIGS / f"{name}.cfg").read_text(encoding="utf-8")
    assert read_template(name) == expected, f"copy configs/{name}.cfg to spacy_nested_ner/configs/{name}.cfg"


@pytest.mark.parametrize("name", TEMPLATES)
def test_only_the_header_changes_if_nothing_else_is_asked_for(name):
    template = read_template(name)
    header, _, rest = template.partition("\n\n")
    assert all(line.startswith("#") for line in header.splitlines())
    assert fill(template, Changes(header="New.")) == f"# New.\n\n{rest}"


def test_an_unknown_template():
    with pytest.raises(ValueError, match="template is 'bert'; expected one of tok2vec, transformer"):
        read_template("bert")


def test_values_sections_and_comments():
    changes = Changes(
        header="New.\n\n  a command",
        values={"paths.train": "a b.spacy", "nlp.lang": "de"},
        sections={"training": {"path": "${paths.dev}", "@name": "x", "size": None}},
        comments={"paths.train": "Seen.", "nlp": "German.", "training": "Small."},
    )
    assert (
        fill(TEMPLATE, changes)
        == """\
# New.
#
#   a command

[paths]
# Where the data are.
# Seen.
train = "a b.spacy"
dev = null

# The tokens.
# German.
[nlp]
lang = "de"

# Small.
[training]
path = ${paths.dev}
@name = "x"
size = null

[initialize]
"""
    )


def test_long_comments_are_wrapped_and_commands_are_not():
    text = fill(TEMPLATE, Changes(header=f"{'word ' * 40}\n  spacy {'train ' * 40}"))
    lines = text.splitlines()
    assert [line.startswith("# word") for line in lines[:3]] == [True, True, False]
    assert max(map(len, lines[:2])) <= 120 < len(lines[2])


def test_a_setting_that_the_template_does_not_have():
    for changes in [
        Changes(header="", values={"nlp.language": "de"}),
        Changes(header="", sections={"nlp.language": {}}),
        Changes(header="", comments={"nlp.language": "x"}),
    ]:
        with pytest.raises(ValueError, match=r"the template has no nlp\.language"):
            fill(TEMPLATE, changes)


@pytest.mark.parametrize("path", ["a$b.spacy", "${HOME}/a.spacy", "a$$b"])
def test_paths_that_no_config_can_hold(path):
    with pytest.raises(ValueError, match=r"a config cannot hold train = .*special characters; rename"):
        fill(TEMPLATE, Changes(header="", values={"paths.train": path}))


def test_names_that_no_config_can_hold():
    with pytest.raises(ValueError, match="a config cannot hold a=b = 1, because"):
        fill(TEMPLATE, Changes(header="", sections={"training": {"a=b": 1}}))


@pytest.mark.parametrize("path", ["a b.spacy", 'a"b', "a\\b", "Bücher/a.spacy", "a#b;c", "it's", "50%", "[x]", "null"])
def test_paths_with_special_characters(path):
    text = fill(TEMPLATE, Changes(header="", values={"paths.train": path}))
    assert Config().from_str(text)["paths"]["train"] == path
    assert Config().from_str(text)["training"]["path"] == path
