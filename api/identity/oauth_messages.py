"""Messages of the OAuth endpoints, as their standards define them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from openapi.resources import Role


class Assertion(BaseModel):
    """Client authentication by a signed JWT (RFC 7523)."""

    client_assertion_type: Literal["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"]
    client_assertion: Annotated[
        str,
        Field(
            description="iss and sub: the researcher; aud: the issuer or the token endpoint; "
            "exp: at most 5 minutes ahead; jti: used once."
        ),
    ]
    client_id: Annotated[str, Field(description="The researcher, if sent at all.")] | None = None


class TokenRequest(Assertion):
    grant_type: Literal["client_credentials"]
    scope: Role | None = None


class RevocationRequest(Assertion):
    token: str
    token_type_hint: str | None = None


class AccessToken(BaseModel):
    access_token: str
    token_type: Literal["Bearer"]
    expires_in: Annotated[int, Field(description="Seconds.", examples=[600])]
    scope: Role


class Revoked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OAuthError(BaseModel):
    """RFC 6749, section 5.2."""

    error: Annotated[str, Field(examples=["invalid_client"])]
    error_description: str | None = None


class Metadata(BaseModel):
    """RFC 8414."""

    issuer: str
    token_endpoint: str
    token_endpoint_auth_methods_supported: list[str]
    token_endpoint_auth_signing_alg_values_supported: list[str]
    revocation_endpoint: str
    revocation_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_signing_alg_values_supported: list[str]
    jwks_uri: str
    grant_types_supported: list[str]
    scopes_supported: list[str]
    response_types_supported: list[str]


class PublicKey(BaseModel):
    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    alg: Literal["Ed25519"]
    use: Literal["sig"]
    kid: str
    x: str


class KeySet(BaseModel):
    """RFC 7517, section 5."""

    keys: list[PublicKey]
