"""Settings of one deployment: read once, frozen, passed in.

From `PLATFORM_AUDITOR_*` environment variables and a TOML file, the environment first; unknown
keys are refused. No setting weakens a guarantee (R7): limits of epsilon, noise, accounting and
de-duplication are code.
"""

import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from api.ceilings import PERSON_LIFETIME_RHO, PLATFORM_RHO


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


class RayCluster(BaseModel):
    """A cluster on which people are scored and counted (docs/scale.md).

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
    # The platform to audit: a name known to `api.compose`, or `module:factory`.
    platform: str = "simulated"
    # They may hold a token.
    platform_options: Annotated[dict[str, Any], Field(repr=False)] = {}
    outside_issuer: OutsideIssuer | None = None
    # Where people are scored and counted: in the worker's process, unless a cluster is named.
    ray: RayCluster | None = None

    # Stricter than the ceilings in `api.ceilings`, if at all.
    person_lifetime_rho: Annotated[
        Decimal, Field(gt=0, le=int(PERSON_LIFETIME_RHO), decimal_places=12)
    ] = Decimal(int(PERSON_LIFETIME_RHO))
    platform_rho: Annotated[Decimal, Field(gt=0, le=int(PLATFORM_RHO), decimal_places=12)] = (
        Decimal(int(PLATFORM_RHO))
    )

    # The web console at /console.
    console: bool = True
    embedded_worker: bool = True
    # How often the head of the ledger is signed, if it has moved.
    checkpoint_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
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
