"""Runs commands of spaCy, and kills them when asked to. Everything is imported once; every command is a process of its
own, forked from this one.

Reads requests from standard input, one per line: {"arguments": […], "delay": seconds or null}.
Answers with the exit status and the seconds that it took.
"""

import json
import os
import signal
import sys
import time

import spacy
import spacy.cli
from faults.killing import weights

import spacy_nested_ner.cli
import spacy_nested_ner.jobs.collection
import spacy_nested_ner.jobs.local_engine
import spacy_nested_ner.pipeline.component  # noqa: F401
from spacy_nested_ner.pipeline.saving import save_whole


def _run(arguments):
    """In the child: never returns."""
    null = os.open(os.devnull, os.O_WRONLY)
    log = os.open(os.environ["FAULTS_LOG"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(null, 1)
    os.dup2(log, 2)
    from spacy.cli._util import app

    status = 1
    try:
        app(arguments, standalone_mode=False)
        status = 0
    except SystemExit as error:
        status = error.code or 0
    except BaseException as error:  # as Python does
        import traceback

        traceback.print_exc()
        status = getattr(error, "exit_code", 1)
    sys.stderr.flush()
    os._exit(int(status))


def _attempt(arguments, delay):
    start = time.monotonic()
    child = os.fork()
    if not child:
        _run(arguments)
    ended, status = 0, 0
    while delay is not None and not ended and time.monotonic() - start < delay:
        time.sleep(0.002)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        if delay is not None:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return {"status": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - start}


def _record_weights(record):
    """A callback for training that appends the weights of every checkpoint to a file."""

    def keep(nlp):
        whole = save_whole(nlp)
        save = whole.to_disk

        def to_disk(path):
            save(path)
            with open(record, "a") as file:
                print(json.dumps(weights(path)), file=file)

        whole.to_disk = to_disk
        return whole

    return keep


def main():
    answers = os.fdopen(os.dup(1), "w")
    spacy.registry.callbacks("faults.record_weights.v1", func=_record_weights)
    spacy.blank("en")  # imports what is installed along with spaCy

    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(_attempt(**request)), file=answers, flush=True)


if __name__ == "__main__":
    main()
