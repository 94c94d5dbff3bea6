"""Balance histograms. Balances are given here; `balances_read` shows whose they depend on."""

from hypothesis import strategies as st

from api.operations.sensitivity.families import Size
from api.operations.sensitivity.people import Human
from tests.privacy_audit.sensitivity.options import Option, audiences, memberships, worlds


def options(size: Size) -> list[Option]:
    edges = [number / size.bins for number in range(size.bins + 1)]
    found = []
    for source, audience in audiences(size).items():
        shares = [*((number + 0.5) / size.bins for number in range(size.bins)), 1.5]
        humans = [
            Human(groups, share=share) for groups in memberships(audience) for share in shares
        ]
        groups = st.sampled_from(memberships(audience))
        larger = st.builds(Human, groups, share=st.floats(0, 2))
        for epsilon, bins in (("1", edges), ("0.5", [0, 1])):
            if bins is edges or source == "upload":
                asked = {"bins": {"edges": bins}, "epsilon": epsilon}
                look = worlds(audience, humans, humans, size)
                name = f"{len(bins) - 1} bin(s), {source}"
                found.append(Option("balance-histogram", name, asked, audience, look, larger))
    return found
