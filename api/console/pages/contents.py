"""Pages of trial content: a list, and a form to upload more."""

from fastapi.responses import Response
from pydantic import ValidationError

from api.console.rendering import pages
from api.console.security.current_user import AuditorVisit, FormDep
from api.contents import queries, service
from api.kernel.errors import InvalidRequestError
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery
from openapi.complaints import what_is_wrong
from openapi.resources import ContentDraft
from openapi.resources.contents import CONTENT_KINDS

router = pages()


@router.get("/contents")
def list_contents(visit: AuditorVisit, session: ReadDep, cursor: CursorQuery = None) -> Response:
    """List the uploaded contents, newest first, with the form for a new one."""
    found = queries.list_contents(session, visit.caller, cursor)
    return visit.page("contents.html", contents=found, kinds=CONTENT_KINDS)


@router.post("/contents")
def upload_content(visit: AuditorVisit, form: FormDep) -> Response:
    """Store the content of the form."""
    parts = visit.console.parts
    service.upload_content(parts.store, visit.caller, draft_of(form), parts.settings)
    return visit.go("/contents")


def draft_of(form: dict[str, str]) -> ContentDraft:
    """Return the content of a form; attributes are lines of `name: value`."""
    lines = [line for line in form.get("attributes", "").splitlines() if line.strip()]
    pairs = [[part.strip() for part in line.split(":", 1)] for line in lines]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidRequestError("Write each attribute as name: value. Nothing was stored.")
    fields = {name: form.get(name, "") for name in ("kind", "title", "text")}
    try:
        return ContentDraft.model_validate({**fields, "attributes": dict(pairs)})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise InvalidRequestError(
            f"{where}: {what_is_wrong(first)}. Nothing was stored."
        ) from error
