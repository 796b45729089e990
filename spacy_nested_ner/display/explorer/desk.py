"""Answers to requests: from messages to texts, scores and drawings, and back."""

import json
from collections.abc import Iterable

from spacy.tokens import Doc

from ...decoders import Mention
from ...decoders.mention import sort_mentions
from ...evaluation.error_types import MentionError
from ...export import mentions
from ..drawing import visible
from . import messages as m
from .comparison import compare
from .corrections import Judgment, Mark, corrected_docs, file_content
from .drawings import Artist
from .exports import Part, as_brackets, as_python
from .scoring import RefusedError, Scored, Scorer
from .sentences import Corpus, Filter, Sentence
from .settings import ViewSettings
from .view import MOST_JOINED, View

# How many parts of a text that decoders analyze differently are drawn, and how many samples are taken of one part.
COMPARED, SAMPLES = 12, 1000


class Desk:
    """Answers requests.

    scorer (Scorer): The pipeline.
    corpus (Corpus | None): Sentences to step through.
    model (str): What the pipeline is called on the command line.
    """

    def __init__(self, scorer: Scorer, corpus: Corpus | None, model: str):
        self._scorer = scorer
        self._corpus = corpus
        self._model = model
        self._artist = Artist(scorer.labels)

    # ---- facts ----

    def facts(self) -> m.ModelFacts:
        scorer = self._scorer
        return m.ModelFacts(
            model=self._model,
            component=scorer.name,
            lang=scorer.nlp.lang or "",
            labels=[m.Label(name=label, color=self._artist.colors[label]) for label in scorer.labels],
            settings=m.Settings.model_construct(**scorer.settings.as_dict()),
            span_limit=scorer.pipe.span_limit,
            max_characters=m.MAX_CHARACTERS,
            max_short_child=m.MAX_SHORT_CHILD,
            corpus=_state(self._corpus) if self._corpus else None,
        )

    def sentences(self, query: m.SentenceQuery) -> m.Sentences:
        corpus = self._known_corpus()
        found = corpus.find(Filter(query.label, query.error, query.entropy, query.order))
        numbers = [sentence.number for sentence in found]
        before, after = _neighbors(numbers, query.around)
        return m.Sentences(
            state=_state(corpus),
            total=len(found),
            rows=[_sentence_row(sentence) for sentence in found[query.offset : query.offset + query.limit]],
            next=after,
            previous=before,
        )

    # ---- views ----

    def analysis(self, request: m.ViewRequest) -> m.Analysis:
        view = self._view(request)
        doc, gold = view.doc, view.gold_doc
        return m.Analysis(
            parts=[m.DrawnPart(**part._asdict()) for part in self._artist.whole(view)],
            mentions=_mention_rows(doc, view.spans_key),
            tokens=[(token.idx, token.idx + len(token)) for token in doc],
            stretches=view.stretches,
            log_probability=view.prediction.log_probability,
            entropy=view.prediction.entropy,
            text=doc.text,
            where=None if request.source.sentence is None else self._sentence(request.source.sentence).where,
            gold=_mention_rows(gold, view.spans_key) if gold is not None else None,
            errors=[_error_row(error) for error in view.errors],
        )

    def comparison(self, request: m.ViewRequest) -> m.ComparisonOfDecoders:
        views, differing, stretches = compare(self._view(request))
        found = [set(view.mentions) for view in views]
        rows = [
            m.DecoderRow(
                decoder=view.settings.decoder,
                mentions=len(own),
                only=len(own.difference(*(other for other in found if other is not own))),
                log_probability=view.prediction.log_probability,
                entropy=view.prediction.entropy,
            )
            for view, own in zip(views, found)
        ]
        shown = [
            m.ComparedStretch(
                start=start,
                end=end,
                drawings=[self._artist.part(view, start, end) for view in views],
                differing=_inside(differing, start, end),
            )
            for start, end in stretches[:COMPARED]
        ]
        left_out = max(0, len(stretches) - COMPARED)
        return m.ComparisonOfDecoders(decoders=rows, differing=len(differing), stretches=shown, left_out=left_out)

    def heat_map(self, request: m.StretchRequest) -> m.HeatMap:
        start, end = request.start, request.end
        if end - start > MOST_JOINED:
            raise RefusedError(f"The stretch has {end - start} tokens; expected at most {MOST_JOINED}.")
        view = self._view(request)
        cells = [
            m.HeatCell(start=cell.start, end=cell.end, labels=list(cell.probabilities.items()))
            for cell in view.heat_map(start, end)
        ]
        words = [visible(token.text) for token in view.scored.doc[start:end]]
        return m.HeatMap(start=start, end=end, words=words, cells=cells)

    def alternatives(self, request: m.StretchRequest) -> m.Alternatives:
        view, start, end = self._view(request), request.start, request.end
        rows = [
            m.AlternativeRow(
                **other.mention._asdict(),
                text=view.doc[other.mention.start : other.mention.end].text,
                probability=other.probability,
                relation=other.relation,
                found=other.found,
            )
            for other in view.alternatives(start, end)
        ]
        own = [(label, view.probability(Mention(start, end, label))) for label in view.labels]
        text = view.doc[start:end].text
        return m.Alternatives(text=text, probabilities=sorted(own, key=lambda row: -row[1]), alternatives=rows)

    def competitors(self, request: m.StretchRequest) -> m.Competitors:
        view, start, end = self._view(request), request.start, request.end
        found = view.competitors(start, end, n_samples=SAMPLES)
        shown = set(found[0].mentions)
        borders = {place for segment in view.scored.segments for place in segment}
        return m.Competitors(
            start=start,
            end=end,
            on_its_own=not {start, end} <= borders,
            samples=SAMPLES,
            analyses=[
                m.CompetitorRow(
                    drawing=self._artist.part(view, start, end, other.mentions),
                    probability=other.probability,
                    share=other.share,
                    added=_named(view.doc, set(other.mentions) - shown),
                    removed=_named(view.doc, shown - set(other.mentions)),
                    differing=_inside(shown ^ set(other.mentions), start, end),
                )
                for other in found
            ],
        )

    # ---- taking it away ----

    def export(self, request: m.ExportRequest) -> m.Export:
        view = self._view(request)
        if request.format == "brackets":
            return m.Export(text=as_brackets(view))
        if request.format == "python":
            source = self._python_source(request.source)
            return m.Export(text=as_python(self._scorer, view.settings, model=self._model, source=source))
        content = {
            "text": view.doc.text,
            "mentions": mentions(view.doc, view.spans_key),
            "log_probability": view.prediction.log_probability,
            "entropy": view.prediction.entropy,
            "settings": view.settings.as_dict(),
        }
        return m.Export(text=json.dumps(content, indent=2, ensure_ascii=False))

    def corrections(self, request: m.CorrectionRequest) -> bytes:
        judgments = [
            Judgment(
                _checked(text.source),
                [Mark(Mention(mark.start, mark.end, mark.label), mark.verdict) for mark in text.marks],
                text.complete,
            )
            for text in request.texts
        ]
        docs = corrected_docs(self._scorer, self._corpus, judgments)
        return file_content(docs, request.format, self._scorer.spans_key)

    # ---- pieces ----

    def _view(self, request: m.ViewRequest) -> View:
        return View.of(self._scorer, self._scored(request.source), ViewSettings(**request.settings.model_dump()))

    def _scored(self, source: m.Source) -> Scored:
        wanted = _checked(source)
        return self._scorer.text(wanted) if isinstance(wanted, str) else self._known_corpus().scored_sentence(wanted)

    def _python_source(self, source: m.Source) -> str | Part:
        wanted = _checked(source)
        if isinstance(wanted, str):
            return wanted
        sentence = self._sentence(wanted)
        scored = self._known_corpus().scored_document(sentence.document)
        return Part(scored.doc, *scored.segments[sentence.segment])

    def _sentence(self, number: int) -> Sentence:
        return self._known_corpus().sentence(number)

    def _known_corpus(self) -> Corpus:
        if self._corpus is None:
            raise RefusedError("There is no corpus: the explorer was started without --data.")
        return self._corpus


