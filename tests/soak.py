"""`make soak`: memory stays where it is over many decodes and hours of `nlp.pipe`.

    python tests/soak.py --decodes 1000000 --seconds 3600

The memory of the process is measured twenty times, at equal distances. From the fifth on, it may grow by no more than
ALLOWED in all.
"""

import argparse
import gc
import itertools
import sys
import time
from pathlib import Path

import numpy as np

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import read_docs
from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, PackedScores, QuadraticDecoder

ROUNDS = 20
WARM = 5
ALLOWED = 4 << 20
TEXTS = Path(__file__).parents[1] / "assets" / "sample" / "test.txt"


def memory():
    """What the process has in memory, in bytes."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise OSError("this system does not say how much memory a process has")


def soak_decoders(decodes):
    """All methods of decoders, on segments of all sizes. Yields the number of segments so far, after each round."""
    random = np.random.default_rng(0)
    decoders = [
        FlatDecoder(),
        QuadraticDecoder(max_short_child=2, max_span_length=9),
        QuadraticDecoder(),
        CubicDecoder(multi_label=True),
    ]
    batches = [
        [random.normal(size=(n, n, 4)).astype(dtype) for n in random.integers(0, 30, size=50)]
        for dtype in ("float32", "float64")
    ]
    packed = [PackedScores.pack(batch) for batch in batches]
    done = 0
    for number in range(1, ROUNDS + 1):
        while done < decodes * number / ROUNDS:
            for decoder, scores in itertools.product(decoders, packed):
                decoder.decode(scores)
                decoder.log_partition_and_marginals(scores)
                decoder.analyze(scores, threshold=0.3, temperature=1.5)
                done += 3 * len(scores)
            dense = batches[0][:3]
            for decoder in decoders:
                decoder.decode(dense)
                decoder.k_best(dense, 3)
                decoder.sample(dense, 3)
                decoder.entropy(dense)
                done += 4 * len(dense)
        yield done


def soak_pipeline(seconds):
    """The sample pipeline on texts that repeat. Yields the number of texts so far, after each round."""
    nlp = load_sample()
    texts = [doc.text for doc in read_docs(TEXTS)]
    start, done = time.monotonic(), 0
    for number in range(1, ROUNDS + 1):
        while time.monotonic() - start < seconds * number / ROUNDS:
            done += sum(1 for _ in nlp.pipe(texts, batch_size=8))
        yield done


def watch(name, rounds):
    """Print how memory develops, and return whether it stays where it is."""
    start, sizes, done = time.monotonic(), [], 0
    for done in rounds:
        sizes.append(memory())
        print(f"  {done:>12,} {sizes[-1] / 2**20:9.1f} MiB", flush=True)
    grown = sizes[-1] - sizes[WARM - 1]
    print(
        f"{name}: {done:,} in {time.monotonic() - start:,.0f} s, memory {sizes[WARM - 1] / 2**20:.1f} MiB → "
        f"{sizes[-1] / 2**20:.1f} MiB ({grown / 2**20:+.2f} MiB)"
    )
    return grown <= ALLOWED


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decodes", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3600)
    options = parser.parse_args()
    flat = [
        watch("segments", soak_decoders(options.decodes)),
        watch("texts through nlp.pipe", soak_pipeline(options.seconds)),
    ]
    sys.exit(not all(flat))


if __name__ == "__main__":
    main()
