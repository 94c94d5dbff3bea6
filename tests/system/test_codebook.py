"""The catalogue's codebook and changelog: from code and from the ledger, not by hand."""

from typing import get_args

import httpx2

from api.kinds.registry import KINDS
from api.ledger.platform_changes import AFFECT_PRIVACY, record_state
from api.platforms.interfaces import Platform
from openapi.kinds.unions import AnyRequest
from openapi.resources import Catalogue, Change, Changelog
from openapi.resources.audiences import IDENTIFIER_KINDS, IDENTIFIER_NOTES
from tests.world import Deployment


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
        assert set(note.sources) == KINDS[note.kind].sources
    hidden = [note.kind for note in book.kinds if "hidden" in note.sources]
    assert hidden in ([], ["two-party"])
    assert "one person" in book.unit_of_privacy
    assert [note.kind for note in book.identifiers] == list(IDENTIFIER_KINDS)
    assert IDENTIFIER_NOTES.keys() == set(IDENTIFIER_KINDS)
    assert {note.name for note in book.attributes} == set(platform.people.offers())
    assert {"kind", "title", "text"} <= {field.name for field in book.content}


def test_changes_are_listed_newest_first(deployment: Deployment, platform: Platform) -> None:
    service, where = deployment.service, f"{deployment.url}/v1/catalogue/changes"
    for days in (20, 20, 10):  # as if it were started again with these
        settings = service.settings.model_copy(update={"members_kept_days": days})
        record_state(service.store, settings, platform)
    found = Changelog.model_validate_json(httpx2.get(where).content)
    assert found.version
    numbers = [each.number for each in found.items]
    assert numbers == sorted(numbers, reverse=True)
    settings_of = [each.facts["values"] for each in found.items if each.kind == "settings"]
    assert [int(values["members_kept_days"]) for values in settings_of] == [10, 20, 30]
    paces = {"match_seconds", "match_rate", "audit_seconds", "audit_rate"}
    assert {*AFFECT_PRIVACY, "platform_window_days"} == set(settings_of[0])
    assert {"identifiers_per_day", *paces} < set(settings_of[0])
    assert platform.scores is not None
    models = [each.facts["digest"] for each in found.items if each.kind == "model"]
    assert models == [platform.scores.model_digest]
    paged, cursor = list[Change](), None
    while True:
        asked = {"limit": "1"} | ({"cursor": cursor} if cursor else {})
        page = Changelog.model_validate_json(httpx2.get(where, params=asked).content)
        paged += page.items
        cursor = page.next
        if cursor is None:
            break
    assert paged == found.items
