"""Read routes: one for each shape of dependency, or every GET route of the OpenAPI document."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

As = Literal["anybody", "researcher", "regulator", "operator", "browser"]
# Sockets of a burst that are admitted at least: fewer tables are streamed at a time.
LEAST, LEAST_TABLES = 20, 2
_TABLES = ("/v1/ledger/export", "/v1/regulator/exports/{name}")
# Objects that no scene has: applications, and two-party runs.
_MISSING = (
    "/v1/applications/{application_id}",
    "/v1/applications/{application_id}/draft",
    "/v1/audits/{audit_id}/exchange",
    "/v1/regulator/two-party-runs/{audit_id}",
    "/v1/regulator/two-party-runs/{audit_id}/messages",
)
_DOCUMENT = Path(__file__).parents[2] / "openapi" / "openapi.json"
# Named after what answers them: a process's own state, a session that is read until the response
# is sent, a single look, an event stream, a statement in a snapshot, a table that is streamed from
# its own connection, a page of a signed-in browser.
_SHAPES = (
    "/v1/catalogue",
    "/v1/audits",
    "/v1/audits/{audit_id}",
    "/v1/audits/{audit_id}/events",
    "/v1/audits/{audit_id}/release",
    "/v1/audits/{audit_id}/proof",
    "/v1/ledger/entries",
    "/v1/ledger/export",
    "/v1/regulator/overview",
)
_PAGES: tuple[tuple[str, As], ...] = (("/console/", "anybody"), ("/console/audits", "browser"))
_MORE_PAGES: tuple[tuple[str, As], ...] = (
    *_PAGES,
    ("/console/sign-in", "anybody"),
    ("/console/budget", "browser"),
    ("/console/audits/{audit_id}", "browser"),
)


@dataclass(frozen=True)
class Route:
    """A GET route with every parameter filled in, and the role that may ask.

    Of 200 sockets at least `least` get the status `expected`, and the others may be shed.
    """

    template: str
    path: str
    by: As
    expected: int = 200
    least: int = LEAST


def shapes(values: Mapping[str, str]) -> list[Route]:
    """Return one route for each shape of dependency."""
    known = {route.template: route for route in _documented(values)}
    return [*(known[template] for template in _SHAPES), *_pages(_PAGES, values)]


def every(values: Mapping[str, str]) -> list[Route]:
    """Return all GET routes of the OpenAPI document, and pages of the console."""
    return [*_documented(values), *_pages(_MORE_PAGES, values)]


def _documented(values: Mapping[str, str]) -> Iterable[Route]:
    paths: dict[str, Any] = json.loads(_DOCUMENT.read_text())["paths"]
    for template, operations in paths.items():
        if "get" in operations:
            yield _route(template, operations["get"], values)


def _route(template: str, operation: Mapping[str, Any], values: Mapping[str, str]) -> Route:
    query = "&".join(
        f"{parameter['name']}={values.get(parameter['name'], '1')}"
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query" and parameter.get("required")
    )
    path = template.format_map(values)
    return Route(
        template,
        f"{path}?{query}" if query else path,
        _role(operation),
        expected=404 if template in _MISSING else 200,
        least=LEAST_TABLES if template in _TABLES else LEAST,
    )


def _role(operation: Mapping[str, Any]) -> As:
    if not operation.get("security"):
        return "anybody"
    [scopes] = operation["security"][0].values()
    roles: dict[str, As] = {"regulator": "regulator", "operator": "operator"}
    return roles.get(scopes[0], "researcher") if scopes else "researcher"


def _pages(pages: Iterable[tuple[str, As]], values: Mapping[str, str]) -> list[Route]:
    return [Route(each, each.format_map(values), by) for each, by in pages]
