"""The catalogue's codebook and changelog: from code and from the ledger, not by hand."""

from collections.abc import Callable
from typing import get_args

import httpx2

from api.platform import Platform
from openapi.models import Catalogue, Changelog
from openapi.models.audiences import IDENTIFIER_KINDS, IDENTIFIER_NOTES
from openapi.models.requests import AnyRequest
from tests.world import Deployment, deployed


def test_every_kind_that_is_offered_is_explained(
    sqlite_deployment: Deployment, platform: Platform
) -> None:
    answer = httpx2.get(f"{sqlite_deployment.url}/v1/catalogue")
    catalogue = Catalogue.model_validate_json(answer.content)
    book = catalogue.codebook
    assert book is not None
    assert [note.kind for note in book.kinds] == catalogue.kinds
    models = {model.model_fields["kind"].annotation: model for model in get_args(AnyRequest)}
    by_kind = {get_args(kind)[0]: model for kind, model in models.items()}
    for note in book.kinds:
        assert len(note.question) > 20
        assert {field.name for field in note.asks} == set(by_kind[note.kind].model_fields)
        assert {"receipt", "price", "kind"} <= {field.name for field in note.releases}
    assert "one person" in book.unit_of_privacy
    assert [note.kind for note in book.identifiers] == list(IDENTIFIER_KINDS)
    assert IDENTIFIER_NOTES.keys() == set(IDENTIFIER_KINDS)
    assert {note.name for note in book.attributes} == set(platform.people.offers())
    assert {"kind", "title", "text"} <= {field.name for field in book.content}


def test_changes_are_told_newest_first(new_database: Callable[[], str], platform: Platform) -> None:
    url = new_database()
    seen = []
    for days in (30, 20, 20, 10):
        with deployed(url, platform, members_kept_days=days) as running:
            answer = httpx2.get(f"{running.url}/v1/catalogue/changes")
            seen.append(Changelog.model_validate_json(answer.content))
            page = httpx2.get(f"{running.url}/v1/catalogue/changes", params={"limit": 1}).json()
            assert len(page["items"]) == 1
    newest = seen[-1]
    assert newest.version
    assert [each.number for each in newest.items] == sorted(
        (each.number for each in newest.items), reverse=True
    )
    kept = [
        each.facts["values"]["members_kept_days"]
        for each in newest.items
        if each.kind == "settings"
    ]
    assert kept == ["10", "20", "30"]
    assert platform.scores is not None
    models = [each.facts["digest"] for each in newest.items if each.kind == "model"]
    assert models == [platform.scores.model_digest]
    assert page["next"] is not None
