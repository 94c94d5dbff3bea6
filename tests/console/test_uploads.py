"""Uploads from the browser when the platform is slow, or loses what it accepted."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from api.audiences import service as audiences
from platform_sim import SimulatedPlatform
from tests.console.browsing import watching
from tests.system.raw import usernames
from tests.system.test_uploads_meanwhile import dying, meanwhile_matching
from tests.world import Deployment


@pytest.mark.parametrize("trouble", ["lost", "slow"])
def test_an_audience_is_sealed_in_the_end(
    sqlite_deployment: Deployment,
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
) -> None:
    service, auditor = sqlite_deployment.service, sqlite_deployment.auditor()
    people = service.platform.people
    assert isinstance(people, SimulatedPlatform)
    names = usernames(people.world, 6)
    file = tmp_path / "people.csv"
    file.write_text("username,group\n" + "".join(f"{name},all\n" for name in names))
    if trouble == "lost":
        troubled = dying(service, monkeypatch, 1)
    else:  # the first sealing is refused, and asked for again
        monkeypatch.setattr(audiences, "SEAL_PATIENCE", timedelta(seconds=0.05))
        troubled = meanwhile_matching(service, monkeypatch, lambda: time.sleep(1))
    with watching(browser, sqlite_deployment.url) as watched, troubled:
        watched.sign_in(auditor)
        page = watched.open("/audiences")
        page.locator("#file").set_input_files(file)
        expect(page.get_by_text("rows read. Nothing was sent.")).to_be_visible()
        page.get_by_label("Column of groups").select_option("group")
        page.get_by_role("button", name="Hash, upload and seal").click()
        expect(page.get_by_text("all:")).to_be_visible(timeout=30_000)
    [audience] = auditor.audiences.list()
    assert audience.wire.state == "sealed"
    assert list(audience.members.values()) == [len(names)]
