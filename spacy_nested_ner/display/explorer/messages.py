"""What the page and the server send each other. The description of the endpoints, /openapi.json, is made from this."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...evaluation.error_types import Kind as ErrorKind
from .corrections import FileFormat, Verdict
from .sentences import Order
from .settings import Kind
from .view import Relation

# Limits of requests; the page gets them with the facts about the model.
MAX_CHARACTERS = 100_000
MAX_SHORT_CHILD = 50
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 100.0
MAX_JUDGMENTS = 2_000
MAX_MARKS = 2_000
MAX_LABEL = 200
MAX_ROWS = 200

Token = Annotated[int, Field(ge=0, le=MAX_CHARACTERS)]
Probability = Annotated[float, Field(ge=0, le=1)]


class Message(BaseModel):
    """Without fields that nobody knows, and without words for numbers."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Failure(BaseModel):
    """Why a request was refused or failed."""

    error: str = Field(description="A sentence for people", examples=["There is no sentence 99."])


# ---- requests ----


class Source(Message):
    """A text, or a sentence of the corpus."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["text"], "properties": {"text": {"type": "string"}}},
                {"required": ["sentence"], "properties": {"sentence": {"type": "integer"}}},
            ]
        }
    )

    text: Annotated[str, Field(max_length=MAX_CHARACTERS)] | None = Field(None, description="A text")
    sentence: Annotated[int, Field(ge=0, le=2**53)] | None = Field(None, description="The number of a sentence")


class Settings(Message):
    """With what the scores are decoded."""

    decoder: Kind = Field(description="The search space")
    max_short_child: int = Field(1, ge=1, le=MAX_SHORT_CHILD, description="Of the quadratic decoder")
    multi_label: bool = Field(False, description="Whether a span may have several labels")
    threshold: float | None = Field(None, ge=0, le=1, description="null: the most probable analysis")
    temperature: float = Field(1.0, ge=MIN_TEMPERATURE, le=MAX_TEMPERATURE, description="What scores are divided by")


class ViewRequest(Message):
    """Decode a text."""

    source: Source
    settings: Settings


class StretchRequest(ViewRequest):
    """Look into some tokens of a text."""

    start: Token
    end: Token = Field(description="The token after the last one")


class ExportRequest(ViewRequest):
    """Take the view away."""

    format: Literal["json", "brackets", "python"]


class MarkedMention(Message):
    """A mention that was judged."""

    start: Token
    end: Token
    label: str = Field(max_length=MAX_LABEL, description='"" is any label, for what is wrong')
    verdict: Verdict


class MarkedText(Message):
    """What is known of a text."""

    source: Source
    marks: Annotated[list[MarkedMention], Field(max_length=MAX_MARKS)]
    complete: bool = Field(False, description="Whether there are no other mentions")


class CorrectionRequest(Message):
    """Make a file to train from."""

    texts: Annotated[list[MarkedText], Field(min_length=1, max_length=MAX_JUDGMENTS)]
    format: FileFormat


# ---- responses ----


class Label(BaseModel):
    name: str
    color: str = Field(description="The class of the drawing that has its color")


class CorpusState(BaseModel):
    """How much of the corpus is known."""

    name: str
    fingerprint: str = Field(description="Differs between corpora of the same name: numbers of sentences belong to it")
    documents: int
    scored: int = Field(description="How many of the documents are ready")
    sentences: int = Field(description="How many sentences are ready")
    has_gold: bool
    failure: str | None = None


class ModelFacts(BaseModel):
    """The pipeline, and what may be asked of it."""

    model: str
    component: str
    lang: str
    labels: list[Label]
    settings: Settings = Field(description="Of the component")
    span_limit: int | None = Field(description="Tokens of the longest mention")
    max_characters: int
    max_short_child: int
    corpus: CorpusState | None


class MentionRow(BaseModel):
    """A mention, as `spacy_nested_ner.mentions` gives it."""

    text: str
    label: str
    start: int
    end: int
    start_char: int
    end_char: int
    probability: float | None
    depth: int
    parent: int | None
    children: list[int]


class ErrorRow(BaseModel):
    """Where gold and prediction differ."""

    kind: ErrorKind
    start: int
    end: int
    gold: str | None = Field(description="The gold label")
    predicted: str | None = Field(description="The predicted label")


class DrawnPart(BaseModel):
    """A part of a text, with its mentions."""

    start: int
    end: int
    drawing: str = Field(description="HTML; tokens are counted from the first one of the part")


class Analysis(BaseModel):
    """What was found in a text."""

    parts: list[DrawnPart] = Field(description="The drawing; short texts have one part")
    mentions: list[MentionRow]
    tokens: list[tuple[int, int]] = Field(description="The characters of every token")
    stretches: list[tuple[int, int]] = Field(description="The parts that can be looked into")
    log_probability: float
    entropy: float
    text: str
    where: str | None = Field(None, description="Of a sentence: where it comes from")
    gold: list[MentionRow] | None = None
    errors: list[ErrorRow] = []


class HeatCell(BaseModel):
    """A span with its labels, the most probable one first."""

    start: int
    end: int
    labels: list[tuple[str, float]]


class HeatMap(BaseModel):
    start: int
    end: int
    words: list[str]
    cells: list[HeatCell]


class AlternativeRow(BaseModel):
    """A mention that was likely."""

    start: int
    end: int
    label: str
    text: str
    probability: float
    relation: Relation
    found: bool


class Alternatives(BaseModel):
    text: str
    probabilities: list[tuple[str, float]] = Field(description="Of all labels on this very span")
    alternatives: list[AlternativeRow]


class CompetitorRow(BaseModel):
    """An analysis of a stretch."""

    drawing: str = Field(description="HTML")
    probability: float
    share: float = Field(description="Of the samples")
    added: list[tuple[str, str]] = Field(description="Label and text of what the analysis on the page does not have")
    removed: list[tuple[str, str]] = Field(description="Label and text of what only the analysis on the page has")
    differing: list[tuple[int, int, str]] = Field(description="On the tokens of the stretch")


class Competitors(BaseModel):
    start: int
    end: int
    on_its_own: bool = Field(description="Given that no mention crosses the borders of the stretch")
    samples: int
    analyses: list[CompetitorRow]


class DecoderRow(BaseModel):
    decoder: Kind
    mentions: int
    only: int = Field(description="Mentions that no other decoder finds")
    log_probability: float
    entropy: float


class ComparedStretch(BaseModel):
    start: int
    end: int
    drawings: list[str] = Field(description="HTML, one per decoder")
    differing: list[tuple[int, int, str]] = Field(description="On the tokens of the stretch")


class ComparisonOfDecoders(BaseModel):
    decoders: list[DecoderRow]
    differing: int
    stretches: list[ComparedStretch]
    left_out: int = Field(description="How many more parts of the text differ")


class SentenceRow(BaseModel):
    """A sentence of the corpus."""

    number: int
    where: str
    text: str
    tokens: int
    errors: dict[str, int]
    entropy: float


class Sentences(BaseModel):
    state: CorpusState
    total: int = Field(description="How many sentences fit")
    rows: list[SentenceRow]
    next: int | None = Field(None, description="The first sentence that fits after the one asked about")
    previous: int | None = Field(None, description="The last sentence that fits before it")


class SentenceQuery(Message):
    """Which sentences are wanted."""

    model_config = ConfigDict(extra="forbid", strict=False)  # in an address, everything is a word

    label: str | None = Field(None, max_length=MAX_LABEL)
    error: Literal["any", "missed", "spurious", "label", "boundary"] | None = None
    entropy: float = Field(0.0, ge=0, le=1e9, description="At least this, in nats")
    order: Order = "corpus"
    offset: int = Field(0, ge=0, le=2**53)
    limit: int = Field(50, ge=0, le=MAX_ROWS)
    around: int | None = Field(None, ge=0, le=2**53, description="A sentence to find the neighbors of")


class Export(BaseModel):
    text: str
