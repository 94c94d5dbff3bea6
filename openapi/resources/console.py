"""The console: how a signed-in program lets its person into a browser."""

from typing import Annotated

from pydantic import Field

from openapi.wire_model import Instant, Wire


class SignInLink(Wire):
    """A link that signs the caller in to the console, once."""

    url: Annotated[str, Field(description="Open it in a browser. Anybody who has the address can.")]
    expires_at: Instant