def _checked(source: m.Source) -> str | int:
    """A text, or the number of a sentence."""
    if (source.text is None) == (source.sentence is None):
        raise RefusedError("The source has to be either a text or the number of a sentence.")
    if source.text is None:
        assert source.sentence is not None
        return source.sentence
    try:
        source.text.encode()
    except UnicodeEncodeError:
        raise RefusedError("The text has half of a surrogate pair, which is no character. Remove it.") from None
    return source.text


def _state(corpus: Corpus) -> m.CorpusState:
    return m.CorpusState(
        name=corpus.name,
        fingerprint=corpus.fingerprint,
        documents=len(corpus),
        scored=corpus.scored,
        sentences=len(corpus.sentences),
        has_gold=corpus.has_gold,
        failure=corpus.failure,
    )


def _sentence_row(sentence: Sentence) -> m.SentenceRow:
    return m.SentenceRow(
        number=sentence.number,
        where=sentence.where,
        text=sentence.text,
        tokens=sentence.tokens,
        errors=dict(sentence.errors),
        entropy=sentence.entropy,
    )


def _neighbors(numbers: list[int], around: int | None) -> tuple[int | None, int | None]:
    """What is before and after a sentence in a list; if it is not in it, by its number."""
    if around is None or not numbers:
        return None, numbers[0] if numbers else None
    if around in numbers:
        place = numbers.index(around)
        before, after = numbers[:place], numbers[place + 1 :]
    else:
        before = [number for number in numbers if number < around]
        after = [number for number in numbers if number > around]
    return before[-1] if before else None, after[0] if after else None


def _mention_rows(doc: Doc, spans_key: str) -> list[m.MentionRow]:
    return [m.MentionRow.model_construct(**row) for row in mentions(doc, spans_key)]


def _error_row(error: MentionError) -> m.ErrorRow:
    place = error.gold or error.predicted
    assert place is not None
    return m.ErrorRow(
        kind=error.kind,
        start=place.start,
        end=place.end,
        gold=error.gold and error.gold.label,
        predicted=error.predicted and error.predicted.label,
    )


def _named(doc: Doc, mentions: Iterable[Mention]) -> list[tuple[str, str]]:
    """The labels and texts of mentions."""
    return [(mention.label, doc[mention.start : mention.end].text) for mention in sort_mentions(mentions)]


def _inside(mentions: Iterable[Mention], start: int, end: int) -> list[tuple[int, int, str]]:
    """The mentions of a stretch, on its tokens."""
    inside = (mention for mention in mentions if start <= mention.start and mention.end <= end)
    return sorted((mention.start - start, mention.end - start, mention.label) for mention in inside)
