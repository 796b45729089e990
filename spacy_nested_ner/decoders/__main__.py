"""python -m spacy_nested_ner.decoders: the decoders at work on one sentence."""

import numpy as np

from . import CubicDecoder, FlatDecoder, Mention, QuadraticDecoder
from .brackets import bracket_words

WORDS = "Chair of the Committee of Ministers of the Council of Europe".split()
LABELS = ["GPE", "ORG", "PER"]
GOLD = [(0, 11, "PER"), (2, 11, "ORG"), (5, 11, "PER"), (7, 11, "ORG"), (10, 11, "GPE")]


def main() -> None:
    n = len(WORDS)
    scores = np.random.default_rng(0).normal(-5.0, 1.0, size=(n, n, len(LABELS))).astype("float32")
    for start, end, label in GOLD:
        scores[start, end - 1, LABELS.index(label)] = 2.0
    for decoder in (FlatDecoder(), QuadraticDecoder(), CubicDecoder()):
        mentions = decoder.decode(scores)
        log_z, marginals = decoder.log_partition_and_marginals(scores)
        weight = sum(float(scores[m.start, m.end - 1, m.label]) for m in mentions)
        print(f"\n{decoder!r}")
        named = [Mention(m.start, m.end, LABELS[m.label]) for m in mentions]
        print(f"  {' '.join(bracket_words(WORDS, named))}")
        print(f"  log Z {log_z:.3f}, this analysis {np.exp(weight - log_z):.1%}, entropy {decoder.entropy(scores):.2f}")
        for m in mentions:
            print(
                f"  {marginals[m.start, m.end - 1, m.label]:6.1%} {LABELS[m.label]} {' '.join(WORDS[m.start : m.end])}"
            )
    print("\nHow the quadratic decoder derives it:")
    print(QuadraticDecoder().derivation(GOLD, n))


if __name__ == "__main__":
    main()
