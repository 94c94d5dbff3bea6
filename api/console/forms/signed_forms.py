"""Forms that their sender signed in the browser (static/signing.js), as the API's two headers."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from api.kernel.errors import UnsignedError
from api.ledger.signed_requests import SignedRequest


class _Fields(BaseModel):
    """Fields with the limits of the headers in `api.web.parameters`."""

    key: Annotated[str, Field(min_length=8, max_length=200, pattern=r"^[\x21-\x7e]+$")]
    signature: Annotated[
        str, Field(max_length=2_000, pattern=r"^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+$")
    ]


def signed_by(form: Mapping[str, str], origin: str) -> SignedRequest:
    """Return the key and the signature of a form.

    The statement itself is verified where it is read.
    """
    try:
        fields = _Fields.model_validate(dict(form))
    except ValidationError as error:
        raise UnsignedError(
            "The form is not signed. Nothing was done. Choose your key file and enable JavaScript."
        ) from error
    return SignedRequest(fields.key, fields.signature, origin)
