"""Posted forms, in the interface that Authlib expects.

[RFC6749] §3.2: parameters without a value count as omitted, none may be repeated.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Request
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload

MAX_BYTES = 64 * 1024
MAX_FIELDS = 32
MEDIA_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class FormPost:
    """Posted form: its URL, the credentials in its header, and its fields."""

    url: str
    authorization: str | None
    fields: dict[str, str]


class FormRequest(OAuth2Request):  # type: ignore[misc]
    def __init__(self, post: FormPost) -> None:
        headers = {"Authorization": post.authorization} if post.authorization else {}
        super().__init__("POST", post.url, headers=headers)
        self.payload = BasicOAuth2Payload(post.fields)

    @property
    def args(self) -> dict[str, str]:
        return {}

    @property
    def form(self) -> dict[str, str]:
        fields: dict[str, str] = self.payload.data
        return fields


def parse_form(body: bytes, media_type: str) -> dict[str, str]:
    if media_type.partition(";")[0].strip().lower() != MEDIA_TYPE:
        raise InvalidRequestError(f"The body must be {MEDIA_TYPE}.")
    try:
        pairs = parse_qsl(
            body.decode(),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError as error:
        raise InvalidRequestError("The body is not a valid form.") from error
    if len({name for name, _ in pairs}) != len(pairs):
        raise InvalidRequestError("A parameter is included more than once.")
    return {name: value for name, value in pairs if value}
