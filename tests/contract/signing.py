"""A hook for Schemathesis that signs requests, so code behind the signature check is tested too.

A hook of its own process (`SCHEMATHESIS_HOOKS`). Where a case means to send no signature, or one
that has not the form of one, it is left alone.
"""

import json
import os
from typing import Any

import schemathesis
from joserfc.jwk import OKPKey
from pydantic import TypeAdapter, ValidationError

from openapi.kinds.kind_union import KindUnion
from openapi.resources import ErasureDraft, MandateChangeDraft, MandateStateDraft, RemovalDraft
from privacy.errors import StatementError
from tests.statements import Maker, headers
from tests.system.raw import SIGNED, Raw

WHO = "TEST_WHO_SIGNS"
FORMS: dict[str, tuple[str, TypeAdapter[Any] | KindUnion[Any]]] = {
    **SIGNED,
    "/v1/regulator/suspensions": ("suspension", TypeAdapter(MandateStateDraft)),
    "/v1/regulator/resumptions": ("resumption", TypeAdapter(MandateStateDraft)),
    "/v1/regulator/terminations": ("termination", TypeAdapter(MandateStateDraft)),
    "/v1/regulator/mandate-changes": ("mandate-change", TypeAdapter(MandateChangeDraft)),
    "/v1/regulator/removals": ("researcher-removal", TypeAdapter(RemovalDraft)),
    "/v1/regulator/erasures": ("erasure", TypeAdapter(ErasureDraft)),
}


def environment(who: Raw) -> dict[str, str]:
    """Return the environment with the keys that the process needs for signing."""
    assert who.statements
    key = who.statements._key.as_dict(private=True)
    signer = {"by": who.statements._maker, "key": key, "origin": who.statements.origin()}
    return {WHO: json.dumps(signer), "SCHEMATHESIS_HOOKS": __name__}


if WHO in os.environ:
    known = json.loads(os.environ[WHO])
    maker = Maker(known["by"], OKPKey.import_key(known["key"]), known["origin"])

    @schemathesis.hook
    def before_call(_: schemathesis.HookContext, case: schemathesis.Case[Any], **__: Any) -> None:
        """Sign what the case sends."""
        named = {name.lower() for name in case.headers or {}}
        if case.path not in FORMS or not {"idempotency-key", "statement-signature"} <= named:
            return
        action, form = FORMS[case.path]
        sent = {name.lower(): value for name, value in case.headers.items()}
        # The shortest key is what it sends where it is not the key that it tries.
        once = None if sent["idempotency-key"] == "0" * 8 else str(sent["idempotency-key"])
        try:
            stated = maker.states(action, form.validate_python(case.body), once)
        except (ValidationError, StatementError, ValueError):  # nothing that can be signed
            return
        case.headers.update(headers(stated))
