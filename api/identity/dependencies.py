"""FastAPI dependencies of identity: the service's own signing keys."""

from typing import Annotated

from api.identity.signing_keys import SigningKeys
from api.web.dependencies import part

SigningKeysDep = Annotated[SigningKeys, part("signing_keys")]
