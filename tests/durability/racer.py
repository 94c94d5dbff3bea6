"""One of several processes that submit audits from many threads at once.

`python -m tests.durability.racer settings.toml go-file < race.json`: it says `ready`, waits for the
file, and prints one line of JSON per attempt, the audit or the code of the refusal.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from joserfc.jwk import OKPKey

from api.app.compose import load_container
from api.app.container import Container
from api.identity.caller import Caller
from api.kernel.errors import RefusalError
from api.kernel.settings import load_settings
from openapi.resources import ScoreHistogramRequest
from tests.statements import Maker


def attempt(
    service: Container, caller: Caller, maker: Maker, wish: Any, go: Path
) -> dict[str, Any]:
    key, fields = wish
    request = ScoreHistogramRequest.model_validate(fields)
    asked = maker.states("charge", request, key)
    while not go.exists():
        time.sleep(0.005)
    try:
        audit = service.submissions.submit(caller, request, asked)
    except RefusalError as refusal:
        return {"refused": refusal.code}
    return {"audit": audit.model_dump(mode="json")}


def main(settings: str, go: str) -> None:
    race = json.loads(sys.stdin.read())
    service = load_container(load_settings(Path(settings)))
    caller, wishes = Caller(**race["caller"]), race["wishes"]
    maker = Maker(caller.researcher_id, OKPKey.import_key(race["key"]), service.origin)
    with ThreadPoolExecutor(len(wishes)) as threads:
        attempts = [
            threads.submit(attempt, service, caller, maker, wish, Path(go)) for wish in wishes
        ]
        print("ready", flush=True)
        for future in attempts:
            print(json.dumps(future.result()), flush=True)
    service.store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
