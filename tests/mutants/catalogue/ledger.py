"""Mistakes of the verifier of the ledger."""

from tests.mutants.mutant import Mutant

PARTS = "tests/privacy/ledger/test_parts.py"

MUTANTS = (
    Mutant(
        "parts_of_any_request",
        "The parts of a charge are not compared with those of its signed request.",
        "privacy/ledger/parts.py",
        "        _check_planned(_planned(kind, plan, charge.request, audience), stated)\n",
        "        _planned(kind, plan, charge.request, audience)\n",
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
        "assumptions_are_not_asked_for",
        "A charge need not state what its promise rests on.",
        "privacy/ledger/replay.py",
        "if stated != expected:",
        "if len(stated) > len(expected):",
        (f"{PARTS}::test_a_charge_that_does_not_state_its_assumptions",),
    ),
    Mutant(
        "verifier_lets_any_kind_be_hidden",
        "Charges of any kind on a hidden audience verify, although they debited nobody.",
        "privacy/ledger/replay.py",
        "and plan and body.kind not in HIDDEN_KINDS:",
        "and plan and not body.kind:",
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
)
