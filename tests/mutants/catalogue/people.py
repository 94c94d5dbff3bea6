"""Mistakes in what binds a charge to the people it debits."""

from tests.mutants.mutant import Mutant

UNBOUND = "tests/attacks/test_unbound_people.py"
DIGEST = "tests/api/accounting/test_people_digest.py"
RECORDED = "tests/api/two_party/test_charged_people.py"
NEGATIVE = "tests/api/accounting/test_balances_below_zero.py"
CANDIDATES = "tests/api/two_party/test_candidates.py"
EXCHANGES = "tests/attacks/test_exchanges.py"
BOUNDARIES = "tests/api/two_party/test_boundaries.py"

MUTANTS = (
    Mutant(
        "worker_reads_whoever_is_there",
        "A worker does not compare the people of an audience with the digest of the charge.",
        "api/audits/job.py",
        "if not known or not is_bound(digest, audit.id, people, facts.members, settings):",
        "if not known:",
        (f"{UNBOUND}::test_people_who_changed_after_the_charge_are_not_read[somebody_more]",),
    ),
    Mutant(
        "second_run_offers_everybody",
        "A run after the first that read is compared with everybody, not with recorded people.",
        "api/two_party/candidates.py",
        "return everybody if recorded is None else _among(everybody, recorded)",
        "return everybody",
        (f"{CANDIDATES}::test_a_second_run_is_compared_with_recorded_people_alone",),
    ),
    Mutant(
        "wrong_proof_of_a_replaced_run_is_forgotten",
        "A wrong proof ends nothing if another run began while it was verified.",
        "api/two_party/exchange.py",
        "fail_run(parts.store, audit.id, None, WRONG_PROOF)",
        "fail_run(parts.store, audit.id, run.name, WRONG_PROOF)",
        (
            f"{EXCHANGES}::"
            "test_a_run_that_begins_while_a_wrong_proof_is_verified_does_not_save_the_charge",
        ),
    ),
    Mutant(
        "digest_counts_people",
        "The digest of a charge covers how many people there are, and not who they are.",
        "api/accounting/people_digest.py",
        'mac.update(np.ascontiguousarray(group, "<i8").data)',
        "mac.update(bytes(_PERSON_BYTES * len(group)))",
        (f"{DIGEST}::test_the_same_people_in_other_groups_have_another_digest",),
    ),
    Mutant(
        "digest_forgets_groups",
        "The digest of a charge covers everybody, and not who is in which group.",
        "api/accounting/people_digest.py",
        'pack(f">{3 + len(sizes)}Q", len(name), people.groups_per_person, len(sizes), *sizes)',
        'pack(">3Q", len(name), people.groups_per_person, len(sizes))',
        (f"{DIGEST}::test_the_same_people_in_other_groups_have_another_digest",),
    ),
    Mutant(
        "digest_forgets_the_audit",
        "The digest of one charge holds for every other charge on the same people.",
        "api/accounting/people_digest.py",
        "    mac.update(name)\n",
        "",
        (f"{DIGEST}::test_it_depends_on_audit_key_and_bounds_and_on_nothing_else",),
    ),
    Mutant(
        "no_digest_binds_everybody",
        "A charge without recorded people is bound to the people who are there.",
        "api/accounting/people_digest.py",
        "return digest is not None and hmac.",
        "return digest is None or hmac.",
        (f"{DIGEST}::test_a_charge_without_a_digest_is_bound_to_nobody",),
    ),
    Mutant(
        "older_charge_binds_everybody",
        "A charge before migration 0015 is bound to the people of its audience.",
        "api/accounting/people_digest.py",
        "return digest is not None and hmac.",
        "return digest == BEFORE_0015 or digest is not None and hmac.",
        (f"{DIGEST}::test_a_charge_without_a_digest_is_bound_to_nobody",),
    ),
    Mutant(
        "digest_covers_who_was_dropped",
        "The digest of a charge covers people above the cap, who were not debited.",
        "api/accounting/charge.py",
        "debited = lifetime_caps.within_cap(found.membership, masks)",
        "debited = found.membership",
        (f"{UNBOUND}::test_a_dropped_person_cannot_be_put_back",),
    ),
    Mutant(
        "refund_goes_to_whoever_is_there",
        "A refund does not compare the people of an audience with the digest of the charge.",
        "api/accounting/charge.py",
        "if not is_bound(row.people_digest, row.audit_id, people, uploaded, settings):",
        "if row.people_digest is None:",
        (f"{UNBOUND}::test_people_who_changed_after_the_charge_are_not_read[groups_exchanged]",),
    ),
    Mutant(
        "replaced_people_stay_debited",
        "When another run replaces a set of people, the old set gets nothing back.",
        "api/accounting/charge.py",
        "    _refund_people(session, row, settings)\n    _, rows =",
        "    _, rows =",
        (f"{RECORDED}::test_a_run_replaces_a_set_on_which_nothing_was_read",),
    ),
    Mutant(
        "found_people_above_the_cap_are_read",
        "People whom a run finds in a hidden audience are read although they are above the cap.",
        "api/accounting/charge.py",
        "people = lifetime_caps.within_cap(everybody, masks)",
        "people = everybody",
        (f"{RECORDED}::test_people_above_the_cap_are_dropped_and_not_read",),
    ),
    Mutant(
        "a_run_reads_whom_it_found",
        "A run reads everybody whom it found, and not only people whom the charge debits.",
        "api/two_party/platform_half.py",
        "return np.isin(persons, debited.everyone())",
        "return np.isin(persons, persons)",
        (f"{RECORDED}::test_people_above_the_cap_are_dropped_and_not_read",),
    ),
    Mutant(
        "every_kind_takes_hidden_audiences",
        "The sources that a kind supports are not compared with the audience.",
        "api/audits/request_pricing.py",
        "if facts.source not in supported:",
        "if not supported:",
        (f"{UNBOUND}::test_no_other_kind_takes_a_hidden_audience[score-histogram]",),
    ),
    Mutant(
        "kinds_declare_hidden_audiences",
        "Kinds that debit people at the charge declare that they support hidden audiences.",
        "api/kinds/protocol.py",
        'frozenset({"upload", "confirmed", "sample"})',
        'frozenset({"upload", "confirmed", "sample", "hidden"})',
        (f"{UNBOUND}::test_every_kind_says_which_sources_it_takes",),
    ),
    Mutant(
        "hidden_audiences_have_open_slots",
        "Bounds on a hidden audience do not count whom one candidate displaces.",
        "privacy/plans/kind_plan.py",
        'frozenset({"sample", "hidden"})',
        'frozenset({"sample"})',
        (
            "tests/api/audits/test_pricing.py::test_in_a_sample_people_displace_each_other[hidden-True]",
        ),
    ),
    Mutant(
        "balances_below_zero_are_written",
        "A balance below zero is left to the database to refuse.",
        "api/accounting/balance_blocks.py",
        "if (lowest < 0).any():",
        "if (lowest == 1 << 62).any():",
        (f"{NEGATIVE}::test_no_column_is_written_with_a_balance_below_zero[sqlite-spent]",),
        raises=("IntegrityError",),
    ),
    Mutant(
        "minimum_of_loaded_columns",
        "The minimum of a block leaves out the columns that a charge does not read.",
        "api/accounting/balance_blocks.py",
        "open_ = self.written & (lowest > 0)",
        "open_ = lowest < 0; return lowest",
        (f"{NEGATIVE}::test_every_rewrite_writes_the_minimum_of_the_block[sqlite-carried-False]",),
    ),
    Mutant(
        "minimum_of_one_column",
        "The minimum of a block is that of what was spent, and leaves out the other columns.",
        "api/accounting/balance_blocks.py",
        "min(axis=1) for balances in self.columns.values()]",
        'min(axis=1) for balances in [self["spent"]]]',
        (f"{NEGATIVE}::test_no_column_is_written_with_a_balance_below_zero[sqlite-drawn]",),
    ),
    Mutant(
        "a_hidden_audience_is_used_again",
        "A hidden audience is taken by an audit only until its run begins to read.",
        "api/audits/pricing.py",
        'AuditRow.state != "cancelled"',
        'AuditRow.state == "charged"',
        (
            "tests/api/two_party/test_boundaries.py"
            "::test_people_found_by_a_hidden_audience_are_debited_once",
        ),
        long=True,
    ),
    Mutant(
        "worker_reads_hidden",
        "A worker takes an audit on a hidden audience, whose people no charge has recorded.",
        "api/audits/job.py",
        "if not known or not is_bound(",
        "if known and not is_bound(",
        (f"{UNBOUND}::test_an_audit_that_waits_reads_and_refunds_nobody_whom_it_did_not_debit",),
    ),
    Mutant(
        "map_not_checked",
        "A run after the first that read does not compare people with the digest of the charge.",
        "api/two_party/platform_half.py",
        "debited, _ = load_charged_people(\n"
        "                    session, *_charge_of(session, audit), self.settings\n"
        "                )",
        "charged = _charge_of(session, audit)\n"
        "                debited, _ = (\n"
        "                    load_charged_members(session, audit.id, charged[1])\n"
        "                    if self.final\n"
        "                    else load_charged_people(session, *charged, self.settings)\n"
        "                )",
        (f"{RECORDED}::test_a_later_run_reads_nobody_either",),
    ),
    Mutant(
        "third_party_hidden_src",
        "A kind of a package takes hidden audiences if it declares that it does.",
        "api/audits/request_pricing.py",
        "sorted(kind.sources & KNOWN_AT_CHARGE if is_third_party(name) else kind.sources)",
        "sorted(kind.sources)",
        (
            "tests/api/audits/test_pricing.py"
            "::test_a_kind_of_a_package_cannot_declare_that_it_takes_hidden_audiences",
        ),
    ),
    Mutant(
        "a_run_begins_after_the_answer",
        "A first message that was read before the answer begins another run after it.",
        "api/two_party/exchange.py",
        "        if row is not None and row.answered_at is not None:\n"
        "            raise BeginAgainError("
        '"Another run was answered at this moment. Send its last message.")\n',
        "",
        (f"{BOUNDARIES}::test_a_run_that_begins_while_another_is_answered_begins_nothing",),
    ),
    Mutant(
        "a_replaced_run_reads",
        "A run that another run has replaced may still read.",
        "api/two_party/platform_half.py",
        'if row is None or audit.state not in ("charged", "running") or audit.stopped:',
        'if audit.state not in ("charged", "running") or audit.stopped:',
        (f"{RECORDED}::test_a_run_that_was_replaced_reads_nobody",),
    ),
)
