"""Progress of a two-party audit, computed from its terms and the number of its messages only."""

from api.audits.pricing import load_audience_facts
from api.db import AudienceRow, AuditRow, MandateRow, RunRow
from api.db.types import as_decimal
from api.kinds.two_party import terms_of
from api.mandates.regulator_key import load_regulator_key
from api.two_party.delivery import find_draw
from api.two_party.dependencies import TwoPartyParts
from openapi.resources import REQUEST, TwoPartyRequest, TwoPartyRun
from privacy.two_party.message_order import list_messages


def to_wire(parts: TwoPartyParts, audit: AuditRow) -> TwoPartyRun:
    request = REQUEST.validate_json(audit.request)
    if not isinstance(request, TwoPartyRequest):
        raise TypeError(f"{audit.id} is not a two-party audit.")
    live = parts.runs.find(audit.id)
    with parts.store.read() as session:
        mandate = session.get_one(MandateRow, audit.mandate_id)
        facts = load_audience_facts(session, session.get_one(AudienceRow, audit.audience_id))
        run = session.get(RunRow, audit.id)
        terms = terms_of(request, facts, audit.id)
        expected = 2 * len(list_messages(terms))
        answered = run is not None and run.answered_at is not None
        awaited = (
            find_draw(session, audit, run).awaited if run and audit.state == "running" else None
        )
        return TwoPartyRun(
            audit_id=audit.id,
            terms=terms.to_json().decode(),
            regulator_id=mandate.granted_by,
            regulator_jwk=load_regulator_key(session, mandate),
            opened_share=str(as_decimal(mandate.opened_share)),
            messages=expected if answered else live.party.number if live else 0,
            messages_expected=expected,
            answered=answered,
            awaited=awaited if answered else None,
            transcript=run.transcript if run else None,
        )
