"""`spacy nested-ner convert`"""

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from ..corpus import FORMATS, Settings, convert

# What the help says of an option, in the order of the parameters below.
_Input = Annotated[Path, Arg(metavar="INPUT", help="File or folder to read")]
_Output = Annotated[Path, Arg(metavar="OUTPUT", help="File to write; a folder for brat and with --split")]
_From = Annotated[
    str | None, Opt("--from", "-f", help=f"Format of INPUT, if its name does not tell: {', '.join(FORMATS)}")
]
_To = Annotated[str | None, Opt("--to", "-t", help="Format of OUTPUT, if its name does not tell")]
_SpansKey = Annotated[str, Opt("--spans-key", "-k", help="The mentions are in doc.spans under this key")]
_Lang = Annotated[str, Opt("--lang", "-l", help="Language of the tokenizer, for formats that come as running text")]
_Misaligned = Annotated[
    str, Opt("--misaligned", "-m", help="Mentions that end inside a token: error, split the token, or drop and report")
]
_LineSentences = Annotated[
    bool, Opt("--line-sentences/--no-line-sentences", help="brat: every line of text is a sentence")
]
_SkipBad = Annotated[bool, Opt("--skip-bad", "-s", help="Skip and count what is bad, instead of stopping there")]
_Ids = Annotated[Path | None, Opt("--ids", "-i", help="A list of the files in the folder INPUT to read, one a line")]
_Split = Annotated[bool, Opt("--split", help="genia: write the standard train, dev and test into the folder OUTPUT")]


def convert_cli(
    source: _Input,
    target: _Output,
    source_format: _From = None,
    target_format: _To = None,
    spans_key: _SpansKey = "sc",
    lang: _Lang = "en",
    misaligned: _Misaligned = "error",
    line_sentences: _LineSentences = True,
    skip_bad: _SkipBad = False,
    ids: _Ids = None,
    split: _Split = False,
) -> None:
    """Convert a corpus with nested mentions from one format to another.

    Says what was read and what could not be kept. OUTPUT is written as a whole or not at all.
    """
    try:
        names = None if ids is None else {line.strip() for line in ids.read_text("utf-8").splitlines()} - {""}
        report = convert(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            settings=Settings(spans_key=spans_key, lang=lang, misaligned=misaligned, line_sentences=line_sentences),
            skip_bad=skip_bad,
            names=names,
            split=split,
            progress=True,
        )
    except (OSError, ValueError) as error:
        # Not wasabi, which wraps lines: a path must stay whole.
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    print(f"{report}\nSaved      {target}")
