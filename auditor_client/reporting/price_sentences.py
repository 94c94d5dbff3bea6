"""Price of a release in sentences: the privacy loss of one person, and the noise of each part."""

from collections.abc import Iterator

from openapi.resources import Price


def both_relations(price: Price) -> str:
    """Return the privacy loss of one person under both relations."""
    letter, both = ("ρ", price.rho) if price.epsilon is None else ("ε", price.epsilon)
    return (
        f"If one person is added or removed: {letter} = {both.add_remove}. If one person’s data"
        f" change in any way: {letter} = {both.change_one}."
    )


def noise_of_parts(price: Price) -> Iterator[str]:
    """Yield the noise of each part, in the units of its table."""
    for part in price.parts:
        yield (
            f"Noise on the {part.name}: {part.mechanism.replace('-', ' ')}, scale"
            f" {_scale(part.noise_scale)} in the table’s own units."
        )


def _scale(value: float) -> str:
    """Return a scale without an exponent."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:g}"
