"""`spacy nested-ner convert`"""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Arg, Opt

from ..corpus import Settings, convert
from .options import From, Lang, LineSentences, Misaligned, SkipBad, SpansKey, errors_shown

_Input = Annotated[Path, Arg(metavar="INPUT", help="File or folder to read")]
_Output = Annotated[Path, Arg(metavar="OUTPUT", help="File to write; a folder for brat and with --split")]
_To = Annotated[str | None, Opt("--to", "-t", help="Format of OUTPUT, if its name does not show it")]
_Ids = Annotated[
    Path | None, Opt("--ids", "-i", help="List of the files in the folder INPUT to read, one name per line")
]
_Split = Annotated[bool, Opt("--split", help="genia: write the standard train, dev and test into the folder OUTPUT")]


def convert_cli(
    source: _Input,
    target: _Output,
    source_format: From = None,
    target_format: _To = None,
    spans_key: SpansKey = "sc",
    lang: Lang = "en",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
    ids: _Ids = None,
    split: _Split = False,
) -> None:
    """Convert a corpus with nested mentions from one format to another.

    Prints what was read and what could not be kept. OUTPUT is written as a whole or not at all.
    """
    with errors_shown():
        names = None if ids is None else {line.strip() for line in ids.read_text("utf-8-sig").splitlines()} - {""}
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
        print(f"{report}\nSaved      {target}")
