"""`spacy nested-ner vectors`"""

from pathlib import Path
from shlex import quote
from typing import Annotated

from spacy.cli._util import Opt

from .._whole import whole_folder
from ..corpus import Settings
from ..word_vectors import MAX_WORDS, WIDTH, make_word_vectors
from .options import Data, From, Gpu, Lang, SkipBad, Source, check_pipeline_folder, errors_shown

_Transformer = Annotated[str, Opt("--transformer", "-T", help="Name of the transformer, or a folder with one")]
_Output = Annotated[Path, Opt("--output", "-o", help="Folder for the vectors")]
_Width = Annotated[int, Opt("--width", "-w", help="Numbers per word")]
_MaxWords = Annotated[int, Opt("--max-words", help="Most words of DATA that get a vector, the most frequent ones")]
_Force = Annotated[bool, Opt("--force", "-F", help="Replace vectors that are already in the folder")]


def vectors_cli(
    data: Data,
    transformer: _Transformer,
    output: _Output,
    width: _Width = WIDTH,
    max_words: _MaxWords = MAX_WORDS,
    lang: Lang = "en",
    source_format: From = None,
    gpu_id: Gpu = -1,
    skip_bad: SkipBad = False,
    force: _Force = False,
) -> None:
    """Take word vectors from a transformer, for a pipeline that runs without one.

    Words are those of DATA, such as the training data and any other texts like the ones to be predicted, and those that
    the transformer knows. Mentions in DATA are not looked at. `init --vectors` makes a config that uses the vectors.
    """
    with errors_shown():
        check_pipeline_folder(output, force=force)
        settings = Settings(lang=lang, misaligned="drop")
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        docs = (record.doc for record in source.read_all())
        made = make_word_vectors(
            docs, transformer, lang=lang, width=width, max_words=max_words, gpu_id=gpu_id, progress=True
        )
        with whole_folder(output) as folder:
            made.nlp.to_disk(folder)
        print(f"{made.words:,} words of the data, and {made.added:,} others that the transformer knows")
        if made.left_out:
            print(f"{made.left_out:,} rarer words of the data have no vector, see --max-words")
        print(f"{width} numbers per word, which keep {made.kept:.0%} of the variance")
        init = f"spacy nested-ner init config.cfg --train … --dev … --vectors {quote(str(output))}"
        print(f"\nSaved {output}\n\nNext:\n  {init}")
