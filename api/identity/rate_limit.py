"""Limits on the rate of requests of each researcher, across all processes on PostgreSQL.

The settings `requests_per_minute` and `burst` set the rate; `api.app.container` makes the buckets.
"""

from dataclasses import dataclass

from api.identity.caller import Authenticator, Caller
from api.kernel.errors import RateLimitedError
from api.web.token_buckets import TokenBuckets


@dataclass(frozen=True)
class RateLimitedAuthenticator:
    """Authenticator that also takes a token of the caller's bucket."""

    inner: Authenticator
    buckets: TokenBuckets

    def authenticate(self, bearer: str) -> Caller:
        """Return the caller; raise if they are unknown or exceed their rate."""
        caller = self.inner.authenticate(bearer)
        try:
            self.buckets.take(caller.researcher_id)
        except RateLimitedError as error:
            error.researcher_id = caller.researcher_id
            raise
        return caller
