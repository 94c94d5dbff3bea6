"""Parts of one deployment's console, built once."""

from dataclasses import dataclass
from typing import Annotated, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined

from api.console import filters
from api.console.parts import ConsoleParts
from api.console.planner.planner import Planner
from api.console.security.cookies import Cookies
from api.console.security.oidc_sign_in import OutsideSignIn
from api.console.static_files import StaticFiles
from api.web.token_buckets import Rate, TokenBuckets

# Planner requests per minute from one network of visitors, and their burst.
STRANGERS_PER_MINUTE, STRANGERS_BURST = 60, 40


@dataclass(frozen=True)
class Console:
    parts: ConsoleParts
    base: str
    cookies: Cookies
    static: StaticFiles
    templates: Environment
    outside: OutsideSignIn | None
    # Rate limits of signed-in people, and of networks of visitors.
    known: TokenBuckets
    strangers: TokenBuckets
    planner: Planner

    def at(self, path: str) -> str:
        """Return the URL of a page of the console."""
        return f"{self.base}/console{path}"

    def file(self, name: str) -> str:
        """Return the URL of a static file, which changes when any of them changes."""
        assert name in self.static.files, name  # noqa: S101  (a template names a file that does not exist)
        return self.at(f"/static/{self.static.digest}/{name}")


def build_console(parts: ConsoleParts) -> Console:
    settings = parts.settings
    issuer = settings.outside_issuer
    console = Console(
        parts=parts,
        base=urlsplit(settings.issuer).path.rstrip("/"),
        cookies=Cookies.from_settings(settings),
        static=StaticFiles.load(),
        templates=_templates(),
        outside=OutsideSignIn(issuer, settings.issuer) if issuer and issuer.sign_in else None,
        known=parts.rates.buckets("console", Rate(settings.requests_per_minute, settings.burst)),
        strangers=parts.rates.buckets("planner", Rate(STRANGERS_PER_MINUTE, STRANGERS_BURST)),
        planner=Planner(),
    )
    console.templates.globals.update(at=console.at, file=console.file, platform=parts.platform.name)
    return console


def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("api.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(filters.FILTERS)
    return made


def console_of(request: Request) -> Console:
    return cast("Console", request.app.state.console)


async def _console(request: Request) -> Console:
    return console_of(request)


ConsoleDep = Annotated[Console, Depends(_console)]
