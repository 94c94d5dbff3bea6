"""Mistakes of the verifier of the ledger."""

from tests.mutants.mutant import Mutant

PARTS = "tests/privacy/ledger/test_parts.py"
REPLAY = "tests/privacy/ledger/test_replay.py"
DISPLACEMENT = "tests/privacy/ledger/test_displacement.py"

MUTANTS = (
    Mutant(
        "parts_of_any_request",
        "The parts of a charge are not compared with those of its signed request.",
        "privacy/ledger/parts.py",
        "        _check_planned(planned, stated, older=charge.older)\n",
        "",
        (f"{PARTS}::test_parts_of_another_request_or_audience",),
    ),
    Mutant(
        "bounds_of_any_request",
        "The bounds of a part are not compared with those of the signed request.",
        "privacy/ledger/parts.py",
        "if (part.bounds.rule, part.bounds.shape, part.bounds.declared) != bounds:",
        "if part.bounds.rule != rule.name:",
        (f"{PARTS}::test_parts_of_another_request_or_audience",),
    ),
    Mutant(
        "sensitivity_is_believed",
        "The sensitivity of a part is not computed again from its bounds.",
        "privacy/ledger/parts.py",
        "elif rule.sensitivity(bounds.shape) != stated:",
        "elif stated.added.l1 < 0:",
        (f"{PARTS}::test_a_number_that_does_not_follow",),
    ),
    Mutant(
        "scale_is_believed",
        "The scale of a part is not computed again from its sensitivity.",
        "privacy/ledger/parts.py",
        "if part.scale != exact_scale(part.mechanism, bounds.shape, stated.added, parameter):",
        "if not exact_scale(part.mechanism, bounds.shape, stated.added, parameter):",
        (f"{PARTS}::test_a_number_that_does_not_follow",),
    ),
    Mutant(
        "more_groups_per_person_than_there_are",
        "The bounds of an audience count more groups per person than it has.",
        "privacy/ledger/entry_schemas.py",
        "groups_per_person=min(self.groups_per_person, self.groups),",
        "groups_per_person=self.groups_per_person,",
        (f"{PARTS}::test_nobody_counts_in_more_groups_than_there_are",),
        ("InvalidLedgerError",),
    ),
    Mutant(
        "older_sample_is_an_upload",
        "On a sample of the format before nobody displaces anybody.",
        "privacy/ledger/parts.py",
        "            _check_displacing(part, plan)\n",
        "            pass\n",
        (f"{DISPLACEMENT}::test_a_charge_on_an_older_sample_is_not_priced_as_an_upload",),
    ),
    Mutant(
        "older_hidden_audience_without_displacement",
        "On a hidden audience of the format before nobody displaces anybody.",
        "privacy/ledger/entry_schemas.py",
        'candidates=1 if self.source == "hidden" else None,',
        "candidates=None,",
        (f"{DISPLACEMENT}::test_a_charge_on_an_older_hidden_audience_counts_the_displaced",),
    ),
    Mutant(
        "assumptions_are_not_asked_for",
        "A charge need not state what its promise rests on.",
        "privacy/ledger/replay.py",
        "is_stated = (stated if kind in self._plans else stated[: len(expected)]) == expected",
        "is_stated = len(stated) <= len(expected)",
        (f"{PARTS}::test_a_charge_that_does_not_state_its_assumptions",),
    ),
    Mutant(
        "verifier_lets_any_kind_be_hidden",
        "Charges of any kind on a hidden audience verify, although they debited nobody.",
        "privacy/ledger/replay.py",
        "known_at_charge = third_party or (plan is not None and not plan.hidden_audiences)",
        "known_at_charge = third_party",
        (f"{PARTS}::test_a_hidden_audience_is_charged_for_no_other_kind",),
    ),
    Mutant(
        "any_request_is_carried",
        "The request that a charge carries is not compared with the digest that was signed.",
        "privacy/ledger/requests.py",
        'if body.get("request") != f"sha256:{sha256(written).hexdigest()}":',
        'if not body.get("request", "").startswith(f"{sha256().name}:"):',
        (f"{PARTS}::test_a_charge_that_does_not_carry_its_request",),
    ),
    Mutant(
        "mechanism_is_believed",
        "The mechanism of a part is not compared with that of the signed request.",
        "privacy/ledger/parts.py",
        "if part.mechanism != plan.mechanism:",
        "if not part.mechanism:",
        (f"{PARTS}::test_another_mechanism_than_was_asked_for",),
    ),
    Mutant(
        "two_audits_under_one_charge",
        "An identifier of a charge is accepted again for another audit.",
        "privacy/ledger/replay.py",
        "if facts.audit_id in self._charges or facts.charge_id in self._charge_ids:",
        "if facts.audit_id in self._charges:",
        (f"{REPLAY}::test_two_audits_under_one_charge",),
    ),
    Mutant(
        "a_failed_audit_is_refunded",
        "A charge is given back after its audit failed, although people may have been read.",
        "privacy/ledger/replay.py",
        "        # A charge is given back only while nothing was read on it.\n"
        '        if charge.state != "charged":',
        '        if charge.state == "released" or charge.refunded:',
        (f"{REPLAY}::test_a_refund_after_a_failure",),
    ),
    Mutant(
        "an_answered_run_is_refunded",
        "The charge of a two-party run is given back after its answer.",
        "privacy/ledger/two_party_runs.py",
        "        if audit_id in self._answers:\n",
        "        if audit_id in self._accused:\n",
        ("tests/privacy/ledger/test_two_party_runs.py::test_what_was_answered_is_not_refunded",),
    ),
)
