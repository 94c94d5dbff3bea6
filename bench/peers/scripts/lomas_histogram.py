"""Runs where Lomas is: `… FOLDER ROUNDS`: its server on loopback with a YAML database."""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

scores, rounds = np.load(Path(sys.argv[1]) / "scores.npy"), int(sys.argv[2])
folder = Path(tempfile.mkdtemp())
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]


def write(name: str, content: object) -> str:
    (folder / name).write_text(yaml.safe_dump(content))
    return str(folder / name)


def local(path: str) -> dict[str, str]:
    return {"database_type": "PATH_DB", "path": path}


frame = pd.DataFrame({"person": np.arange(len(scores)), "bin": (scores * 10).astype(int)})
frame.to_csv(folder / "rows.csv", index=False)
person = {"type": "int", "precision": 64, "lower": 0, "upper": len(scores), "private_id": True}
bins = {"type": "int", "precision": 64, "cardinality": 10, "categories": list(range(10))}
columns = {"person": person, "bin": bins}
limits = {"max_ids": 1, "rows": len(scores), "row_privacy": False, "censor_dims": False}
metadata = {"columns": columns, **limits}
granted = {"dataset_name": "rows", "initial_epsilon": 1e6, "initial_delta": 0.9}
granted |= {"total_spent_epsilon": 0.0, "total_spent_delta": 0.0}
database = {
    "users": [{"user_name": "ada", "may_query": True, "datasets_list": [granted]}],
    "datasets": [
        {
            "dataset_name": "rows",
            "dataset_access": local(str(folder / "rows.csv")),
            "metadata_access": local(write("metadata.yaml", metadata)),
        }
    ],
    "queries": [],
}
server = {"host_ip": "127.0.0.1", "host_port": port, "log_level": "error", "reload": False}
server |= {"workers": 1, "time_attack": {"method": "jitter", "magnitude": 0.0}}
settings = {
    "develop_mode": False,
    "server": server,
    "submit_limit": 0,
    "admin_database": {"db_type": "yaml", "db_file": write("database.yaml", database)},
    "private_db_credentials": [],
    "dp_libraries": {
        "opendp": {"contrib": True, "floating_point": True, "honest_but_curious": True}
    },
}
known = {
    "LOMAS_CONFIG_PATH": write("runtime.yaml", {"runtime_args": {"settings": settings}}),
    "LOMAS_SECRETS_PATH": write("secrets.yaml", {}),
    "OTEL_SDK_DISABLED": "true",
}
line = [sys.executable, "-m", "uvicorn", "lomas_server.app:app", "--port", str(port)]
process = subprocess.Popen(
    [*line, "--log-level", "error"],
    env=os.environ | known,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
)
asked = {
    "dataset_name": "rows",
    "query_str": "SELECT bin, COUNT(*) AS people FROM df GROUP BY bin",
    "epsilon": 1.0,
    "delta": 1e-6,
    "mechanisms": {},
    "postprocess": True,
}


def ask() -> float:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/smartnoise_sql_query",
        json.dumps(asked).encode(),
        {"content-type": "application/json", "user-name": "ada"},
    )
    started = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        answer.read()
    return time.perf_counter() - started


try:
    deadline = time.monotonic() + 60
    while True:
        try:
            ask()
            break
        except urllib.error.HTTPError as error:
            sys.exit(error.read().decode()[:300])
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("Lomas does not start")
            time.sleep(0.3)
    print(json.dumps(statistics.median([ask() for _ in range(rounds)])))
finally:
    process.terminate()
    process.wait()
