"""Mistakes in how often noise is drawn, in what can be encoded, and in what time shows."""

from tests.mutants.mutant import Mutant

ONE_DRAW = "tests/system/test_one_draw.py"
ENCODABLE = "tests/api/audits/test_noise_limits.py"
MATCHER = "tests/api/audiences/test_background_matcher.py"
QUOTA = "tests/system/test_matching_quota.py"
BOUNDARIES = "tests/api/two_party/test_boundaries.py"

MUTANTS = (
    Mutant(
        "a_failed_draw_is_retried",
        "An exception after noise was drawn is an attempt like any other, and draws again.",
        "api/audits/queue/worker.py",
        "raise DrawnError from error",
        "raise error",
        (
            f"{ONE_DRAW}::test_a_failure_after_the_draw_is_final"
            "[error0-after noise, before the receipt]",
        ),
    ),
    Mutant(
        "a_failed_commit_is_retried",
        "A release that cannot be committed is made again, with new noise.",
        "api/audits/queue/worker.py",
        "self._fail_drawn(some[0].audit, error)",
        "self._failed(some[0].audit, error)",
        (
            f"{ONE_DRAW}::test_a_failure_after_the_draw_is_final"
            "[error0-after the release is written, before it is committed]",
        ),
    ),
    Mutant(
        "a_mark_is_not_looked_at",
        "An audit whose failure after the draw could not be written is drawn again.",
        "api/audits/queue/worker.py",
        "if final_failures.is_marked(audit.id):",
        "if final_failures.is_marked(audit.kind):",
        (
            f"{ONE_DRAW}::test_a_failure_after_the_draw_is_final_although_the_database_was_down"
            "[True-after noise, before the receipt]",
        ),
        raises=("Failed",),
    ),
    Mutant(
        "noise_is_not_clipped",
        "Noisy cells leave the integers that canonical JSON carries.",
        "privacy/tables/bounded_table.py",
        "return np.clip(cells, -LARGEST, LARGEST)",
        "return cells",
        (f"{ENCODABLE}::test_noise_that_leaves_64_bits_does_not_wrap_around",),
    ),
    Mutant(
        "noise_wraps_around",
        "Noise at the end of 64 bits is added to a cell as it is.",
        "privacy/tables/bounded_table.py",
        "np.clip(noise, -_FAR, _FAR)",
        "noise",
        (f"{ENCODABLE}::test_noise_that_leaves_64_bits_does_not_wrap_around",),
    ),
    Mutant(
        "overflow_is_not_refused",
        "A plan whose release would be clipped is charged.",
        "api/audits/noise_limits.py",
        "if found is None:",
        "if found is None or found.given < 1:",
        (f"{ENCODABLE}::test_a_refusal_names_the_table_in_the_units_of_the_request",),
    ),
    Mutant(
        "overflow_is_not_looked_for",
        "Prices are quoted and charged for noise that no release can hold.",
        "api/audits/request_pricing.py",
        "    noise_limits.refuse_overflow(kind, plan, facts)\n",
        "",
        (
            f"{ONE_DRAW}::test_noise_that_no_release_can_hold_is_refused_before_it_is_charged"
            "[0.000011]",
        ),
    ),
    Mutant(
        "matches_are_written_when_found",
        "A part is written down as soon as it is matched, and not at its public time.",
        "api/audiences/background_matcher.py",
        "self.sleep(max(0.0, begun + duration - self.clock()))",
        "self.sleep(0.0)",
        (f"{MATCHER}::test_a_part_is_stored_at_its_public_time_regardless_of_matches",),
    ),
    Mutant(
        "matching_is_not_counted",
        "Parts are matched without being counted against the quota of their auditor.",
        "api/audiences/uploads.py",
        "    quota.count(session, audience.auditor_id, rows, settings)\n",
        "",
        (f"{QUOTA}::test_parts_count_each_time_they_are_sent_regardless_of_matches[sqlite-True]",),
        raises=("NoResultFound",),
    ),
    Mutant(
        "quota_counts_the_last_part",
        "Parts of one day do not add up: each is compared with the quota alone.",
        "api/audiences/quota.py",
        "THEN 0 ELSE matching_quotas.identifiers END",
        "THEN 0 ELSE 0 END",
        (f"{QUOTA}::test_a_new_day_begins_at_nothing[sqlite]",),
    ),
    Mutant(
        "failures_cost_by_number",
        "A batch is not filled up with calls about nobody, so calls tell how many people failed.",
        "api/platforms/fault_isolation.py",
        "    if failed:\n",
        "    if False:\n",
        (
            "tests/api/platforms/test_fault_isolation.py::test_one_to_four_failing_people_cost_the_same",
        ),
    ),
    Mutant(
        "one_auditor_takes_all_slots",
        "One auditor may hold every slot in which parts are matched.",
        "api/audiences/matching_slots.py",
        "min(self.parts - 1, self.parts // len(auditors))",
        "self.parts",
        (
            "tests/api/audiences/test_matching_slots.py::test_one_auditor_alone_leaves_a_slot_for_another",
        ),
    ),
    Mutant(
        "running_counts_have_room_for_one_node",
        "A tree is charged whose running counts would be clipped, although its nodes would not.",
        "privacy/waist/overflow.py",
        "exact = exponent * factor * nodes.bounds.added.l1 / room",
        "exact = exponent * nodes.bounds.added.l1 / room",
        (f"{ENCODABLE}::test_a_running_count_adds_up_the_noise_of_many_nodes[30]",),
    ),
    Mutant(
        "a_replaced_run_answers",
        "A run that another run replaced after its draw commits its answer.",
        "api/two_party/exchange.py",
        "if row.run != run.name or session.exec(running.with_for_update()).first() is None:",
        "if session.exec(running.with_for_update()).first() is None:",
        (f"{BOUNDARIES}::test_a_run_that_is_replaced_after_its_draw_cannot_answer",),
    ),
    Mutant(
        "an_ended_audit_answers",
        "A run commits its answer although its audit has ended since the draw.",
        "api/two_party/exchange.py",
        "if row.run != run.name or session.exec(running.with_for_update()).first() is None:",
        "if row.run != run.name:",
        (f"{BOUNDARIES}::test_an_audit_that_ends_after_the_draw_is_not_answered",),
        raises=("ConflictError",),
    ),
    Mutant(
        "a_marked_run_draws",
        "A run draws noise on the charge of an audit that must fail after the draw of another run.",
        "api/two_party/platform_half.py",
        "        finish_failed(self.audit.id)\n        self.drawn = True\n",
        "        self.drawn = True\n",
        (f"{BOUNDARIES}::test_a_run_of_an_audit_that_must_fail_draws_no_noise",),
    ),
    Mutant(
        "noise_that_was_not_added_was_not_drawn",
        "A run counts as drawn only when the waist has returned.",
        "api/two_party/platform_half.py",
        "        self.drawn = True\n"
        "        noisy = waist.release(plan, {SUMS: table}, paid=paid)[SUMS]\n",
        "        noisy = waist.release(plan, {SUMS: table}, paid=paid)[SUMS]\n"
        "        self.drawn = True\n",
        (f"{BOUNDARIES}::test_noise_that_cannot_be_added_is_not_drawn_again",),
        raises=("ValueError",),
    ),
    Mutant(
        "a_lost_audit_is_given_back",
        "A worker gives back, or fails, an audit that another worker has claimed since.",
        "api/audits/queue/worker.py",
        "            rows = leases.still_held(session, [audit])\n"
        "            if not rows:\n"
        "                return\n"
        "            [row] = rows\n",
        "            row = session.get_one(AuditRow, audit.id)\n",
        ("tests/system/test_released_together.py::test_who_lost_an_audit_does_not_give_it_back",),
    ),
    Mutant(
        "two_models_are_released_as_one",
        "A worker releases scores although the model changed while it read.",
        "api/audits/release.py",
        "if kind.model_digest(request, platform) != model:",
        "if model is None and kind.model_digest(request, platform):",
        ("tests/api/audits/queue/test_worker.py::test_scores_of_two_models_are_not_released",),
    ),
    Mutant(
        "two_models_are_summed_as_one",
        "A two-party run answers although the model changed while it read.",
        "api/two_party/platform_half.py",
        "if self._model() != self.model:",
        "if self.model is None and self._model():",
        (f"{BOUNDARIES}::test_values_of_two_models_are_not_released",),
    ),
)
