"""How scores are decoded: what a user of the page can change."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from ...decoders import CubicDecoder, Decoder, FlatDecoder, QuadraticDecoder
from ...decoders.decoder import check_temperature, check_threshold
from ...pipeline.component import NestedNER

Kind = Literal["flat", "quadratic", "cubic"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_NAMES: dict[str, Kind] = {FlatDecoder.name: "flat", QuadraticDecoder.name: "quadratic", CubicDecoder.name: "cubic"}


@dataclass(frozen=True)
class ViewSettings:
    """With what scores are decoded.

    decoder (Kind): The search space.
    max_short_child (int): Of the quadratic decoder; the others ignore it.
    multi_label (bool): Allow several labels per span.
    threshold (float | None): None for the most probable analysis.
    temperature (float): What scores are divided by.
    """

    decoder: Kind = "quadratic"
    max_short_child: int = 1
    multi_label: bool = False
    threshold: float | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        check_temperature(self.temperature)

    @classmethod
    def of(cls, pipe: NestedNER) -> "ViewSettings":
        """The settings of a component."""
        decoder = pipe.decoder
        short = decoder.max_short_child if isinstance(decoder, QuadraticDecoder) else 1
        return cls(_NAMES[decoder.name], short, decoder.multi_label, pipe.threshold, pipe.temperature)

    def make_decoder(self, max_span_length: int | None = None) -> Decoder:
        """The decoder with these settings."""
        if self.decoder == "flat":
            return FlatDecoder(multi_label=self.multi_label, max_span_length=max_span_length)
        if self.decoder == "cubic":
            return CubicDecoder(multi_label=self.multi_label, max_span_length=max_span_length)
        return QuadraticDecoder(
            max_short_child=self.max_short_child, multi_label=self.multi_label, max_span_length=max_span_length
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
