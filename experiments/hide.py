"""Hide a random share of the mentions of a corpus, to see what a model learns from the rest.

    python experiments/hide.py train.spacy hidden.spacy --share 0.5 --seed 0 --incomplete 0.5

Every mention is hidden with the same probability, whatever its label, length or depth. `--incomplete` is what the docs
say about it: `none` for fully annotated; `true` for missing mentions (the component's `missing_rate` says how many); a
number for the share that is missing.
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, SpanGroup

from spacy_nested_ner.annotation import INCOMPLETE
from spacy_nested_ner.corpus import Settings, read_docs, write_docs


class Hidden:
    """Docs without some of their mentions, and how many were hidden."""

    def __init__(self, docs: Iterable[Doc], share: float, seed: int, incomplete: bool | float | None, key: str = "sc"):
        if not 0 <= share <= 1:
            raise ValueError(f"share is {share}; expected a number from 0 to 1, the share of mentions to hide")
        self.docs = docs
        self.share = share
        self.random = random.Random(seed)
        self.incomplete = incomplete
        self.key = key
        self.n_docs = self.n_mentions = self.n_hidden = 0

    def __iter__(self) -> Iterator[Doc]:
        for doc in self.docs:
            spans = list(doc.spans.get(self.key, []))
            kept = [span for span in spans if self.random.random() >= self.share]
            attrs = {} if self.incomplete is None else {INCOMPLETE: self.incomplete}
            doc.spans[self.key] = SpanGroup(doc, name=self.key, spans=kept, attrs=attrs)
            self.n_docs += 1
            self.n_mentions += len(spans)
            self.n_hidden += len(spans) - len(kept)
            yield doc


def incomplete_of(text: str) -> bool | float | None:
    """The value of `--incomplete`."""
    named = {"none": None, "true": True}
    if text.lower() in named:
        return named[text.lower()]
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}; expected none, true, or a number above 0 and up to 1")
    return value


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", type=Path, help="a corpus in any format of `convert`")
    parser.add_argument("target", type=Path, help="file to write, such as hidden.spacy")
    parser.add_argument("--share", type=float, default=0.5, help="share of the mentions to hide (0.5)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed hides the same mentions (0)")
    parser.add_argument("--incomplete", type=incomplete_of, default=True, help="none, true or a number (true)")
    parser.add_argument("--spans-key", default="sc", help="key of the mentions in doc.spans (sc)")
    options = parser.parse_args(arguments)
    settings = Settings(spans_key=options.spans_key)
    try:
        docs = read_docs(options.source, settings=settings)
        hidden = Hidden(docs, options.share, options.seed, options.incomplete, options.spans_key)
        write_docs(hidden, options.target, settings=settings)
    except (OSError, ValueError) as error:
        sys.exit(f"Error: {error}")
    print(
        f"{options.target}: {hidden.n_docs} documents, hid {hidden.n_hidden} of {hidden.n_mentions} mentions "
        f"({hidden.n_hidden / max(hidden.n_mentions, 1):.1%}), incomplete = {options.incomplete}"
    )


if __name__ == "__main__":
    main()
