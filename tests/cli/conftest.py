"""What the commands of `spacy nested-ner` take."""

import pytest
from spacy.cli._util import app
from typer.main import get_command


@pytest.fixture(scope="session")
def options_of():
    """A function that gives the arguments and options of a command. All of them must be explained."""
    commands = get_command(app).commands["nested-ner"].commands

    def options(name):
        params = [param for param in commands[name].params if param.name != "help"]
        assert all(param.help for param in params)
        return {param.opts[0] if param.param_type_name == "option" else param.metavar for param in params}

    return options
