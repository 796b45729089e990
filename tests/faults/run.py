"""`make faults`: kill every command that writes at random moments, and look at what is left.

PYTHONPATH=tests python -m faults.run --kills 50 [--seed 1] [--only convert train]
"""

import argparse
import tempfile
import time
from pathlib import Path

from faults.killing import COMMANDS, kill_often, worker


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=list(COMMANDS), nargs="*", default=list(COMMANDS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, worker(Path(name)) as running:
        for command in options.only:
            starts = kill_often(command, options.kills, Path(name), running, options.seed)
            said = f"killed in {options.kills} of {starts} runs, old or new"
            print(f"{command}: {said} (seed {options.seed})", flush=True)


if __name__ == "__main__":
    main()
