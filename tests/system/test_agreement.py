"""Everybody named in an application agrees to it, with the key that it gives them."""

import json
from pathlib import Path

from joserfc.jwk import OKPKey
from typer.testing import CliRunner

from auditor_client import InputError
from auditor_client.cli.app import app
from auditor_client.errors import UnsignedError
from auditor_client.ledger import verify_file
from auditor_client.local.keys import plain_jwk
from auditor_client.vetting.application_file import TEMPLATE, add_agreement, read_prepared
from auditor_client.vetting.client import Applicant, ledger_origin
from openapi.resources import ApplicationDraft
from tests.refusals import refuses
from tests.system.test_ledger import signed, trust_of
from tests.vetting import agreed_by, applying, draft_of, new_key
from tests.world import Deployment

run = CliRunner().invoke


def refused(deployment: Deployment, key: OKPKey, draft: ApplicationDraft) -> None:
    before = len(list(deployment.regulator.applications.list()))
    with refuses(UnsignedError, "not-agreed"):
        Applicant.apply(deployment.url, key, draft)
    assert len(list(deployment.regulator.applications.list())) == before


def test_nobody_is_named_without_their_agreement(deployment: Deployment) -> None:
    ada, grace = new_key(), new_key()
    draft = draft_of(ada, grace)
    refused(deployment, ada, draft)
    elsewhere = add_agreement(draft, grace, "elsewhere.example/v1/ledger")
    refused(deployment, ada, elsewhere)
    other = agreed_by(draft_of(ada, grace), deployment.url, grace)
    [principal, colleague] = draft.individuals
    moved = colleague.model_copy(update={"proof": other.individuals[1].proof})
    refused(deployment, ada, draft.model_copy(update={"individuals": [principal, moved]}))
    by_another = draft_of(ada, new_key())
    stolen = by_another.individuals[1].model_copy(update={"jwk": plain_jwk(grace)})
    named = draft.model_copy(update={"individuals": [principal, stolen]})
    refused(deployment, ada, named)


def test_what_was_agreed_to_cannot_be_changed(deployment: Deployment) -> None:
    ada, grace = new_key(), new_key()
    draft = agreed_by(draft_of(ada, grace), deployment.url, grace)
    refused(deployment, ada, draft.model_copy(update={"purpose": "Something else"}))
    applicant, made = Applicant.apply(deployment.url, ada, draft)
    applicant.close()
    assert len(made.individuals) == 2


def test_people_outside_an_application_have_nothing_to_agree_to(deployment: Deployment) -> None:
    with refuses(InputError, "not-named"):
        add_agreement(draft_of(new_key()), new_key(), ledger_origin(deployment.url))


def test_an_applicants_own_export_verifies_after_erasure_too(
    deployment: Deployment, tmp_path: Path
) -> None:
    """It holds the application, which says whose keys count, though it came before the auditor."""
    case = applying(deployment, others=1)
    case.approved()
    colleague = case.researcher(1)
    for erased in (False, True):
        if erased:
            deployment.regulator.erase(case.id)
        signed(deployment)
        path = colleague.ledger.export(tmp_path / "mine.jsonl")
        found = verify_file(path, trust_of(deployment))
        assert (found.counts["application"], found.counts["decision"]) == (1, 1)
        whole = deployment.regulator.ledger.export(tmp_path / "all.jsonl")
        verify_file(whole, trust_of(deployment))
    stranger = deployment.auditor()
    assert "application" not in {entry.kind for entry in stranger.ledger.entries()}


def test_by_commands(deployment: Deployment, tmp_path: Path) -> None:
    for name in ("ada", "grace"):
        done = run(app, ["key", "new", str(tmp_path / f"{name}.jwk")])
        assert done.exit_code == 0, done.output
    jwk = json.loads((tmp_path / "grace.jwk").read_text())
    public = {name: jwk[name] for name in ("kty", "crv", "x")}
    (tmp_path / "grace.public.jwk").write_text(json.dumps(public))
    draft, prepared = tmp_path / "application.toml", tmp_path / "application.json"
    grace = '\n[[individuals]]\nname = "Grace Hopper"\nkey = "grace.public.jwk"\n'
    draft.write_text(TEMPLATE + grace)
    keys = {name: str(tmp_path / f"{name}.jwk") for name in ("ada", "grace")}
    told = ["apply", str(draft), "--key", keys["ada"], "--prepare", str(prepared)]
    assert run(app, told[:2] + told[4:]).exit_code == 1
    assert run(app, told).exit_code == 0
    sending = ["apply", str(prepared), "--url", deployment.url, "--key", keys["ada"], "-p", "lab"]
    early = run(app, sending)
    assert early.exit_code == 1
    agreeing = ["--url", deployment.url, "--key", keys["grace"]]
    too_early = run(app, ["application", "agree", str(draft), *agreeing])
    assert too_early.exit_code == 1
    done = run(app, ["application", "agree", str(prepared), *agreeing])
    assert done.exit_code == 0, done.output
    assert read_prepared(prepared).individuals[1].proof is not None
    sent = run(app, sending)
    assert sent.exit_code == 0, sent.output
