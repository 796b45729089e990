"""spaCy's command line, run inside the test, or parsed only."""

from pathlib import Path

from spacy.cli._util import app, parse_config_overrides
from spacy.util import load_config
from typer.main import get_command
from typer.testing import CliRunner

import spacy_nested_ner.cli  # noqa: F401 - what spaCy does through the entry point

ROOT = Path(__file__).parent.parent


def run(*arguments, input=None):
    """`spacy nested-ner …`

    input (str | bytes | None): What is on standard input.
    """
    return run_spacy("nested-ner", *arguments, input=input)


def fails(*arguments, input=None):
    """`spacy nested-ner …` that ends with an error, and what it says."""
    result = run(*arguments, input=input)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    return result.output


def run_spacy(*arguments, input=None):
    """`spacy …`"""
    return CliRunner().invoke(app, list(map(str, arguments)), input=input)


def parse_spacy(*arguments):
    """`spacy …` without running it. An error if there is no such command, option, setting or input file."""
    command, context, rest = get_command(app), None, list(arguments)
    while hasattr(command, "resolve_command"):
        context = command.context_class(command, info_name=command.name, parent=context)
        _, command, rest = command.resolve_command(context, rest)
    context = command.make_context(command.name, rest, parent=context)
    if "config_path" in context.params:
        overrides = parse_config_overrides(context.args)
        config = load_config(context.params["config_path"], overrides=overrides, interpolate=False)
        original = load_config(context.params["config_path"], interpolate=False)
        for name in overrides:
            settings = original
            for part in name.split("."):
                assert part in settings, f"no setting {name} in {context.params['config_path']}"
                settings = settings[part]
        return config
    return None
