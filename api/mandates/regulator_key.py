"""Key to which two-party runs are sealed: that of the regulator who granted the mandate."""

from sqlmodel import Session

from api.db import MandateRow, ResearcherRow
from api.kernel.errors import NoMandateError


def load_regulator_key(session: Session, mandate: MandateRow) -> dict[str, str]:
    """Return the public key to which runs are sealed, or raise `NoMandateError`."""
    regulator = session.get_one(ResearcherRow, mandate.granted_by)
    jwk = regulator.jwk or {}
    if (jwk.get("kty"), jwk.get("crv")) != ("OKP", "Ed25519"):
        raise NoMandateError(
            "Two-party runs are sealed to the regulator who granted the mandate, who has no Ed25519"
            " key. Nothing was charged. Request a mandate from a regulator who has one."
        )
    return {name: str(jwk[name]) for name in ("kty", "crv", "x")}
