"""Weighted sums by python-paillier, run in its own environment: seconds per value, as JSON."""

import json
import random
import time

import phe  # type: ignore[import-not-found]

VALUES = 200


def main() -> None:
    public, private = phe.generate_paillier_keypair(n_length=2048)
    weights, values = ([random.randrange(2**20) for _ in range(VALUES)] for _ in range(2))
    started = time.perf_counter()
    encrypted = [public.encrypt(weight) for weight in weights]
    encrypting = time.perf_counter() - started
    started = time.perf_counter()
    total = encrypted[0] * values[0]
    for cipher, value in zip(encrypted[1:], values[1:], strict=True):
        total += cipher * value
    summing = time.perf_counter() - started
    assert private.decrypt(total) == sum(w * v for w, v in zip(weights, values, strict=True))
    each = {"encrypt": encrypting / VALUES, "sum": summing / VALUES}
    figures = {**each, "bytes": 512, "values": VALUES}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
