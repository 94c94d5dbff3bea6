"""Coming in and going out: codes that work once, sessions that end, forms that only we send."""

import re
from http.cookies import SimpleCookie
from pathlib import Path

import httpx2
import pytest
from fastapi import Response
from joserfc.jwk import OKPKey
from playwright.sync_api import expect
from typer.testing import CliRunner

from api.console.security.cookies import Cookies
from api.identity import sessions
from api.identity.caller import load_caller
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.cli.app import app
from auditor_client.errors import NotFoundError
from auditor_client.local.keys import load_key, new_key, public_jwk
from auditor_client.local.profiles import save_profile
from tests.console.browsing import Watched
from tests.refusals import refuses
from tests.world import Deployment, deployed, sqlite_url


@pytest.fixture(scope="module")
def ada(sqlite_deployment: Deployment) -> Auditor:
    return sqlite_deployment.auditor()


def test_the_link_of_the_command_signs_in_and_the_button_signs_out(
    visitor: Watched, ada: Auditor
) -> None:
    page = visitor.sign_in(ada)
    expect(page.get_by_role("heading", name="Audits")).to_be_visible()
    expect(page.get_by_text("Ada, auditor")).to_be_visible()
    [cookie] = [c for c in page.context.cookies() if c["name"] == "console_session"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    assert cookie["path"] == "/console"
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    # The secret is dead, not only forgotten by this browser.
    page.context.add_cookies(
        [{"name": cookie["name"], "value": cookie["value"], "url": visitor.url}]
    )
    visitor.open("/audits")
    assert page.url.endswith("/console/sign-in")


def test_a_link_works_once(visitor: Watched, ada: Auditor) -> None:
    link = ada.console_link().url
    page = visitor.page
    # A look does not use it up: mail programs and previews look.
    page.goto(link)
    page.goto(link)
    page.get_by_role("button", name="Sign in as Ada").click()
    expect(page.get_by_role("heading", name="Audits")).to_be_visible()
    page.goto(link)
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()


def test_a_session_ends_when_its_researcher_is_removed(
    visitor: Watched, sqlite_deployment: Deployment
) -> None:
    eve = sqlite_deployment.auditor()
    visitor.sign_in(eve)
    sqlite_deployment.regulator.researchers.remove(eve.researcher_id, "left the lab")
    visitor.open("/audits")
    assert visitor.page.url.endswith("/console/sign-in")


def test_a_session_ends_when_its_researcher_changes_the_key(
    visitor: Watched, sqlite_deployment: Deployment
) -> None:
    eve = sqlite_deployment.auditor()
    visitor.sign_in(eve)
    eve.change_key(OKPKey.generate_key("Ed25519"))
    visitor.open("/audits")
    assert visitor.page.url.endswith("/console/sign-in")


@pytest.mark.parametrize("wrong", ["", "another", "missing", "foreign"])
def test_a_form_that_is_not_ours_does_nothing(
    sqlite_deployment: Deployment, ada: Auditor, wrong: str
) -> None:
    """As another site would send it: with the cookie, without our token."""
    with httpx2.Client(base_url=sqlite_deployment.url, headers={"Accept": "text/html"}) as http:
        link = ada.console_link().url
        page = http.get(link).text
        fields = dict(re.findall(r'name="(token|code)" value="([^"]+)"', page))
        assert http.post("/console/sign-in", data=fields).status_code == 303
        token = re.findall(r'name="token" value="([^"]+)"', http.get("/console/contents").text)[0]
        form = {"kind": "job", "title": f"forged {wrong}", "token": token}
        headers = {}
        match wrong:
            case "missing":
                del form["token"]
            case "foreign":
                headers = {"Sec-Fetch-Site": "cross-site"}
            case "another":
                form["token"] = fields["token"]  # of the visit before
            case _:
                form["token"] = ""
        assert http.post("/console/contents", data=form, headers=headers).status_code == 403
        assert all(content.title != form["title"] for content in ada.contents.list())
        assert http.post("/console/contents", data={**form, "token": token}).status_code == 303


def test_a_cookie_that_we_did_not_sign_is_nobodys(
    sqlite_deployment: Deployment, ada: Auditor
) -> None:
    store = sqlite_deployment.service.store
    with store.write() as session:
        caller = load_caller(session, ada.researcher_id)
        assert caller is not None
        secret = sessions.open_session(session, caller)
    cookies = Cookies.from_settings(sqlite_deployment.service.settings)
    signed = Response()
    cookies.write(signed, "session", secret, 60)
    good = SimpleCookie(signed.headers["set-cookie"])["console_session"].value
    with httpx2.Client(base_url=sqlite_deployment.url, headers={"Accept": "text/html"}) as http:
        forged = (good[:-2] + "xx", f"{secret}.\xe9", secret, ".", "")
        for value, status in ((good, 200), *((each, 303) for each in forged)):
            headers = {b"Cookie": f"console_session={value}".encode("latin-1")}
            assert http.get("/console/audits", headers=headers).status_code == status


def test_the_api_takes_no_cookie(visitor: Watched, ada: Auditor) -> None:
    visitor.sign_in(ada)
    answer = visitor.page.request.get(f"{visitor.url}/v1/audits")
    assert answer.status == 401


def test_the_console_can_be_switched_off(tmp_path: Path, platform: Platform) -> None:
    with deployed(sqlite_url(tmp_path), platform, console=False) as running:
        assert httpx2.get(f"{running.url}/console").status_code == 404
        with refuses(NotFoundError, "no-console"):
            running.regulator.console_link()


def test_the_command_prints_the_link(sqlite_deployment: Deployment, tmp_path: Path) -> None:
    new_key(tmp_path / "ada.jwk")
    regulator = sqlite_deployment.regulator
    lab = regulator.auditors.add("Lab")
    jwk = public_jwk(load_key(tmp_path / "ada.jwk"))
    person = regulator.researchers.add(name="Ada", auditor_id=lab.id, jwk=jwk)
    save_profile("ada", sqlite_deployment.url, person.id, tmp_path / "ada.jwk")
    done = CliRunner().invoke(app, ["console", "--no-browser", "-p", "ada"])
    assert done.exit_code == 0, done.output
    page = httpx2.get(done.output.strip(), headers={"Accept": "text/html"}).text
    assert "Sign in as Ada" in page
