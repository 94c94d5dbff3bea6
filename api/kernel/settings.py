"""Settings of one deployment: read once, frozen, passed in.

From `PLATFORM_AUDITOR_*` environment variables and a TOML file, the environment first; unknown
keys are refused. No setting weakens a guarantee (R7): limits of epsilon, noise, accounting and
de-duplication are code.
"""

import tomllib
from datetime import date
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from api.kernel.hard_limits import (
    IDENTIFIERS_PER_DAY,
    LEAST_OF_A_PART,
    MATCH_RATE,
    MATCH_SECONDS,
    PERSON_LIFETIME_RHO,
    PLATFORM_RHO,
)


class SignIn(BaseModel):
    """How browsers sign in at an identity provider: OIDC authorisation code with PKCE.

    The client is registered there with the redirect address `{issuer}/console/sign-in/outside`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    authorization_url: str
    token_url: str
    client_id: str
    client_secret: SecretStr | None = None
    scope: str = "openid"


class OutsideIssuer(BaseModel):
    """An identity provider whose tokens are accepted instead of our own.

    `claim` names the claim that holds a researcher's `outside_subject`; a token that maps to no
    registered researcher is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str
    audience: str
    jwks_url: str | None = None
    jwks_file: Path | None = None
    claim: str = "sub"
    algorithms: tuple[str, ...] = ("Ed25519", "ES256", "RS256", "PS256")
    # For the console; without it, people sign in there by the `auditor` command.
    sign_in: SignIn | None = None

    @model_validator(mode="after")
    def _tell_id_tokens_apart(self) -> "OutsideIssuer":
        """Refuse one name for both: an ID token, which any page receives, would pass for access."""
        if self.sign_in is not None and self.sign_in.client_id == self.audience:
            raise ValueError("audience must differ from sign_in.client_id: ID tokens have that one")
        return self


