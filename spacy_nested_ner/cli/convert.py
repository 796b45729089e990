"""`spacy nested-ner convert`"""

import re
from pathlib import Path
from typing import Annotated, Any

from spacy.cli._util import Arg, Opt
from typer.core import TyperCommand

from ..corpus import FORMATS, Settings, Split, convert
from ..corpus.documents import MAX_BYTES
from ..corpus.splitting import parse_shares
from .options import From, Lang, LineSentences, Misaligned, SkipBad, SpansKey, errors_shown

# What `--split` without shares means.
STANDARD = "standard"
# What looks like shares, right or wrong, and not like a path or an option.
_SHARES = re.compile(r"-?\d[\d./,:;%]*")

_Input = Annotated[Path, Arg(metavar="INPUT", help="File or folder to read")]
_Output = Annotated[Path, Arg(metavar="OUTPUT", help="File to write; a folder for brat and with --split")]
_To = Annotated[str | None, Opt("--to", "-t", help="Format of OUTPUT, if its name does not show it")]
_Ids = Annotated[
    Path | None, Opt("--ids", "-i", help="List of the files in the folder INPUT to read, one name per line")
]
_Split = Annotated[
    str | None,
    Opt(
        "--split",
        metavar="SHARES",
        help="Write train, dev and test into the folder OUTPUT, at random in these shares, such as 80/10/10, or 80/20 "
        "for train and dev. Without shares: the standard split (genia)",
    ),
]
_Seed = Annotated[int, Opt("--seed", help="Seed of --split: the same seed gives the same parts")]
_By = Annotated[str, Opt("--by", help="What --split keeps whole: document, or sentence, which makes each a document")]
_Ents = Annotated[bool, Opt("--ents", help="Also take the entities in doc.ents as mentions")]
_ToKey = Annotated[str | None, Opt("--to-key", help="Move the mentions from --spans-key to this key of doc.spans")]
_Tags = Annotated[
    str | None, Opt("--tags", help="Names of tags that the data has as numbers, as in O,B-PER,I-PER (huggingface)")
]
_Layer = Annotated[
    str | None, Opt("--layer", help="webanno: layer with the mentions, as in NamedEntity or NamedEntity.value")
]
_Structure = Annotated[str | None, Opt("--structure", help="xml: further elements that are not mentions, as in h1,h2")]
_MaxBytes = Annotated[
    int, Opt("--max-bytes", help="How large a compressed file may be when it is decompressed, in bytes")
]
_AllowEmpty = Annotated[bool, Opt("--allow-empty", help="Also convert if there are no mentions at all")]


class ConvertCommand(TyperCommand):
    """The command, whose option `--split` can do without a value, which Typer does not know."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        for i, argument in enumerate(given):
            following = given[i + 1] if i + 1 < len(given) else ""
            if argument == "--split" and following != STANDARD and not _SHARES.fullmatch(following):
                given[i] = f"--split={STANDARD}"
        return super().parse_args(ctx, given)


def convert_cli(
    source: _Input,
    target: _Output,
    source_format: From = None,
    target_format: _To = None,
    spans_key: SpansKey = "sc",
    to_key: _ToKey = None,
    ents: _Ents = False,
    lang: Lang = "en",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    tags: _Tags = None,
    layer: _Layer = None,
    structure: _Structure = None,
    max_bytes: _MaxBytes = MAX_BYTES,
    skip_bad: SkipBad = False,
    allow_empty: _AllowEmpty = False,
    ids: _Ids = None,
    split: _Split = None,
    seed: _Seed = 0,
    by: _By = "document",
) -> None:
    with errors_shown():
        names = None if ids is None else {line.strip() for line in ids.read_text("utf-8-sig").splitlines()} - {""}
        report = convert(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            settings=Settings(
                spans_key=spans_key,
                lang=lang,
                misaligned=misaligned,
                line_sentences=line_sentences,
                tag_names=_items(tags),
                layer=layer,
                structure=_items(structure),
                max_bytes=max_bytes,
            ),
            skip_bad=skip_bad,
            names=names,
            split=split == STANDARD if split in (None, STANDARD) else Split(parse_shares(str(split)), seed, by),
            ents=ents,
            to_key=to_key,
            allow_empty=allow_empty,
            progress=True,
        )
        print(f"{report}\nSaved      {target}")


def _items(text: str | None) -> tuple[str, ...]:
    """The parts between commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _table() -> str:
    """The formats, one per line."""
    lines = []
    for name, format in FORMATS.items():
        summary = format.summary + ("" if format.write else ", read-only")
        lines.append(f"  {name:<13} {summary:<38} {' '.join(format.suffixes[:3])}")
    return "\n".join(lines)


# \b keeps the lines of a paragraph as they are.
convert_cli.__doc__ = f"""Convert a corpus with nested mentions from one format to another.

Prints what was read and what could not be kept. OUTPUT is written as a whole or not at all. These are the
formats, and how the names of their files end:

\b
{_table()}
"""
