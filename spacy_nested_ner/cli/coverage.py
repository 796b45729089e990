"""`spacy nested-ner coverage`"""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Opt

from ..corpus import Settings
from ..display.coverage_text import describe_coverage
from ..evaluation.coverage import measure_coverage
from .options import (
    Data,
    From,
    Lang,
    LineSentences,
    Misaligned,
    SkipBad,
    Source,
    SpansKey,
    errors_shown,
    write_json,
)

_MinCoverage = Annotated[
    float, Opt("--min-coverage", "-c", help="Recommend the cheapest decoder that keeps this share of mentions")
]
_Examples = Annotated[int, Opt("--examples", "-n", min=0, help="How many examples of lost mentions to show")]
_MaxSpanLength = Annotated[
    int | None,
    Opt(
        "--max-span-length",
        "-w",
        help='Count mentions of more tokens as lost, to see what such a limit costs [default: what "auto" chooses]',
        show_default=False,
    ),
]
_UseSentences = Annotated[
    bool,
    Opt(
        "--use-sentences/--no-use-sentences",
        help="Decode sentence by sentence, as a pipeline with sentence boundaries does, or every document as a whole",
    ),
]
_Json = Annotated[Path | None, Opt("--json", "-j", help="File for all numbers")]


def coverage_cli(
    data: Data,
    source_format: From = None,
    min_coverage: _MinCoverage = 0.999,
    examples: _Examples = 3,
    max_span_length: _MaxSpanLength = None,
    use_sentences: _UseSentences = False,
    json_path: _Json = None,
    spans_key: SpansKey = "sc",
    lang: Lang = "en",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Show what each decoder can find in a corpus at best, and recommend one.

    Maximum recall is the share of mentions inside the search space of a decoder. c is the setting
    max_short_child of the quadratic decoder. AutoDecoder, the default, chooses the recommended decoder.
    """
    with errors_shown():
        settings = Settings(spans_key=spans_key, lang=lang, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        coverage = measure_coverage(
            source.read_all(),
            spans_key=spans_key,
            use_sentences=use_sentences,
            max_span_length="auto" if max_span_length is None else max_span_length,
            min_coverage=min_coverage,
            n_examples=examples,
        )
        source.check_mentions_found()
        print(f"{source.report}\n\n{describe_coverage(coverage)}")
        if json_path is not None:
            write_json(json_path, coverage.as_dict())
            print(f"\nSaved {json_path}")