class RayCluster(BaseModel):
    """A cluster on which people are scored and counted (docs/explanation/performance.md).

    `address` is that of its head, or `local`: a cluster of this machine's cores alone. People are
    exchanged into so many partitions. Tasks go to machines that have the `resource`, where one is
    named, and take one of it: those that hold the people's data, as many at once as they have.
    Where no partition is done for `patience_seconds`, the cluster is down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    address: str = "local"
    partitions: Annotated[int, Field(ge=2, le=4096)] = 16
    resource: str | None = None
    patience_seconds: Annotated[float, Field(gt=0)] = 1_800.0


def _zone(name: str) -> str:
    try:
        return ZoneInfo(name).key
    except (KeyError, OSError, ValueError) as error:
        raise ValueError("not the name of a time zone, like Europe/Brussels") from error


def _network(text: str) -> str:
    """Return an address or network as it is; refuse names, and all of the internet."""
    if ip_network(text).prefixlen == 0:
        raise ValueError("everybody could then claim any address; name the proxies")
    return text


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="PLATFORM_AUDITOR_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        # A complaint about one setting must not print the others.
        hide_input_in_errors=True,
    )

    # It may hold a password.
    database_url: Annotated[str, Field(repr=False)]
    issuer: Annotated[str, Field(pattern=r"^https?://[^/]+(/.*)?$")]
    # 32 bytes in base64url, made by `platform-auditor init`: seals the signing keys at rest.
    key_encryption_key: SecretStr
    # The platform to audit: a name known to `api.app.compose`, or `module:factory`.
    platform: str = "simulated"
    # They may hold a token.
    platform_options: Annotated[dict[str, Any], Field(repr=False)] = {}
    outside_issuer: OutsideIssuer | None = None
    # Where people are scored and counted: in the worker's process, unless a cluster is named.
    ray: RayCluster | None = None

    # Stricter than the ceilings in `api.kernel.hard_limits`, if at all.
    person_lifetime_rho: Annotated[
        Decimal, Field(gt=0, le=int(PERSON_LIFETIME_RHO), decimal_places=12)
    ] = Decimal(int(PERSON_LIFETIME_RHO))
    platform_rho: Annotated[Decimal, Field(gt=0, le=int(PLATFORM_RHO), decimal_places=12)] = (
        Decimal(int(PLATFORM_RHO))
    )

    # The quota of unpaid matching of one auditor.
    identifiers_per_day: Annotated[int, Field(ge=LEAST_OF_A_PART, le=IDENTIFIERS_PER_DAY)] = (
        IDENTIFIERS_PER_DAY
    )
    # The pace that the platform declares: a part of n hashed identifiers is matched within
    # match_seconds + n / match_rate. A user name counts as 10. A slower pace is stricter.
    match_seconds: Annotated[float, Field(ge=MATCH_SECONDS, le=600)] = MATCH_SECONDS
    match_rate: Annotated[int, Field(ge=1, le=MATCH_RATE)] = MATCH_RATE

    # The pace of releases: an audit of n identifiers is released after
    # audit_seconds + n / audit_rate at the earliest; with audit_seconds = 0, when it is ready.
    audit_seconds: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    audit_rate: Annotated[int, Field(ge=1)] = 1_000_000

    # The web console at /console.
    console: bool = True
    embedded_worker: bool = True
    # How often the head of the ledger is signed, if it has moved.
    checkpoint_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    # Seconds between two background writes of a process. `/readyz` answers 503 when the last one
    # failed or is older than three times this.
    heartbeat_seconds: Annotated[float, Field(gt=0, le=10)] = 5.0
    # Where this process serves Prometheus metrics and probes; without a port it does not.
    metrics_host: str = "127.0.0.1"
    metrics_port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    lease_seconds: Annotated[float, Field(gt=0, le=600)] = 15.0
    poll_seconds: Annotated[float, Field(gt=0, le=60)] = 0.5
    # How many audits may wait, and how many of one auditor may run at once: so many, and fewer than
    # there are workers.
    waiting_per_auditor: Annotated[int, Field(ge=1)] = 1_000
    waiting_in_all: Annotated[int, Field(ge=1)] = 10_000
    running_per_auditor: Annotated[int, Field(ge=1)] = 4
    # What one audit may take of a worker's memory, by what was uploaded and declared.
    audit_memory_bytes: Annotated[int, Field(ge=2**28)] = 4 * 2**30
    # Told to stop, a worker finishes its audit within this time or leaves it to another.
    shutdown_seconds: Annotated[float, Field(ge=0, le=3600)] = 20.0

    max_body_bytes: Annotated[int, Field(ge=1024)] = 2 * 1024 * 1024
    max_part_bytes: Annotated[int, Field(ge=1024)] = 64 * 1024 * 1024
    # Rows of one part; the SDK sends at most 100,000.
    max_part_rows: Annotated[int, Field(ge=100_000)] = 2_000_000
    # So many parts are read and audiences sealed at once in one process: the others wait in line.
    uploads_at_once: Annotated[int, Field(ge=1, le=32)] = 4
    max_members: Annotated[int, Field(ge=1)] = 20_000_000
    members_kept_days: Annotated[int, Field(ge=1, le=30)] = 30
    upload_kept_hours: Annotated[int, Field(ge=1, le=168)] = 24
    # Whose days, and which public holidays, the periods of vetting are counted in.
    time_zone: Annotated[str, AfterValidator(_zone)] = "Europe/Brussels"
    holidays: tuple[date, ...] = ()
    # Applications come from strangers: so many an hour from one address.
    applications_per_hour: Annotated[int, Field(ge=1)] = 20
    # From all strangers together, because every application is an entry of the ledger.
    applications_per_day: Annotated[int, Field(ge=1)] = 200
    applications_open: Annotated[int, Field(ge=1)] = 1_000
    # Reverse proxies, as addresses or networks, whose X-Forwarded-For names the caller.
    trusted_proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = ("127.0.0.1", "::1")
    # For tests alone: webhooks to private addresses, and without TLS. Logged as a warning.
    webhook_private_hosts: bool = False

    # Two-party runs under way in one process, and after how long in silence one is given up.
    two_party_runs: Annotated[int, Field(ge=1)] = 16
    two_party_idle_seconds: Annotated[float, Field(gt=0, le=86_400)] = 900.0
    # To how many the platform's people are padded, or by lot cut, where an audience is hidden: none
    # is, untold.
    two_party_candidates: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    # After so many hours a two-party audit that was not answered is given back, or fails.
    two_party_hours: Annotated[int, Field(ge=1, le=720)] = 72

    # Threads that serve requests in one process. `api.app.capacity` sizes all else by them.
    request_threads: Annotated[int, Field(ge=4, le=128)] = 8
    # Connections of clients to one process; fewer where fewer files may be open.
    client_connections: Annotated[int, Field(ge=16)] = 4_096
    # Seconds in which the headers of a request arrive, in which an idle connection is closed, and
    # in which a client reads some of its answer.
    header_seconds: Annotated[float, Field(gt=0, le=300)] = 10.0
    idle_seconds: Annotated[int, Field(ge=1, le=300)] = 15
    answer_seconds: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    # A body must arrive at this rate on average, after the first seconds.
    body_seconds: Annotated[float, Field(gt=0, le=300)] = 10.0
    body_bytes_per_second: Annotated[int, Field(ge=1)] = 16 * 1024
    # Seconds after which every body has arrived, however large it is.
    whole_body_seconds: Annotated[float, Field(gt=0, le=3_600)] = 600.0
    # The largest body of a request without a token or a session.
    anonymous_body_bytes: Annotated[int, Field(ge=1024)] = 256 * 1024

    # Quotas: what one auditor may keep, and how many streams may be open
    # (docs/how-to/platforms/host-the-endpoint.md).
    contents_per_auditor: Annotated[int, Field(ge=1)] = 20_000
    audiences_per_auditor: Annotated[int, Field(ge=1)] = 10_000
    open_uploads_per_auditor: Annotated[int, Field(ge=1)] = 1_000
    parts_per_audience: Annotated[int, Field(ge=1)] = 10_000
    streams_per_researcher: Annotated[int, Field(ge=1)] = 250
    streams_per_process: Annotated[int, Field(ge=1)] = 1_000

    requests_per_minute: Annotated[int, Field(ge=1)] = 1_200
    burst: Annotated[int, Field(ge=1)] = 200
    log_level: str = "INFO"
    # Where OpenTelemetry traces go, as http://127.0.0.1:4318/v1/traces: nowhere, untold.
    traces_endpoint: Annotated[str, Field(pattern=r"^https?://")] | None = None


def ledger_origin(settings: Settings) -> str:
    """The name of this ledger: where it is, without the scheme (C2SP checkpoints)."""
    return settings.issuer.rstrip("/").partition("://")[2] + "/v1/ledger"


def load_settings(path: Path | None = None, **overrides: Any) -> Settings:
    """The settings of this process: overrides, then the environment, then the file."""
    from_file = tomllib.loads(path.read_text()) if path else {}
    from_environment = _environment()
    return Settings(**(from_file | from_environment | overrides))


def _environment() -> dict[str, Any]:
    """Only what the environment sets, so that it can override the file."""

    class Partial(Settings):
        database_url: str = ""
        issuer: str = "http://unset"
        key_encryption_key: SecretStr = SecretStr("")

    partial = Partial()
    return {name: getattr(partial, name) for name in partial.model_fields_set}
