"""Settings of one deployment: read once and frozen.

They come from `PLATFORM_AUDITOR_*` environment variables and a TOML file. The environment wins.
Unknown keys are refused. No setting weakens a guarantee (R7): limits of epsilon, noise, accounting
and deduplication are code.
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
    """Sign-in of browsers at an identity provider: OIDC authorisation code with PKCE.

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
    # Sign-in at the console; without it, people sign in there with the `auditor` command.
    sign_in: SignIn | None = None

    @model_validator(mode="after")
    def _tell_id_tokens_apart(self) -> "OutsideIssuer":
        """Refuse equal names: an ID token, which any page receives, would count as an access
        token.
        """
        if self.sign_in is not None and self.sign_in.client_id == self.audience:
            raise ValueError("audience must differ from sign_in.client_id, which ID tokens have")
        return self


class RayCluster(BaseModel):
    """A cluster on which people are scored and counted (docs/explanation/performance.md).

    `address` is that of its head node, or `local` for the cores of this machine. People are
    divided into `partitions`. If a `resource` is named, each task runs on a machine that has it and
    uses one unit of it. Name the machines that hold the people's data this way. The cluster counts
    as down when no partition finishes within `patience_seconds`.
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
    """Return an address or a network; refuse names, and the whole internet."""
    if ip_network(text).prefixlen == 0:
        raise ValueError("everybody could then claim any address; name the proxies")
    return text


class Settings(BaseSettings):
    """Settings of one deployment."""

    model_config = SettingsConfigDict(
        env_prefix="PLATFORM_AUDITOR_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        # An error about one setting must not print the others.
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    database_url: Annotated[str, Field(repr=False)]
    """SQLAlchemy URL of the database, for SQLite or PostgreSQL. It may hold a password."""
    issuer: Annotated[str, Field(pattern=r"^https?://[^/]+(/.*)?$")]
    """Public address of the service, without a slash at the end."""
    key_encryption_key: SecretStr
    """32 bytes in base64url that encrypt the signing keys. `platform-auditor init` generates
    them.
    """
    platform: str = "simulated"
    """Platform to audit: `simulated`, `http`, `onnx`, or `module:factory`."""
    platform_options: Annotated[dict[str, Any], Field(repr=False)] = {}
    """Options of the platform. They may hold a token."""
    outside_issuer: OutsideIssuer | None = None
    """Identity provider whose tokens are accepted instead of our own (default: none)."""
    ray: RayCluster | None = None
    """Cluster on which people are scored and counted (default: the worker's own process)."""

    person_lifetime_rho: Annotated[
        Decimal, Field(gt=0, le=int(PERSON_LIFETIME_RHO), decimal_places=12)
    ] = Decimal(int(PERSON_LIFETIME_RHO))
    """Lifetime cap of one person in ρ. It can be stricter than the limit in code, never weaker."""
    platform_rho: Annotated[Decimal, Field(gt=0, le=int(PLATFORM_RHO), decimal_places=12)] = (
        Decimal(int(PLATFORM_RHO))
    )
    """Cap of the whole platform in ρ. It can be stricter than the limit in code, never weaker."""

    identifiers_per_day: Annotated[int, Field(ge=LEAST_OF_A_PART, le=IDENTIFIERS_PER_DAY)] = (
        IDENTIFIERS_PER_DAY
    )
    """Identifiers that one auditor may have matched in a day."""
    match_seconds: Annotated[float, Field(ge=MATCH_SECONDS, le=600)] = MATCH_SECONDS
    """Fixed part of the public matching time: n identifiers take match_seconds + n / match_rate."""
    match_rate: Annotated[int, Field(ge=1, le=MATCH_RATE)] = MATCH_RATE
    """Hashed identifiers matched per second in public time; a user name counts as 10."""

    audit_seconds: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    """Fixed part of the public release time; an audit of n identifiers is released after
    audit_seconds + n / audit_rate at the earliest. 0 releases as soon as the audit is ready."""
    audit_rate: Annotated[int, Field(ge=1)] = 1_000_000
    """Identifiers per second in the public release time."""

    console: bool = True
    """Whether the web console is served at /console."""
    embedded_worker: bool = True
    """Whether this process also runs audits."""
    checkpoint_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    """Seconds between two signed checkpoints of the ledger, if it has grown."""
    heartbeat_seconds: Annotated[float, Field(gt=0, le=10)] = 5.0
    """Seconds between two background writes of a process. `/readyz` answers 503 when the last one
    failed or is older than three times this."""
    metrics_host: str = "127.0.0.1"
    """Address at which this process serves Prometheus metrics and probes."""
    metrics_port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """Port of metrics and probes (default: none, and they are not served)."""
    lease_seconds: Annotated[float, Field(gt=0, le=600)] = 15.0
    """Seconds after which another worker may take over an audit whose worker went silent."""
    poll_seconds: Annotated[float, Field(gt=0, le=60)] = 0.5
    """Seconds between two polls of the queue."""
    waiting_per_auditor: Annotated[int, Field(ge=1)] = 1_000
    """Audits of one auditor that may wait in the queue."""
    waiting_in_all: Annotated[int, Field(ge=1)] = 10_000
    """Audits of all auditors together that may wait in the queue."""
    running_per_auditor: Annotated[int, Field(ge=1)] = 4
    """Audits of one auditor that may run at once. The limit stays below the number of workers."""
    audit_memory_bytes: Annotated[int, Field(ge=2**28)] = 4 * 2**30
    """Memory that one audit may need, computed from what was uploaded and declared."""
    shutdown_seconds: Annotated[float, Field(ge=0, le=3600)] = 20.0
    """Seconds that a stopping worker takes to finish its audit before it leaves it to another."""

    max_body_bytes: Annotated[int, Field(ge=1024)] = 2 * 1024 * 1024
    """Largest body of a request that is not part of an upload."""
    max_part_bytes: Annotated[int, Field(ge=1024)] = 64 * 1024 * 1024
    """Largest part of an upload."""
    max_part_rows: Annotated[int, Field(ge=100_000)] = 2_000_000
    """Rows that one part may have; the SDK sends at most 100,000."""
    uploads_at_once: Annotated[int, Field(ge=1, le=32)] = 4
    """Parts that one process reads, and audiences that it seals, at the same time."""
    max_members: Annotated[int, Field(ge=1)] = 20_000_000
    """Rows that one audience may have."""
    members_kept_days: Annotated[int, Field(ge=1, le=30)] = 30
    """Days after which the people of an audience are erased."""
    upload_kept_hours: Annotated[int, Field(ge=1, le=168)] = 24
    """Hours after which an upload that was not sealed is erased."""
    time_zone: Annotated[str, AfterValidator(_zone)] = "Europe/Brussels"
    """Time zone in which the periods of vetting are counted."""
    holidays: tuple[date, ...] = ()
    """Public holidays, which the periods of vetting skip."""
    applications_per_hour: Annotated[int, Field(ge=1)] = 20
    """Applications accepted in an hour from one address."""
    applications_per_day: Annotated[int, Field(ge=1)] = 200
    """Applications accepted in a day from all newcomers; each is an entry of the ledger."""
    applications_open: Annotated[int, Field(ge=1)] = 1_000
    """Undecided applications of newcomers that may exist at once."""
    trusted_proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = ("127.0.0.1", "::1")
    """Reverse proxies, as addresses or networks, whose X-Forwarded-For names the caller."""
    webhook_private_hosts: bool = False
    """For tests only: allow webhooks to private addresses and without TLS. Logs a warning."""

    two_party_runs: Annotated[int, Field(ge=1)] = 16
    """Two-party runs that may be under way in one process."""
    two_party_idle_seconds: Annotated[float, Field(gt=0, le=86_400)] = 900.0
    """Seconds without a message after which a two-party run ends."""
    two_party_candidates: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    """Number to which the platform's people are padded or sampled for hidden audiences (default:
    none, and no padding or sampling)."""
    two_party_hours: Annotated[int, Field(ge=1, le=720)] = 72
    """Hours after which an unanswered two-party audit is refunded, or fails."""

    request_threads: Annotated[int, Field(ge=4, le=128)] = 8
    """Threads that serve requests in one process; `api.app.capacity` sizes the rest by them."""
    client_connections: Annotated[int, Field(ge=16)] = 4_096
    """Connections of clients to one process; fewer if the limit of open files is lower."""
    header_seconds: Annotated[float, Field(gt=0, le=300)] = 10.0
    """Seconds in which the headers of a request must arrive."""
    idle_seconds: Annotated[int, Field(ge=1, le=300)] = 15
    """Seconds after which an idle connection is closed."""
    answer_seconds: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    """Seconds in which a client must read some of its answer."""
    body_seconds: Annotated[float, Field(gt=0, le=300)] = 10.0
    """Seconds after which the rate of a body is checked."""
    body_bytes_per_second: Annotated[int, Field(ge=1)] = 16 * 1024
    """Average rate at which a body must arrive."""
    whole_body_seconds: Annotated[float, Field(gt=0, le=3_600)] = 600.0
    """Seconds after which every body must have arrived, however large it is."""
    anonymous_body_bytes: Annotated[int, Field(ge=1024)] = 256 * 1024
    """Largest body of a request without a token or a session."""

    contents_per_auditor: Annotated[int, Field(ge=1)] = 20_000
    """Contents that one auditor may keep."""
    audiences_per_auditor: Annotated[int, Field(ge=1)] = 10_000
    """Audiences that one auditor may keep."""
    open_uploads_per_auditor: Annotated[int, Field(ge=1)] = 1_000
    """Uploads of one auditor that may be open at once."""
    parts_per_audience: Annotated[int, Field(ge=1)] = 10_000
    """Parts that one audience may be uploaded in."""
    streams_per_researcher: Annotated[int, Field(ge=1)] = 250
    """Event streams that one researcher may have open."""
    streams_per_process: Annotated[int, Field(ge=1)] = 1_000
    """Event streams that one process holds open."""

    requests_per_minute: Annotated[int, Field(ge=1)] = 1_200
    """Requests of one caller in a minute, on average."""
    burst: Annotated[int, Field(ge=1)] = 200
    """Requests that one caller may send at once."""
    log_level: str = "INFO"
    """Lowest level of messages that are logged."""
    traces_endpoint: Annotated[str, Field(pattern=r"^https?://")] | None = None
    """Address that receives OpenTelemetry traces (default: none, and no traces are sent)."""


def ledger_origin(settings: Settings) -> str:
    """Return the name of this ledger: its URL without the scheme (C2SP checkpoints)."""
    return settings.issuer.rstrip("/").partition("://")[2] + "/v1/ledger"


def load_settings(path: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings of this process: overrides, then the environment, then the file."""
    from_file = tomllib.loads(path.read_text()) if path else {}
    from_environment = _environment()
    return Settings(**(from_file | from_environment | overrides))


def _environment() -> dict[str, Any]:
    """Return only the settings of the environment, so that they can override the file."""

    class Partial(Settings):
        database_url: str = ""
        issuer: str = "http://unset"
        key_encryption_key: SecretStr = SecretStr("")

    partial = Partial()
    return {name: getattr(partial, name) for name in partial.model_fields_set}
