"""Mistakes in the two-party protocol and in the values that people add to it."""

from tests.mutants.mutant import Mutant

JOINS = "tests/privacy/two_party/test_joins.py"
TERMS = "tests/privacy/two_party/test_terms.py"
PARTIES = "tests/privacy/two_party/test_parties.py"
SUMS = "tests/privacy/two_party/test_sums.py"
OPENING = "tests/privacy/two_party/test_opening.py"
MESSAGES = "tests/privacy/two_party/test_messages.py"
DLEQ = "tests/privacy/two_party/test_dleq.py"
MALLEABLE = "tests/privacy/two_party/test_malleable.py"
MATCHING = "tests/privacy/two_party/test_private_set_intersection.py"
LISTS = "tests/privacy/metric_values/test_list_extraction.py"
METRICS = "tests/privacy/metric_values/test_metrics.py"
CAPPING = "tests/privacy/metric_values/test_list_caps.py"

MUTANTS = (
    Mutant(
        "candidates_are_not_shuffled",
        "The platform's candidates are sent in an order that tells people from padding.",
        "privacy/two_party/joins.py",
        "order = draw_permutation(size)",
        "order = np.arange(size)",
        (
            f"{JOINS}::test_the_order_is_drawn_anew_each_time_and_tells_nothing_of_the_directory",
            f"{JOINS}::test_padding_is_anywhere_among_the_people",
        ),
    ),
    Mutant(
        "padding_is_constant",
        "Padding is the same token everywhere, which everybody can recognise.",
        "privacy/two_party/joins.py",
        "_tokens(os.urandom(TOKEN * lacking))",
        "_tokens(bytes(TOKEN * lacking))",
        (f"{JOINS}::test_padding_is_never_the_same_token_twice",),
    ),
    Mutant(
        "a_person_counts_in_every_row",
        "A person whom several rows name counts in all of them.",
        "privacy/two_party/joins.py",
        "kept[first] = np.maximum(persons[first], NOBODY)",
        "kept[:] = np.maximum(persons, NOBODY)",
        (f"{JOINS}::test_a_person_counts_in_the_first_row_that_is_theirs_and_nobody_in_none",),
    ),
    Mutant(
        "public_size_displaces_nobody",
        "With a public number of candidates, sums are priced as if nobody displaced anybody.",
        "privacy/two_party/terms.py",
        "displacing=self.candidates is not None,",
        "displacing=False,",
        (f"{TERMS}::test_a_public_size_doubles_everything",),
    ),
    Mutant(
        "hidden_audiences_are_priced_like_uploads",
        "The terms of a run on a hidden audience do not say that its size is public.",
        "privacy/two_party/service_terms.py",
        "        candidates=candidates,\n",
        "",
        (
            "tests/privacy/two_party/test_service_terms.py"
            "::test_a_hidden_audience_reaches_twice_as_far_as_an_upload",
        ),
    ),
    Mutant(
        "entries_are_not_cut_to_their_total",
        "The values of one person together exceed what was priced.",
        "privacy/two_party/terms.py",
        "np.minimum(sizes, room)",
        "sizes",
        (
            "tests/privacy/two_party/test_entries.py"
            "::test_rows_are_cut_to_the_bounds_of_each_and_of_all",
        ),
    ),
    Mutant(
        "others_do_not_move",
        "Sums are priced as if one person's data never changed other people's values.",
        "privacy/plans/two_party.py",
        "moved=layout.moved",
        "moved=0",
        ("tests/api/kinds/test_two_party.py::test_a_price_of_lists_counts_everybody_in_them",),
    ),
    Mutant(
        "candidates_displace_nobody_in_the_price",
        "Sums on a hidden audience are priced as if no candidate displaced another.",
        "privacy/plans/two_party.py",
        "displacing=audience.candidates is not None,",
        "displacing=False,",
        ("tests/api/kinds/test_two_party.py::test_a_price_of_candidates_counts_the_displaced",),
    ),
    Mutant(
        "values_are_not_cut",
        "Values beyond the terms are multiplied by the weights as they are.",
        "privacy/two_party/platform_party.py",
        "self.terms.values.clip(self._values(persons[persons >= 0]))",
        "self._values(persons[persons >= 0])",
        (f"{PARTIES}::test_values_beyond_the_terms_are_cut_and_not_refused",),
        raises=("BoundsError",),
    ),
    Mutant(
        "a_failed_release_is_drawn_again",
        "After a release that failed half-way, the same run draws noise once more.",
        "privacy/two_party/platform_party.py",
        "self._spent = True\n        persons = self._matched()",
        "persons = self._matched()",
        (f"{PARTIES}::test_a_release_that_fails_is_not_tried_again",),
        raises=("OSError",),
    ),
    Mutant(
        "sums_are_not_flooded",
        "The noise of a ciphertext, in which values show, is not drowned.",
        "privacy/two_party/sums.py",
        "_lift(ring, noise) + randomness.uniform_within(self.flooding.bound)",
        "_lift(ring, noise)",
        (f"{SUMS}::test_flooded_noise_fills_its_range",),
    ),
    Mutant(
        "the_uniform_half_has_no_error",
        "The uniform half of a sum is a linear system, which the auditor solves for the values.",
        "privacy/two_party/sums.py",
        "halves[1] = add_modulo(halves[1], errors, ring.primes)",
        "halves[1] = add_modulo(halves[1], 0 * errors, ring.primes)",
        (f"{SUMS}::test_the_uniform_half_has_a_fresh_error_every_time",),
    ),
    Mutant(
        "sums_are_hidden_by_a_constant",
        "The secret that hides the uniform half of a sum is always 1.",
        "privacy/two_party/sums.py",
        "ring.plaintext(randomness.uniform_ternary(ring.degree))",
        "ring.plaintext(np.eye(1, ring.degree, dtype=np.int64)[0])",
        (f"{SUMS}::test_the_uniform_half_is_hidden_by_a_fresh_secret_every_time",),
    ),
    Mutant(
        "platform_reuses_its_nonce",
        "The platform's nonce is the same in every run, so the auditor chooses the run.",
        "privacy/two_party/platform_party.py",
        "self._nonce = os.urandom(NONCE)",
        "self._nonce = bytes(NONCE)",
        (
            "tests/privacy/two_party/test_nonces.py"
            "::test_every_party_of_every_run_has_a_nonce_of_its_own",
        ),
    ),
    Mutant(
        "run_forgets_a_nonce",
        "The name of a run does not depend on the platform's nonce.",
        "privacy/two_party/domain_separation.py",
        "terms + asked + answered).digest()",
        "terms + asked).digest()",
        (
            "tests/privacy/two_party/test_nonces.py"
            "::test_a_run_is_named_by_its_terms_and_both_nonces",
        ),
    ),
    Mutant(
        "history_is_not_bound",
        "A message of another history of the same run is accepted.",
        "privacy/two_party/messages.py",
        "if run != self._run or before != self.hash:",
        "if run != self._run:",
        (f"{MESSAGES}::test_no_byte_of_a_header_can_be_changed",),
    ),
    Mutant(
        "transcript_forgets_what_came_before",
        "The hash of a transcript covers its last message alone.",
        "privacy/two_party/messages.py",
        "sha256(_CHAIN + self.hash + message)",
        "sha256(_CHAIN + message)",
        (f"{MESSAGES}::test_frames_are_those_of_the_vectors_and_of_the_docstring",),
    ),
    Mutant(
        "points_of_two_runs_compare",
        "Tokens are hashed to the same point in every run.",
        "privacy/two_party/private_set_intersection.py",
        "sha512(_LABEL + run + token)",
        "sha512(_LABEL + token)",
        (f"{MATCHING}::test_two_keys_commute_and_two_runs_do_not_compare",),
    ),
    Mutant(
        "equal_points_pass_in_two_messages",
        "A point that was in an earlier message is accepted once more.",
        "privacy/two_party/private_set_intersection.py",
        "if len(new) != len(found) or not self._seen.isdisjoint(new):",
        "if len(new) != len(found):",
        (
            f"{MATCHING}::test_points_may_not_repeat_in_one_message_or_over_several",
            f"{MALLEABLE}::test_rows_are_compared_over_several_messages",
        ),
    ),
    Mutant(
        "equal_rows_are_accepted",
        "The platform accepts two rows that are the same point.",
        "privacy/two_party/platform_party.py",
        "            self._distinct_rows.take(rows)\n",
        "",
        (f"{MALLEABLE}::test_rows_may_be_anything_but_equal_or_no_points",),
    ),
    Mutant(
        "proof_is_not_verified",
        "The platform goes on without looking at the proof.",
        "privacy/two_party/platform_party.py",
        "verify(self._committed, self._proof_context, candidates, reblinded, proof, self._spread)",
        "pass",
        (f"{MALLEABLE}::test_candidates_under_many_keys_end_the_run_before_anybody_is_read",),
    ),
    Mutant(
        "challenge_forgets_what_was_returned",
        "Weights of the proof are known before points are returned, which can cancel under them.",
        "privacy/two_party/dleq.py",
        "    hashed.update(reblinded)\n",
        "",
        (f"{DLEQ}::test_points_that_cancel_under_known_weights_are_refused",),
    ),
    Mutant(
        "proof_is_not_of_the_commitment",
        "The proof shows one key for all candidates, which need not be the committed one.",
        "privacy/two_party/dleq.py",
        'seed + b"".join(points))',
        'seed + b"".join(points[:2] + points[3:]))',
        (f"{DLEQ}::test_a_proof_under_another_key_than_the_committed_one_is_refused",),
    ),
    Mutant(
        "proof_weighs_all_alike",
        "All candidates have one weight in the proof, so that two can be moved apart.",
        "privacy/two_party/dleq.py",
        '_scalar(label + number.to_bytes(_INDEX, "big"))',
        "_scalar(label)",
        (f"{DLEQ}::test_points_bent_before_the_proof_are_refused",),
    ),
    Mutant(
        "proof_holds_in_every_run",
        "The challenge does not cover the run and its earlier messages.",
        "privacy/two_party/dleq.py",
        'sha512(proof_label("seed") + context + commitment + number)',
        'sha512(proof_label("seed") + commitment + number)',
        (f"{DLEQ}::test_no_bit_of_anything_can_be_changed",),
    ),
    Mutant(
        "opening_skips_the_proof",
        "The opening of a run does not check its proof again.",
        "privacy/two_party/opening.py",
        "        verify(hello[NONCE:], bodies.proof_context, candidates, returned, proof)\n",
        "",
        (f"{MALLEABLE}::test_opening_checks_the_proof_again",),
    ),
    Mutant(
        "opening_looks_at_one_group",
        "The opening of a run adds up the weights of a row over one group alone.",
        "privacy/two_party/opening.py",
        "(totals if where.group else 0)",
        "0",
        (f"{OPENING}::test_a_row_that_counts_in_every_group_is_named",),
    ),
    Mutant(
        "opening_trusts_any_transcript",
        "The opening does not compare the messages with the hash in the ledger.",
        "privacy/two_party/opening.py",
        "if bodies.chain.name != transcript:",
        "if not bodies.chain.name:",
        (f"{OPENING}::test_a_transcript_that_is_not_the_one_in_the_ledger_is_named",),
    ),
    Mutant(
        "capped_once_too_often",
        "A person counts in one list more than their cap.",
        "privacy/metric_values/list_caps.py",
        "found[sequence] = rank < most",
        "found[sequence] = rank <= most",
        (f"{CAPPING}::test_nobody_counts_more_often_than_the_caps_allow",),
    ),
    Mutant(
        "viewers_move_nobody_else",
        "The gaps of ranked lists are priced as if no viewer's lists were about others.",
        "privacy/metric_values/rankings.py",
        "6 * self.scale * (self.viewer or 0)",
        "2 * self.scale * (self.viewer or 0)",
        (f"{LISTS}::test_gaps_reach_as_far_as_declared",),
    ),
    Mutant(
        "too_large_rows_are_kept",
        "Values that together exceed their declared total are not dropped.",
        "privacy/metric_values/layout.py",
        "inside * fits[:, np.newaxis]",
        "inside",
        (f"{METRICS}::test_what_lies_beyond_the_bounds_is_cut",),
    ),
    Mutant(
        "weights_of_a_proof_repeat",
        "Points at one place of two slices have one weight in the proof, and can be moved apart.",
        "privacy/two_party/dleq.py",
        'yield (start // POINT).to_bytes(_INDEX, "big")',
        'yield (0).to_bytes(_INDEX, "big")',
        (f"{DLEQ}::test_points_bent_before_the_proof_are_refused[moved_apart_in_two_slices]",),
    ),
    Mutant(
        "opening_accepts_negative_weights",
        "The opening of a run looks for weights that are too large, and not for negative ones.",
        "privacy/two_party/opening.py",
        "np.flatnonzero(differ | (rows < declared.low) | (rows > declared.high))",
        "np.flatnonzero(differ | (rows > declared.high))",
        (f"{OPENING}::test_a_negative_weight_is_named",),
    ),
    Mutant(
        "opening_adds_signed_weights",
        "Weights of both signs make up for one another in the total of a row.",
        "privacy/two_party/opening.py",
        "np.minimum(np.abs(self.of_rows(weights)), self.terms.weights.total + 1)",
        "np.minimum(self.of_rows(weights), self.terms.weights.total + 1)",
        (f"{OPENING}::test_the_total_of_a_row_is_of_magnitudes",),
    ),
    Mutant(
        "opening_of_other_messages",
        "What a regulator found in the messages of another run is recorded for this one.",
        "api/two_party/openings.py",
        "if draft.transcript != run.transcript:",
        "if not draft.transcript:",
        ("tests/system/test_two_party.py::test_a_run_that_is_drawn_waits_for_the_regulator",),
        long=True,
    ),
    Mutant(
        "lists_of_strangers_are_kept",
        "Lists whose viewer is not in the audience count.",
        "privacy/metric_values/list_caps.py",
        "first(viewer, order, caps.viewer) & (viewer != NOBODY)",
        "first(viewer, order, caps.viewer)",
        (f"{CAPPING}::test_lists_of_nobody_are_not_kept",),
    ),
    Mutant(
        "rows_of_strangers_are_listed",
        "Rows of lists whose viewer is not in the audience are read.",
        "privacy/metric_values/list_extraction.py",
        "return found if viewer is None else found.take(whose != NOBODY)",
        "return found",
        (f"{LISTS}::test_strangers_and_undefined_numbers_are_blank",),
    ),
    Mutant(
        "gaps_are_not_clipped",
        "Relevance beyond the range that was asked for enters a gap as it is.",
        "privacy/metric_values/rankings.py",
        "worth = np.clip(np.nan_to_num(relevance, nan=self.low), self.low, self.high)",
        "worth = np.nan_to_num(relevance, nan=self.low)",
        (f"{METRICS}::test_relevance_beyond_the_range_is_clipped_in_a_gap",),
    ),
    Mutant(
        "a_layout_is_too_narrow",
        "The rows of people who were flagged without reason do not fit their layout.",
        "privacy/metric_values/rates.py",
        "self.events, 3 * self.events)",
        "self.events, 2 * self.events)",
        (f"{METRICS}::test_the_largest_rows_of_a_metric_fit_its_layout[1]",),
    ),
    Mutant(
        "hello_after_answer",
        "The platform's party accepts another first message after it has answered one.",
        "privacy/two_party/message_loop.py",
        "            slot = self._exchange.message\n"
        "            self._take(slot, self._chain.body(message, slot))",
        "            if self.number == 2 and message[10:14] == bytes(4):\n"
        "                self._chain = Transcript(self._chain.setting, self._chain.terms)\n"
        "            slot = self._exchange.message\n"
        "            self._take(slot, self._chain.body(message, slot))",
        (f"{PARTIES}::test_another_first_message_is_refused_once_the_first_was_answered",),
    ),
    Mutant(
        "a_noisy_zero_is_opened_as_honest",
        "Opening does not look at the noise of the encryption of zero, which hides values.",
        "privacy/two_party/opening.py",
        "zero_label(run, number))) or reader.noisy:",
        "zero_label(run, number))):",
        (f"{OPENING}::test_noise_put_into_a_ciphertext_is_named[/zero-found1]",),
    ),
)
