"""`/v1/webhooks`: push of your entries (Standard Webhooks). The feed can be polled instead."""

from api.identity.dependencies import SigningKeysDep
from api.identity.roles import CallerDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.web.dependencies import ReadDep, SettingsDep, StoreDep
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from api.webhooks import registration
from openapi.resources import Page, Webhook, WebhookDraft

router = new_router(
    prefix="/v1/webhooks",
    tags=["webhooks"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.post("", status_code=201, responses=responses(ConflictError, body=True))
def register_webhook(
    draft: WebhookDraft,
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
    signing_keys: SigningKeysDep,
) -> Webhook:
    """Register a URL to which the entries that you may see are pushed, signed with the receipt
    key.
    """
    registration.check(draft, private=settings.webhook_private_hosts)
    with store.write() as session:
        row = registration.register(session, caller, draft)
    return registration.to_wire(row, signing_keys.current("receipt"))


@router.get("")
def list_webhooks(
    caller: CallerDep, session: ReadDep, signing_keys: SigningKeysDep
) -> Page[Webhook]:
    """List your webhooks, with the progress of each."""
    key = signing_keys.current("receipt")
    rows = registration.list_webhooks(session, caller)
    return Page[Webhook](items=[registration.to_wire(row, key) for row in rows])


@router.delete("/{webhook_id}", status_code=204, responses=responses(NotFoundError))
def delete_webhook(webhook_id: str, caller: CallerDep, store: StoreDep) -> None:
    """Delete a webhook: nothing more is pushed to it."""
    with store.write() as session:
        registration.delete(session, caller, webhook_id)
