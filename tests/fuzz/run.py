"""`make fuzz`: make up cases and check them until time is over. What fails is kept in tests/fuzz/kept.

PYTHONPATH=tests python -m fuzz.run --seconds 600 [--seed 1] [--only reading]
"""

import argparse
import resource
import signal
import sys
import time
import traceback
from collections import Counter

import numpy as np
from fuzz.cases import TARGETS, save

# A case that takes longer hangs; a process that takes more memory was led to.
SECONDS_PER_CASE = 60
BYTES = 6 << 30


def fuzz(seconds, seed, only):
    """Returns how many cases were checked, and how many failed, by target."""
    checked, failed = Counter(), Counter()
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        for name in only:
            case = TARGETS[name].make(np.random.default_rng([seed, number]))
            signal.alarm(SECONDS_PER_CASE)
            try:
                TARGETS[name].check(case)
            except Exception:
                failed[name] += 1
                path = save(name, case, f"{seed}_{number}")
                print(f"\n{path}", file=sys.stderr)
                traceback.print_exc(limit=-3)
            signal.alarm(0)
            checked[name] += 1
        number += 1
    return checked, failed


def _hang(*_):
    raise TimeoutError(f"a case took more than {SECONDS_PER_CASE} seconds")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=list(TARGETS), nargs="*", default=list(TARGETS))
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    signal.signal(signal.SIGALRM, _hang)
    checked, failed = fuzz(options.seconds, options.seed, options.only)
    for name in options.only:
        print(f"{name}: {checked[name]:,} cases, {failed[name]} failed (seed {options.seed})")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
