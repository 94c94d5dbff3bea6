"""Sign-in of a person to the console, by a link that their program obtains."""

from typing import Annotated

from pydantic import Field

from openapi.wire_model import Instant, Wire


class SignInLink(Wire):
    """Link that signs the caller in to the console, once."""

    url: Annotated[
        str, Field(description="Open the link in a browser. Anybody who has it can sign in.")
    ]
    expires_at: Instant
