"""People read before are not read again; later changes are still found."""

import pytest

from auditor_client import Auditor
from auditor_client.errors import AudienceNotSealedError, NotFoundError
from tests.world import Deployment


@pytest.fixture(scope="module")
def auditor(deployment: Deployment) -> Auditor:
    return deployment.auditor()


def test_an_audience_that_was_erased_since_is_refused_and_not_charged(auditor: Auditor) -> None:
    content = auditor.contents.upload(kind="job", title="Engineer")
    audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    auditor.audits.run(content, audience, bins=2, epsilon="0.1", progress=False)
    auditor.audiences.delete(audience.id)
    [before] = auditor.budget().mandates
    with pytest.raises(AudienceNotSealedError):
        auditor.audits.run(content, audience, bins=2, epsilon="0.1", progress=False)
    [after] = auditor.budget().mandates
    assert after.spent == before.spent


def test_what_another_auditor_asked_about_is_not_there(
    deployment: Deployment, auditor: Auditor
) -> None:
    content = auditor.contents.upload(kind="job", title="Engineer")
    audience = auditor.audiences.sample("gender", {"woman": 20, "man": 20})
    auditor.audits.run(content, audience, bins=2, epsilon="0.1", progress=False)
    other = deployment.auditor()
    own = other.audiences.sample("gender", {"woman": 20, "man": 20})
    with pytest.raises(NotFoundError, match="content"):
        other.audits.run(content, own, bins=2, epsilon="0.1", progress=False)
    mine = other.contents.upload(kind="job", title="Engineer")
    with pytest.raises(NotFoundError, match="audience"):
        other.audits.run(mine, audience, bins=2, epsilon="0.1", progress=False)
    [mandate] = other.budget().mandates
    assert mandate.spent == 0
