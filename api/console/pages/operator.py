"""Pages for operators: health, queue, traffic, keys, settings that affect privacy, and models.

Every process records its own figures in the database (`api.audits.queue.heartbeats`).
"""

from dataclasses import dataclass

from fastapi.responses import Response

from api.audits.queue.heartbeats import RECENT, list_processes
from api.console.rendering import pages
from api.console.security.current_user import FormDep, OperatorVisit
from api.health.model_history import list_models
from api.health.privacy_settings import list_privacy_settings
from api.health.probes import check_health
from api.health.queue_status import MEANINGS, read_queue_status
from api.kernel.clock import now
from api.kernel.errors import InvalidRequestError
from api.ledger import key_rotation
from api.telemetry.process_counters import RequestCounts, sum_traffic
from api.web.dependencies import ReadDep
from openapi.resources import SigningKey

router = pages()

# Purpose of each key, and its use after retirement.
PURPOSES = {
    "access-token": "Access tokens. A retired key verifies while a token of it is valid.",
    "receipt": "Receipts of releases, and webhooks. Retired keys are published for ever.",
    "ledger": "Checkpoints of the ledger. The old key signs the one that covers the new key.",
}


@dataclass(frozen=True)
class Key:
    """A signing key with its age."""

    wire: SigningKey
    days: int


@router.get("/operator")
def show_health(visit: OperatorVisit, session: ReadDep) -> Response:
    """Show the state of the service; the page refreshes itself."""
    parts = visit.console.parts
    found = check_health(session, parts.store, parts.settings)
    return visit.page("operator/health.html", found=found, meanings=MEANINGS, minutes=_minutes())


@router.get("/operator/queue")
def show_queue(visit: OperatorVisit, session: ReadDep) -> Response:
    """Show the audits that wait or run."""
    return visit.page("operator/queue.html", queue=read_queue_status(session), meanings=MEANINGS)


@router.get("/operator/traffic")
def show_traffic(visit: OperatorVisit, session: ReadDep) -> Response:
    """Show requests by route, for all processes together, and figures of each process."""
    found = list_processes(session)
    return visit.page(
        "operator/traffic.html",
        routes=_by_route([each.figures.routes for each in found if not each.lost]),
        processes=found,
        minutes=_minutes(),
    )


@router.get("/operator/keys")
def show_keys(visit: OperatorVisit) -> Response:
    """Show the service's signing keys, the newest first."""
    known = key_rotation.list_keys(visit.console.parts.store)
    keys = [Key(each, (now() - each.created_at).days) for each in reversed(known)]
    return visit.page("operator/keys.html", keys=keys, purposes=PURPOSES)


@router.post("/operator/keys/rotate")
def rotate_keys(visit: OperatorVisit, form: FormDep) -> Response:
    """Rotate the signing keys, if the operator confirmed it."""
    if form.get("sure") != "yes":
        raise InvalidRequestError("Tick the box to rotate the keys. Nothing was done.")
    parts = visit.console.parts
    by = visit.caller.researcher_id
    key_rotation.rotate(parts.store, parts.signing_keys, parts.origin, by)
    return visit.go("/operator/keys")


@router.get("/operator/privacy")
def show_rules(visit: OperatorVisit, session: ReadDep) -> Response:
    """Show the settings of this process that affect privacy."""
    found = list_privacy_settings(session, visit.console.parts.settings)
    return visit.page("operator/privacy.html", rules=found)


@router.get("/operator/models")
def show_models(visit: OperatorVisit, session: ReadDep) -> Response:
    """Show the models that scored, and since when."""
    return visit.page(
        "operator/models.html", models=list_models(session, visit.console.parts.platform)
    )


def _by_route(found: list[dict[str, RequestCounts]]) -> list[tuple[str, RequestCounts]]:
    """Return the sums over all processes, the busiest route first."""
    names = {name for routes in found for name in routes}
    total = {
        name: sum_traffic(routes[name] for routes in found if name in routes) for name in names
    }
    return sorted(total.items(), key=lambda item: (-item[1].requests, item[0]))


def _minutes() -> int:
    return int(RECENT.total_seconds() // 60)
