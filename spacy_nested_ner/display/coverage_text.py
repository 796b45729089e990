"""What search spaces keep of a corpus as text: tables, a recommendation for the config, and what is lost."""

import json

from ..decoders import Decoder
from ..decoders.auto import NamedSpace, brief
from ..evaluation.coverage import Coverage
from .tables import percent, render_table


def describe_coverage(coverage: Coverage) -> str:
    """Maximum recall of all spaces, the recommended one, and examples of lost mentions."""
    space = coverage.recommend()
    half = len(coverage.spaces) // 2
    sections = [
        "Maximum recall in %, one label per span\n" + _table(coverage, coverage.spaces[:half]),
        "Maximum recall in %, several labels per span (multi_label)\n" + _table(coverage, coverage.spaces[half:]),
        _recommendation(coverage, space),
        *_examples(coverage, space),
    ]
    return "\n\n".join(sections)


def _table(coverage: Coverage, spaces: list[NamedSpace]) -> str:
    mentions = coverage.mentions
    lost = (mentions.total() - coverage.kept(space).total() for space in spaces)
    rows = [
        ("all", f"{mentions.total():,}", *(percent(coverage.recall(space), 2) for space in spaces)),
        ("  lost", "", *(f"{n:,}" for n in lost)),
    ]
    for label, n in mentions.most_common():
        rows.append((label, f"{n:,}", *(percent(coverage.recall(space, label), 2) for space in spaces)))
    return render_table(rows, ["", "mentions", *(space.name for space in spaces)])


def _recommendation(coverage: Coverage, space: NamedSpace) -> str:
    lines = []
    if coverage.across.count:
        lines.append(
            f"Across a sentence boundary, lost everywhere: {coverage.across}\n"
            f"  A pipeline that sets no sentence boundaries decodes documents as a whole and can find them;\n"
            f"  to see what it needs, leave --use-sentences out"
        )
    if coverage.too_long:
        lines.append(f"Longer than {coverage.limit} tokens, lost everywhere: {coverage.too_long:,}")
        choice = coverage.limit_choice
        if choice is not None and coverage.max_span_length == "auto":
            lines.append(
                f'  max_span_length = "auto" leaves them out; max_span_length = {choice.longest} keeps them, '
                f"and is slower"
            )
    reason = f"the cheapest with at least {100 * coverage.min_coverage:g} %"
    most = coverage.recall(coverage.spaces[-1])
    if most < 1:
        reason += f" of the {percent(most, 2)} % that are possible"
    lines.append(f"Recommended: {percent(coverage.recall(space), 2)} %, {reason}; AutoDecoder chooses it by itself")
    return "\n".join([*lines, *_config(space.decoder)])


def _config(decoder: Decoder) -> list[str]:
    """The decoder as a config names it. The limit on length is a setting of the component."""
    settings = decoder.settings()
    name = settings.pop("decoder")
    return [
        "[components.nested_ner.decoder]",
        f'@misc = "spacy-nested-ner.{name}.v1"',
        *(f"{key} = {json.dumps(value)}" for key, value in settings.items() if key != "max_span_length"),
    ]


def _examples(coverage: Coverage, space: NamedSpace) -> list[str]:
    """What is still lost, and what the next cheaper decoder would lose as well."""
    groups = {"Lost by the recommended decoder": coverage.lost(space)}
    cheaper = coverage.next_cheaper(space)
    if cheaper is not None:
        groups[f"Also lost by {brief(cheaper.decoder)}"] = coverage.lost(cheaper, kept_by=space)
    return [
        "\n".join([title, *(f"  {example.where}\n    {example.sentence}" for example in examples)])
        for title, examples in groups.items()
        if examples
    ]
