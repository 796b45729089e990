"""`spacy nested-ner coverage`"""

import json
from pathlib import Path
from typing import Annotated

from spacy.cli._util import Opt

from ..corpus import Settings
from ..decoders import Decoder
from ..decoders.auto import Space
from ..display.tables import percent, render_table
from ..evaluation.coverage import Coverage, measure_coverage
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
    Opt("--max-span-length", "-w", help="Count longer mentions as lost: what such a limit costs"),
]
_UseSentences = Annotated[
    bool,
    Opt("--use-sentences/--no-use-sentences", help="Decode sentence by sentence, or every document as a whole"),
]
_Json = Annotated[Path | None, Opt("--json", "-j", help="File for all the numbers")]


def coverage_cli(
    data: Data,
    source_format: From = None,
    min_coverage: _MinCoverage = 0.999,
    examples: _Examples = 3,
    max_span_length: _MaxSpanLength = None,
    use_sentences: _UseSentences = True,
    json_path: _Json = None,
    spans_key: SpansKey = "sc",
    lang: Lang = "en",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Show what each decoder can find in a corpus at best, and recommend one.

    Maximum recall is the share of mentions inside the search space of a decoder. c is the setting
    max_short_child of the quadratic decoder.
    """
    with errors_shown():
        settings = Settings(spans_key=spans_key, lang=lang, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        coverage = measure_coverage(
            source.read_all(),
            spans_key=spans_key,
            use_sentences=use_sentences,
            max_span_length=max_span_length,
            min_coverage=min_coverage,
            n_examples=examples,
        )
        source.check_mentions_found()
        space = coverage.recommend()
        print(
            "\n\n".join([str(source.report), *_tables(coverage), _advice(coverage, space), *_examples(coverage, space)])
        )
        if json_path is not None:
            write_json(json_path, coverage.as_dict())
            print(f"\nSaved {json_path}")


def _tables(coverage: Coverage) -> list[str]:
    half = len(coverage.spaces) // 2
    return [
        "Maximum recall in %, one label a span\n" + _table(coverage, coverage.spaces[:half]),
        "Maximum recall in %, several labels a span (multi_label)\n" + _table(coverage, coverage.spaces[half:]),
    ]


def _table(coverage: Coverage, spaces: list[Space]) -> str:
    mentions = coverage.mentions
    lost = (mentions.total() - coverage.kept(space).total() for space in spaces)
    rows = [
        ("all", f"{mentions.total():,}", *(percent(coverage.recall(space), 2) for space in spaces)),
        ("  lost", "", *(f"{n:,}" for n in lost)),
    ]
    for label, n in mentions.most_common():
        rows.append((label, f"{n:,}", *(percent(coverage.recall(space, label), 2) for space in spaces)))
    return render_table(rows, ["", "mentions", *(space.name for space in spaces)])


def _advice(coverage: Coverage, space: Space) -> str:
    lines = []
    if coverage.across.count:
        lines.append(
            f"Across a sentence boundary, lost everywhere: {coverage.across}\n"
            f"  A pipeline that sets no sentence boundaries decodes documents as a whole, and can find them;\n"
            f"  for what it needs, see --no-use-sentences"
        )
    if coverage.too_long:
        lines.append(f"Longer than {coverage.max_span_length} tokens, lost everywhere: {coverage.too_long:,}")
    recall, wanted = coverage.recall(space), f"{100 * coverage.min_coverage:g} %"
    enough = recall >= coverage.min_coverage
    reason = f"the cheapest with at least {wanted}" if enough else f"the best there is; none has {wanted}"
    return "\n".join([*lines, f"Recommended: {percent(recall, 2)} %, {reason}", *_config(space.decoder)])


def _config(decoder: Decoder) -> list[str]:
    """The decoder as it stands in a config; the limit on length is a setting of the component."""
    settings = {name: value for name, value in vars(decoder).items() if name != "max_span_length"}
    return [
        "[components.nested_ner.decoder]",
        f'@misc = "spacy-nested-ner.{type(decoder).__name__}.v1"',
        *(f"{name} = {json.dumps(value)}" for name, value in settings.items()),
    ]


def _examples(coverage: Coverage, space: Space) -> list[str]:
    """What is still lost, and what the next cheaper decoder would lose besides."""
    groups = {"Lost by the recommended decoder": coverage.lost(space)}
    i = coverage.spaces.index(space)
    if i > 0:
        cheaper = coverage.spaces[i - 1]
        groups[f"Lost by {cheaper.decoder} besides"] = coverage.lost(cheaper, kept_by=space)
    return [
        "\n".join([title, *(f"  {example.where}\n    {example.sentence}" for example in examples)])
        for title, examples in groups.items()
        if examples
    ]
