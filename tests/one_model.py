"""The model that test platforms state for all people."""

from collections.abc import Mapping, Sequence


class OneModel:
    """The same for ever, with scores from 0 to 1 and nothing to freeze."""

    @property
    def model_digest(self) -> str:
        return "sha256:" + "0" * 64

    @property
    def score_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return {}
