"""A platform with 1,000 people behind HTTP: a template for an adapter of your own.

It needs Python, NumPy and pyarrow, and nothing of platform-auditor.
"""

import hashlib
import hmac
import io
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pyarrow as pa

# What your company has: accounts, what the model sees of people, a model.
PEOPLE = 1_000
NAMES = {f"user{i}": i for i in range(PEOPLE)}
EMAILS = {hashlib.sha256(f"user{i}@example.org".encode()).digest(): i for i in range(PEOPLE)}
GENDER = np.arange(PEOPLE) % 2
SEEN = np.random.default_rng(1).normal(size=(PEOPLE, 2))
WEIGHTS = {"job": (0.5, -1.0), "housing": (1.0, 0.3)}
MODEL = "sha256:" + hashlib.sha256(json.dumps(WEIGHTS, sort_keys=True).encode()).hexdigest()

TOKEN = os.environ["ADAPTER_TOKEN"]
FACTS = {
    "protocol": 1,
    "name": "Our platform",
    "offers": {"gender": {"woman": 200, "man": 200}},
    "scores": {"model_digest": MODEL, "score_range": [0, 1], "context": {}},
}


def match(ask, rows):
    known = {"username": NAMES, "email_sha256": EMAILS}.get(ask["kind"], {})
    return {"person": [known.get(each, -1) for each in rows["identifier"].to_pylist()]}


def sample(ask, rows):
    chance = np.random.default_rng(int(ask["seed"], 16))
    values, persons = [], []
    for value, size in ask["sizes"].items():
        code = ("woman", "man").index(value)
        there = np.flatnonzero(code == GENDER)
        persons += list(chance.choice(there, size, replace=False))
        values += [value] * size
    return {"value": values, "person": persons}


def confirmed(ask, rows):
    return {"person": []}


def score(ask, rows):
    person = rows["person"].to_numpy()
    gone = (person < 0) | (person >= PEOPLE)
    seen = SEEN[np.where(gone, 0, person)]
    first, second = WEIGHTS.get(ask["content"]["kind"], (0.0, 0.0))
    # Column by column: a score must not depend, to the last bit, on who else is asked about.
    odds = first * seen[:, 0] + second * seen[:, 1]
    return {"score": np.where(gone, np.nan, 1 / (1 + np.exp(-odds)))}


CALLS = {"match": match, "sample": sample, "confirmed": confirmed, "score": score}
TYPES = {"person": pa.int64(), "value": pa.string(), "score": pa.float64()}


class Adapter(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if not self.allowed():
            return self.answer(401)
        if self.path != "/v1/platform":
            return self.answer(404)
        return self.answer(200, json.dumps(FACTS).encode(), "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.allowed():
            return self.answer(401)
        call = CALLS.get(self.path.removeprefix("/v1/"))
        if call is None:
            return self.answer(404)
        try:
            return self.answer(200, answered(call, body), "application/vnd.apache.arrow.stream")
        except Exception as error:
            print(type(error).__name__, file=sys.stderr)  # into your log, never into the answer
            return self.answer(500)

    def allowed(self):
        return hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {TOKEN}")

    def answer(self, status, body=b"", kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def answered(call, body):
    with pa.ipc.open_stream(body) as stream:
        rows, ask = stream.read_all(), json.loads(stream.schema.metadata[b"ask"])
    columns = {name: pa.array(column, TYPES[name]) for name, column in call(ask, rows).items()}
    table = pa.table(columns).replace_schema_metadata({"model_digest": MODEL})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8100"))
    ThreadingHTTPServer(("127.0.0.1", port), Adapter).serve_forever()
