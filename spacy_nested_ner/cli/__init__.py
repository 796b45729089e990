"""`spacy nested-ner …`: a group of spaCy's own command line, one command per module."""

import logging

import typer
from spacy.cli._util import app

from .analyze import analyze_cli
from .annotate import annotate_cli
from .calibrate import calibrate_cli
from .compare import compare_cli
from .convert import ConvertCommand, convert_cli
from .coverage import coverage_cli
from .evaluate import evaluate_cli
from .explore import explore_cli
from .init import init_cli
from .report import report_cli
from .show import show_cli
from .vectors import vectors_cli

nested_ner_cli = typer.Typer(
    name="nested-ner", help="Commands for nested named entities.", no_args_is_help=True, rich_markup_mode=None
)
nested_ner_cli.command("convert", cls=ConvertCommand, no_args_is_help=True)(convert_cli)
nested_ner_cli.command("analyze", no_args_is_help=True)(analyze_cli)
nested_ner_cli.command("coverage", no_args_is_help=True)(coverage_cli)
nested_ner_cli.command("init", no_args_is_help=True)(init_cli)
nested_ner_cli.command("vectors", no_args_is_help=True)(vectors_cli)
nested_ner_cli.command("evaluate", no_args_is_help=True)(evaluate_cli)
nested_ner_cli.command("report", no_args_is_help=True)(report_cli)
nested_ner_cli.command("calibrate", no_args_is_help=True)(calibrate_cli)
nested_ner_cli.command("compare", no_args_is_help=True)(compare_cli)
nested_ner_cli.command("show", no_args_is_help=True)(show_cli)
nested_ner_cli.command("explore", no_args_is_help=True)(explore_cli)
nested_ner_cli.command("annotate", no_args_is_help=True)(annotate_cli)

# spaCy imports this module through its entry point before it runs.
app.add_typer(nested_ner_cli)
# `spacy train` shows which decoder was chosen; without --verbose, spaCy shows warnings only.
logging.getLogger("spacy.nested_ner").setLevel(logging.INFO)
