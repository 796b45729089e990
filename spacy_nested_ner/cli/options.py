"""What the commands have in common: options, loading and reading, how errors are shown, JSON files."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from .._whole import remove_unfinished, write_whole
from ..corpus import ConversionReport, Record, Settings, read_records
from ..corpus.conversion_report import other_annotation

Model = Annotated[
    str,
    Arg(
        metavar="MODEL",
        help="Trained pipeline: a folder, the name of an installed package, or `sample` for the one that comes along",
    ),
]
Gpu = Annotated[int, Opt("--gpu-id", "-g", help="GPU to use, or -1 for the CPU")]
GoldTokens = Annotated[
    bool,
    Opt("--gold-tokens", "-t", help="Predict on the tokens and sentences of the data, not on those of the pipeline"),
]
Data = Annotated[list[Path], Arg(metavar="DATA", help="Files or folders to read, in any format of `convert`")]
From = Annotated[
    str | None,
    Opt("--from", "-f", help="Format of the input, if its name and content do not show it; `convert --help` lists all"),
]
SpansKey = Annotated[str, Opt("--spans-key", "-k", help="Key of the mentions in doc.spans")]
Lang = Annotated[str, Opt("--lang", "-l", help="Language of the tokenizer, for formats of running text")]
Misaligned = Annotated[
    str,
    Opt(
        "--misaligned",
        "-m",
        help="Mentions that begin or end inside a token: error, split the token, or drop and report",
    ),
]
LineSentences = Annotated[
    bool, Opt("--line-sentences/--no-line-sentences", help="brat: take every line of text as a sentence")
]
SkipBad = Annotated[bool, Opt("--skip-bad", "-s", help="Skip and count bad input instead of stopping")]


@contextmanager
def errors_shown() -> Iterator[None]:
    """End the command with one line, not a traceback, if input or options are wrong or do not fit into memory.
    Characters that the encoding of the terminal or pipe does not have are printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    except BrokenPipeError:  # what reads the output, such as `head`, has seen enough
        raise
    except (OSError, ValueError, MemoryError) as error:
        # Not wasabi, which wraps lines: a path must stay whole. Python's own MemoryError has no text.
        typer.echo(f"Error: {str(error) or 'out of memory'}", err=True)
        raise typer.Exit(1) from None


class Source:
    """Files and folders, read one after another with the same options and one report."""

    def __init__(self, data: list[Path], format: str | None, settings: Settings, *, skip_bad: bool):
        self.data = data
        self.format = format
        self.settings = settings
        self.report = ConversionReport(skip_bad=skip_bad)

    def read(self, path: Path) -> Iterator[Record]:
        return read_records(path, self.format, settings=self.settings, report=self.report, progress=True)

    def read_all(self) -> Iterator[Record]:
        return chain.from_iterable(map(self.read, self.data))

    def print_losses(self) -> None:
        """What could not be read, if anything."""
        if losses := self.report.losses():
            print("\n" + "\n".join(losses))

    def check_mentions_found(self) -> None:
        """An error if there was nothing to count."""
        if not self.report.mentions:
            names, key = ", ".join(map(str, self.data)), self.settings.spans_key
            raise ValueError(f"no mention found in {names}; looked for doc.spans[{key!r}], {self._remedy()}")

    def _remedy(self) -> str:
        """What else files of spaCy hold, if there are some."""
        saved = [path for path in self.data if path.suffix == ".spacy" and path.is_file()]
        if not saved:
            return "see --spans-key"
        return other_annotation(saved[0], self.report.other_spans, self.report.entities)


def short_names(paths: list[Path]) -> list[str]:
    """Names without folder and suffix, if these differ; otherwise whole paths."""
    for path in paths:
        if paths.count(path) > 1:
            raise ValueError(f"{path} is named {paths.count(path)} times; name every file or folder once")
    stems = [path.resolve().stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def write_json(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def check_pipeline_folder(folder: Path, *, force: bool) -> None:
    """Checked before the work, not after it. Nothing but a pipeline is ever replaced."""
    remove_unfinished(folder.resolve().parent)  # a pipeline that was being replaced comes back
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / "config.cfg").is_file() or not (folder / "meta.json").is_file():
        raise ValueError(f"{folder} exists and is not a pipeline; give a new or empty folder")
    if not force:
        raise ValueError(f"{folder} has a pipeline; give another folder, or --force to replace it")
