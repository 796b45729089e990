"""Peak memory of training on one long document: when the pipeline is ready, in prediction, in an update of tok2vec
alone, and in an update of the whole pipeline. With a corpus, also what its span limit saves: the time of nested_ner by
itself, with the limit that "auto" chooses and with that of the longest mention.

    python benchmarks/long_document.py [--corpus corpus/litbank/train.spacy] [--tokens 50000] [--update-only] [--json]

The default config, without sentence boundaries, so that the document is one segment. It consists of the documents of a
corpus, repeated, which also decide the span limit; or of made-up words, with the limit that "auto" chooses for LitBank.
Peaks are of the whole process so far (ru_maxrss), so a later one is never lower. Writes long_document.json and
long_document.txt.
"""

import argparse
import json
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from _measure import ALONE, RESULTS, describe, load_average, machine, table, write
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from thinc.api import fix_random_seed

CONFIG = Path(__file__).parent.parent / "configs" / "tok2vec.cfg"
# What "auto" chooses for LitBank.
LIMIT = 46
LABELS = ("PER", "FAC", "LOC", "GPE", "ORG", "VEH")

Mentions = list[tuple[int, int, str]]


def made_up(tokens: int) -> tuple[list[str], Mentions]:
    """Words with a vocabulary that grows as in books, and mentions inside mentions."""
    chance = random.Random(0)
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    words = ["".join(chance.choices(syllables, k=int(chance.paretovariate(1.5)) % 5 + 1)) for _ in range(tokens)]
    mentions: Mentions = []
    for start in range(0, tokens - LIMIT, 20):
        length = chance.choice((3, 4, 5, 8, 12))
        inner = start + length - 2
        mentions += [(start, start + length, chance.choice(LABELS)), (inner, inner + 2, chance.choice(LABELS))]
    return words, mentions


def repeated(docs: list[Doc], tokens: int) -> tuple[list[str], Mentions]:
    """The words and mentions of some documents, again and again."""
    words: list[str] = []
    mentions: Mentions = []
    for doc in cycle(docs):
        first = len(words)
        if first >= tokens:
            break
        words += [token.text for token in doc]
        mentions += [(first + span.start, first + span.end, span.label_) for span in doc.spans["sc"]]
    return words[:tokens], [mention for mention in mentions if mention[1] <= tokens]


def make_example(nlp: Language, words: list[str], mentions: Mentions) -> Example:
    reference = Doc(nlp.vocab, words=words)
    reference.spans["sc"] = [Span(reference, start, end, label=label) for start, end, label in mentions]
    return Example(Doc(nlp.vocab, words=words), reference)


def make_pipeline(limit: int | None) -> Language:
    settings = {} if limit is None else {"components.nested_ner.max_span_length": limit}
    config = load_config(CONFIG, overrides={"paths.train": "-", "paths.dev": "-", **settings})
    return load_model_from_config(config, auto_fill=True)


def peak() -> int:
    """Megabytes that this process has had at most."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(used / 2**20 if sys.platform == "darwin" else used / 1024)


def measure(corpus: Path | None, tokens: int, *, update_only: bool) -> Iterator[tuple[str, int, float]]:
    """What was done, the peak so far in MB, and microseconds of CPU time per token."""
    fix_random_seed(0)
    nlp = make_pipeline(LIMIT if corpus is None else None)
    if corpus is None:
        words, mentions = made_up(tokens)
        sample = [make_example(nlp, words[:2000], [mention for mention in mentions if mention[1] <= 2000])]
    else:
        docs = list(DocBin().from_disk(corpus).get_docs(nlp.vocab))
        words, mentions = repeated(docs, tokens)
        sample = [make_example(nlp, *repeated([doc], len(doc))) for doc in docs]
    optimizer = nlp.initialize(lambda: sample)
    example = make_example(nlp, words, mentions)
    print(f"{tokens:,} tokens, max_span_length = {nlp.get_pipe('nested_ner').span_limit}", file=sys.stderr)
    yield "ready", peak(), 0.0
    tok2vec = nlp.get_pipe("tok2vec")
    steps = {
        "prediction": lambda: list(nlp.pipe([example.predicted.copy()])),
        "update of tok2vec alone": lambda: _update_alone(tok2vec.model, example.predicted),
        "update": lambda: nlp.update([example], sgd=optimizer),
    }
    for name, work in steps.items():
        if update_only and name != "update":
            continue
        seconds = _seconds(work)
        yield name, peak(), seconds / tokens * 1e6
    choice = nlp.get_pipe("nested_ner").span_limit_choice
    if choice is not None and not update_only:
        # The vectors of tok2vec stay in doc.tensor, where nested_ner finds them.
        with nlp.select_pipes(enable=["tok2vec"]):
            doc = nlp(example.predicted.copy())
        for limit in (choice.limit, choice.longest):
            nlp.get_pipe("nested_ner").cfg["max_span_length"] = limit
            seconds = min(_seconds(lambda: nlp.get_pipe("nested_ner")(doc)) for _ in range(3))
            yield f"{ALONE} {limit}", peak(), seconds / tokens * 1e6


def _seconds(work: Callable[[], object]) -> float:
    """CPU time."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _update_alone(model, doc: Doc) -> None:
    vectors, backprop = model.begin_update([doc])
    backprop(vectors)
    for node in model.walk():
        for name in node.grad_names:
            node.set_grad(name, node.ops.alloc(node.get_grad(name).shape))


def main() -> None:
    parser = argparse.ArgumentParser(description="Peak memory of training on one long document.")
    parser.add_argument("--corpus", type=Path, help="a .spacy file with mentions; otherwise made-up words")
    parser.add_argument("--tokens", type=int, default=50_000, help="of the document")
    parser.add_argument("--update-only", action="store_true", help="leave out prediction and tok2vec alone")
    parser.add_argument("--json", action="store_true", help="print the peaks as JSON, and write nothing")
    parser.add_argument("--output", type=Path, default=RESULTS)
    wanted = parser.parse_args()
    before = load_average()
    warnings.filterwarnings("ignore", message="nested_ner cannot learn", category=UserWarning)
    rows = list(measure(wanted.corpus, wanted.tokens, update_only=wanted.update_only))
    if wanted.json:
        print(json.dumps({name: megabytes for name, megabytes, _ in rows}))
        return
    lines = [[name, f"{megabytes:,}", f"{microseconds:.1f}"] for name, megabytes, microseconds in rows]
    load = {"before": before, "after": load_average()}
    text = f"{describe(load)}\n\n{table([f'{wanted.tokens:,} tokens', 'peak, MB', 'µs per token'], lines)}"
    write(wanted.output, "long_document", {"machine": machine(), "load": load, "rows": rows}, text)
    print(text)


if __name__ == "__main__":
    main()
