"""`python -m tests.vectors.ledger.recording FOLDER`: record the ledger of a running service.

Every kind of audit is charged, on uploads, a sample and a hidden audience, and released where no
second party is needed. Written are the whole export, the keys that verify it, and the releases.
Unlike the other vectors these are not the same every time: keys and noise are random.
"""

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor_client.ledger import make_trust
from openapi.kinds.registry import BUILT_IN
from platform_sim import SimulatedPlatform
from tests.system.raw import Raw, raw, usernames
from tests.system.scene import wait
from tests.world import Deployment, deployed, small_platform, sqlite_url

EDGES = {"edges": [0, 0.25, 0.5, 0.75, 1]}
RANGE = {"low": 0, "high": 1}
GAUSSIAN = {"mechanism": "discrete-gaussian", "rho": "0.1"}


def requests(me: Raw, names: list[str]) -> list[dict[str, Any]]:
    """One request of each kind and noise."""
    content, other = me.content()["id"], me.content(title="Nurse")["id"]
    groups = {"g0": names[:20], "g1": names[20:40]}
    uploaded = me.audience(groups)["id"]
    both = me.audience({"g0": names[:20], "g1": names[10:40]}, groups_per_person=2)["id"]
    halves = [
        {"label": "g0", "value": "woman", "size": 20},
        {"label": "g1", "value": "man", "size": 20},
    ]
    sampled = me.made("/v1/audiences/samples", {"attribute": "gender", "groups": halves})["id"]
    willing = me.audience({"g0": names[:400]}, consented=True)["id"]
    score = {"content_id": content, "bins": EDGES}
    log = {"log": "instajob", "rows_per_person": 2, "bins": EDGES}
    corrections = [{"label": label, "add": [0, 0, 0, 0]} for label in groups]
    reo = {
        "log": "feed",
        "signals": ["like_video"],
        "creators": "young_adult",
        "groups": ["yes", "no"],
    }
    envy = {"alpha": "0.5", "tolerance": "0.3", "delta": "0.1", "gamma": "0.3", "lam": "0.3"}
    asked: list[dict[str, Any]] = [
        {"kind": "score-histogram", "audience_id": uploaded, **score, "epsilon": "1"},
        {
            "kind": "score-histogram",
            "audience_id": both,
            **score,
            "epsilon": "1",
            "size_epsilon": "0",
        },
        {"kind": "score-histogram", "audience_id": sampled, **score, "epsilon": "0.3"},
        {"kind": "score-histogram", "audience_id": both, **score, **GAUSSIAN},
        {"kind": "score-cdf", "audience_id": sampled, **score, "epsilon": "0.3"},
        {"kind": "match-count", "audience_id": both, "epsilon": "0.333333"},
        {
            "kind": "most-skewed",
            "audience_id": uploaded,
            "contents": [content, other],
            "bins": EDGES,
        }
        | {"weights": [3, 2], "epsilon": "0.5"},
        {"kind": "balance-histogram", "audience_id": uploaded, "bins": EDGES, "epsilon": "0.5"},
        {"kind": "log-cdf", "audience_id": both, **log, "column": "score", "epsilon": "0.5"},
        {"kind": "outcome-test", "audience_id": sampled, **log, "outcome_range": RANGE, **GAUSSIAN},
        {
            "kind": "bias-size",
            "audience_id": uploaded,
            **log,
            "outcome_range": RANGE,
            "epsilon": "1",
        }
        | {"corrections": corrections, "places": 5},
        {"kind": "reo", "audience_id": both, **reo, "strategies": ["default"], "epsilon": "0.7"},
        {"kind": "envy-freeness", "audience_id": willing, **envy, "targets": 12, "arms": 17}
        | {"steps": 2000, "epsilon": "1", "arms_per_person": 1},
    ]
    return asked


def two_party(me: Raw, names: list[str]) -> list[dict[str, Any]]:
    """On an upload whose order is kept, and on a hidden audience: charged, and never answered."""
    shown = me.audience({"g0": names[:20]}, ordered=True)["id"]
    draft = {"identifiers": "username", "rows": 20, "commitment": "sha256:" + 64 * "0"}
    hidden = me.made("/v1/audiences/hidden", draft)["id"]
    metric = {"name": "outcomes", "log": "instajob", "outcome_range": RANGE, "squares": True}
    kind = {"kind": "two-party", "metric": metric, "hidden_groups": 2, "epsilon": "1"}
    return [kind | {"audience_id": audience} for audience in (shown, hidden)]


def record(deployment: Deployment, names: list[str], folder: Path) -> None:
    kinds = list(BUILT_IN)
    auditor = deployment.auditor("1000", kinds=kinds, exploration_limit="1000000")
    deployment.regulator.mandates.grant(
        auditor_id=auditor.me().auditor_id or "",
        purpose="rho",
        kinds=kinds,
        rho_limit="1000",
        valid_until=datetime(2100, 1, 1, tzinfo=UTC),
    )
    me, releases = raw(deployment, auditor), []
    for request in requests(me, names):
        audit = me.submit(request)
        assert audit.is_success, (request, audit.text)
        assert wait(me, audit.json()["id"]) == "released", request
        releases.append(me.get(f"/v1/audits/{audit.json()['id']}/release").content)
    for request in two_party(me, names):
        assert me.submit(request).is_success
    deployment.service.checkpointer().once()
    regulator = deployment.regulator
    jwk = dict(regulator._key.as_dict(private=False))
    trust = make_trust(regulator.ledger.keys(), {regulator.researcher_id: jwk})
    regulator.ledger.export(folder / "recorded.jsonl")
    (folder / "recorded-keys.json").write_text(str(trust), encoding="utf-8")
    (folder / "recorded-releases.jsonl").write_bytes(b"".join(each + b"\n" for each in releases))


if __name__ == "__main__":
    platform = small_platform()
    assert isinstance(platform.people, SimulatedPlatform)
    with (
        tempfile.TemporaryDirectory() as kept,
        deployed(sqlite_url(Path(kept)), platform, two_party_candidates=6_000) as running,
    ):
        record(running, usernames(platform.people.world, 400), Path(sys.argv[1]))
