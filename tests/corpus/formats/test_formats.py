"""The table of formats."""

import inspect
from importlib import import_module
from pkgutil import iter_modules

import pytest

from spacy_nested_ner.corpus import FORMATS, formats

MODULES = [module.name for module in iter_modules(formats.__path__) if not module.name.startswith("_")]


@pytest.mark.parametrize("name", MODULES)
def test_every_file_is_described_and_in_the_table(name):
    module = import_module(f"{formats.__name__}.{name}")
    assert module.__doc__
    assert any(format.read is module.read for format in FORMATS.values())


@pytest.mark.parametrize("format", FORMATS.values(), ids=FORMATS)
def test_what_reads_and_what_writes_a_format_are_in_one_file(format):
    assert format.write is None or inspect.getmodule(format.write) is inspect.getmodule(format.read)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in format.suffixes)


def test_what_is_special_about_formats():
    assert [name for name, format in FORMATS.items() if format.write is None] == ["huggingface", "spacy-v2", "genia"]
    assert [name for name, format in FORMATS.items() if format.pair] == ["brat"]
    assert [name for name, format in FORMATS.items() if format.keeps_all] == ["spacy"]
    assert {name: format.split for name, format in FORMATS.items() if format.split} == {"genia": (15022, 1669, 1855)}
