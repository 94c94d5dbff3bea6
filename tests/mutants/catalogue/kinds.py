"""Mistakes in the platform half of the kinds of audit."""

from tests.mutants.mutant import Mutant

REACH = "tests/api/kinds/test_claimed_sensitivity.py"
COUNTS = f"{REACH}::test_a_person_is_one_of_the_counts_of_each_of_their_groups"
ROWS = f"{REACH}::test_rows_of_a_person_fall_on_one_another_in_each_of_their_groups"
SKEWED = "tests/api/kinds/test_most_skewed.py"
READ = "tests/api/kinds/building_blocks/test_log_rows.py"
ENVY = "tests/api/kinds/envy_freeness/test_sensitivity.py"
EXPLORED = "tests/api/kinds/envy_freeness/test_envy_freeness.py"
PRICING = "tests/api/audits/test_pricing.py"
LOTS = "tests/api/kinds/envy_freeness/test_participants.py"

MUTANTS = (
    Mutant(
        "score_histogram_forgets_slots",
        "A score histogram of a sample is priced as if nobody displaced anybody.",
        "privacy/plans/score_histogram.py",
        "cells = Bounds.counts(cells_by_bin(request, audience), reach, fixed_slots=slots)",
        "cells = Bounds.counts(cells_by_bin(request, audience), reach)",
        (COUNTS,),
    ),
    Mutant(
        "score_cdf_forgets_slots",
        "A score CDF of a sample is priced as if nobody displaced anybody.",
        "privacy/plans/score_cdf.py",
        "leaves = Bounds.counts(cells_by_bin(request, audience), reach, fixed_slots=slots)",
        "leaves = Bounds.counts(cells_by_bin(request, audience), reach)",
        (COUNTS, f"{REACH}::test_the_noise_of_a_cdf_is_that_of_all_levels"),
    ),
    Mutant(
        "log_cdf_forgets_slots",
        "A CDF of a log of a sample is priced as if nobody displaced anybody.",
        "privacy/plans/log_cdf.py",
        "leaves = row_bounds(request, audience, cells_by_bin(request, audience), ONE_CELL)",
        "leaves = row_bounds(request, PublicAudience(audience.groups, audience.groups_per_person),"
        " cells_by_bin(request, audience), ONE_CELL)",
        (ROWS,),
    ),
    Mutant(
        "log_cdf_forgets_groups",
        "A CDF of a log is priced as if everybody were in one group.",
        "privacy/plans/log_cdf.py",
        "leaves = row_bounds(request, audience, cells_by_bin(request, audience), ONE_CELL)",
        "leaves = row_bounds(request, PublicAudience(audience.groups, 1, audience.fixed_slots),"
        " cells_by_bin(request, audience), ONE_CELL)",
        (ROWS,),
    ),
    Mutant(
        "reo_forgets_slots",
        "An equal-opportunity audit of a sample is priced as if nobody displaced anybody.",
        "privacy/plans/reo.py",
        "    bounds = row_bounds(request, audience, shape, ONE_CELL)\n",
        "    audience = PublicAudience(audience.groups, audience.groups_per_person)\n"
        "    bounds = row_bounds(request, audience, shape, ONE_CELL)\n",
        (ROWS,),
    ),
    Mutant(
        "balances_forget_slots",
        "A balance histogram of a sample is priced as if nobody displaced anybody.",
        "privacy/plans/balance_histogram.py",
        "bounds = Bounds.counts(shape, reach, fixed_slots=slots)",
        "bounds = Bounds.counts(shape, reach)",
        (COUNTS,),
    ),
    Mutant(
        "match_count_forgets_groups",
        "A match count is priced as if everybody were in one group.",
        "privacy/plans/match_count.py",
        "Bounds.counts((audience.groups,), audience.groups_per_person)",
        "Bounds.counts((audience.groups,), 1)",
        (f"{REACH}::test_sizes_and_matches_move_by_one_in_each_group",),
    ),
    Mutant(
        "sizes_of_one_group",
        "The sizes of a score histogram are priced as if everybody were in one group.",
        "privacy/plans/score_histogram.py",
        "sizes = Bounds.counts((audience.groups,), reach)",
        "sizes = Bounds.counts((audience.groups,), 1)",
        (f"{REACH}::test_sizes_and_matches_move_by_one_in_each_group",),
    ),
    Mutant(
        "gaussian_at_twice_the_rho",
        "A Gaussian histogram has noise for twice the rho that was asked for.",
        "privacy/plans/kind_plan.py",
        'return "discrete-gaussian", Fraction(request["rho"])',
        'return "discrete-gaussian", 2 * Fraction(request["rho"])',
        (
            "tests/api/kinds/test_score_histogram.py::test_bins_and_sizes_cost_what_is_asked_for_each",
            f"{REACH}::test_a_table_costs_what_was_asked_and_twice_that_for_a_change",
        ),
    ),
    Mutant(
        "most_skewed_by_the_smallest_weight",
        "The reach of a skew is the smaller of the two weights.",
        "privacy/plans/most_skewed.py",
        'max(request["weights"])',
        'min(request["weights"])',
        (
            f"{SKEWED}::test_the_reach_is_the_largest_weight_and_twice_that",
            f"{SKEWED}::test_some_person_moves_a_skew_by_all_that_is_priced_and_nobody_by_more",
        ),
    ),
    Mutant(
        "most_skewed_by_squared_weights",
        "Counts are multiplied by the squares of the weights that were priced.",
        "api/kinds/most_skewed/__init__.py",
        "[[request.weights[0]], [-request.weights[1]]]",
        "[[request.weights[0] ** 2], [-(request.weights[1] ** 2)]]",
        (
            f"{SKEWED}::test_skews_are_the_obvious_ones",
            f"{SKEWED}::test_some_person_moves_a_skew_by_all_that_is_priced_and_nobody_by_more",
        ),
    ),
    Mutant(
        "most_skewed_change_is_halved",
        "A change of one person's data moves a skew no further than adding a person.",
        "privacy/tables/sensitivity.py",
        "self._moved(values, 2 * self.largest)",
        "self._moved(values, self.largest)",
        (f"{SKEWED}::test_the_reach_is_the_largest_weight_and_twice_that",),
    ),
    Mutant(
        "outcomes_are_not_clipped",
        "Scores and outcomes beyond their public range enter the moments as they are.",
        "api/kinds/outcome_test/__init__.py",
        "return np.clip(scaled, -1, 1, out=scaled)",
        "return scaled",
        ("tests/api/kinds/test_outcome_test.py::test_the_sums_are_the_obvious_ones",),
    ),
    Mutant(
        "moments_are_rounded_when_summed",
        "Moments are added up as floats, and rounded in the end.",
        "api/kinds/outcome_test/__init__.py",
        "np.rint(units, out=units)",
        "units",
        ("tests/api/kinds/test_outcome_test.py::test_every_row_is_rounded_before_it_is_added",),
    ),
    Mutant(
        "moments_of_one_cell_are_near",
        "Two rows of one cell are taken to be no further apart in L2 than one row reaches.",
        "privacy/plans/outcome_test.py",
        "half = max(added, -(-apart // 2))",
        "half = added",
        (ROWS,),
    ),
    Mutant(
        "places_displace_nobody",
        "The size of a bias with places is priced as if no row dropped out of a list.",
        "privacy/plans/bias_size.py",
        "_MOVED, _MOVED_IN_PLACES = 4, 10",
        "_MOVED, _MOVED_IN_PLACES = 4, 6",
        (f"{REACH}::test_bias_size_counts_the_people_whom_a_row_displaces",),
    ),
    Mutant(
        "bias_size_takes_people_of_two_groups",
        "The size of a bias, proved for people of one group, is sold for people of several.",
        "api/kinds/bias_size/__init__.py",
        "if audience.groups_per_person != 1:",
        "if audience.groups_per_person < 1:",
        ("tests/api/kinds/test_bias_size.py::test_what_cannot_be_asked_is_refused",),
    ),
    Mutant(
        "rows_per_person_is_not_enforced",
        "All rows of a person are read, however many were declared.",
        "api/kinds/building_blocks/log_rows.py",
        "few = _drawn(rows, selection.rows_per_person, secret)",
        "few = rows",
        (
            f"{READ}::test_no_more_rows_than_the_limit",
            "tests/api/kinds/test_log_cdf.py::test_nobody_has_more_rows_than_declared",
        ),
    ),
    Mutant(
        "numbers_are_not_clipped",
        "Numbers of a log enter an audit beyond their public range.",
        "api/kinds/building_blocks/log_rows.py",
        "return column if inside else np.clip(column, low, high)",
        "return column",
        (f"{READ}::test_a_number_beyond_the_range_is_cut_to_it",),
    ),
    Mutant(
        "rows_of_strangers_count",
        "Rows of people who are not in the audience are read.",
        "api/kinds/building_blocks/log_rows.py",
        "    return rows.select_people(persons)\n",
        "    return rows\n",
        (f"{READ}::test_rows_of_strangers_are_in_no_group",),
        raises=("IndexError",),
    ),
    Mutant(
        "rows_in_turns_are_not_one_persons",
        "A person whose rows do not lie together has more of them read than declared.",
        "api/kinds/building_blocks/log_rows.py",
        "if not _is_ordered(rows.person):",
        "if len(rows.person) < 0:",
        (f"{READ}::test_rows_that_do_not_lie_together_are_one_persons_all_the_same",),
    ),
    Mutant(
        "every_audit_draws_the_same_rows",
        "The secret that decides which rows are drawn is the same for every audit.",
        "api/kinds/building_blocks/log_rows.py",
        "return secrets.randbits(64)",
        "return 7",
        (f"{READ}::test_every_audit_draws_by_a_secret_of_its_own",),
    ),
    Mutant(
        "outcomes_of_a_bias_are_not_clipped",
        "Outcomes beyond the range that was priced enter the size of a bias as they are.",
        "api/kinds/bias_size/__init__.py",
        "np.clip(value, low, high) - low",
        "value - low",
        (
            "tests/api/kinds/test_bias_size.py"
            "::test_outcomes_beyond_the_range_asked_for_are_clipped_to_it",
        ),
    ),
    Mutant(
        "rows_are_drawn_without_the_secret",
        "Which rows of a person are drawn can be computed by everybody.",
        "api/platforms/row_sampling.py",
        "splitmix64(person.astype(np.uint64) + word(secret))",
        "splitmix64(person.astype(np.uint64))",
        ("tests/api/platforms/test_row_sampling.py::test_another_secret_draws_other_rows",),
    ),
    Mutant(
        "a_failing_score_is_zero",
        "People for whom the adapter fails count with the score 0.",
        "api/kinds/building_blocks/scoring.py",
        "np.float64(np.nan))",
        "np.float64(0.0))",
        (
            "tests/api/kinds/building_blocks/test_scoring.py::test_people_who_break_a_call_are_dropped_alone",
        ),
    ),
    Mutant(
        "lists_of_people_who_were_not_asked_about_count",
        "Rows of lists that an adapter gives without being asked count in each batch.",
        "api/kinds/building_blocks/ranked_lists.py",
        "table = table.filter(pc.and_(placed, asked))",
        "table = table.filter(placed)",
        (
            "tests/api/kinds/test_two_party.py"
            "::test_rows_of_people_who_were_not_asked_about_do_not_count",
        ),
    ),
    Mutant(
        "envy_takes_people_of_two_groups_twice",
        "Somebody in two groups takes part in an audit of envy as two people.",
        "api/kinds/envy_freeness/__init__.py",
        "np.sort(membership.everyone()),",
        "np.sort(np.concatenate(membership.groups)),",
        (f"{EXPLORED}::test_somebody_of_two_groups_takes_part_as_one_person",),
    ),
    Mutant(
        "envy_lots_count_once_in_samples",
        "In a sample, an envy audit in lots is priced as if one person moved one lot.",
        "privacy/tables/sensitivity.py",
        "lots = (2 if self.fixed_slots else 1) * self.lots_per_person",
        "lots = self.lots_per_person",
        (
            "tests/api/kinds/envy_freeness/test_claimed_sensitivity.py::test_a_lot_goes_from_anything_to_anything",
        ),
    ),
    Mutant(
        "envy_cost_is_not_clipped",
        "What a target lost enters the sum beyond what was priced.",
        "api/kinds/envy_freeness/__init__.py",
        "np.clip(np.rint(COST_UNIT * outcomes.cost), -COST_UNIT * steps, COST_UNIT * steps)",
        "np.rint(COST_UNIT * outcomes.cost)",
        (
            "tests/api/kinds/envy_freeness/test_claimed_sensitivity.py::test_what_a_target_took_is_clipped",
        ),
    ),
    Mutant(
        "envy_lots_of_one_person_count_once",
        "An envy audit is priced as if nobody took part in more than one lot.",
        "privacy/plans/envy_freeness.py",
        "Lots(*reach, each, audience.fixed_slots)",
        "Lots(*reach, 1, audience.fixed_slots)",
        (f"{ENVY}::test_one_person_moves_counts_as_far_as_is_priced[one removed-2]",),
    ),
    Mutant(
        "envy_arms_take_part_without_limit",
        "A person takes part in more lots than the request allows and the price counts.",
        "api/kinds/envy_freeness/participants.py",
        "lots, positions = _entries(people, targets, arms_per_person, secret)",
        "arms_per_person = min(targets, arms_per_person + 1)\n"
        "    lots, positions = _entries(people, targets, arms_per_person, secret)",
        (f"{LOTS}::test_a_person_is_a_target_once_and_takes_part_no_more_often_than_allowed",),
    ),
    Mutant(
        "envy_home_is_drawn_twice",
        "A person may be twice in their home lot, as a target and as an arm.",
        "api/kinds/envy_freeness/participants.py",
        "others + (others >= home[:, None])",
        "others",
        (f"{LOTS}::test_a_person_is_a_target_once_and_takes_part_no_more_often_than_allowed",),
    ),
    Mutant(
        "envy_arms_lead",
        "A person may be the target of lots other than their home, and so of several.",
        "api/kinds/envy_freeness/participants.py",
        "leads = np.zeros(lots.shape, bool)",
        "leads = np.ones(lots.shape, bool)",
        (f"{LOTS}::test_nobody_is_the_target_of_two_lots",),
    ),
    Mutant(
        "envy_arms_are_not_covered",
        "Requests that do not say in how many lots a person may take part are run.",
        "api/kinds/envy_freeness/__init__.py",
        'if request.criterion == "exact" or request.arms_per_person is None:\n'
        '        raise _refused("An audit of envy-freeness that does not cover',
        'if request.criterion == "none":\n'
        '        raise _refused("An audit of envy-freeness that does not cover',
        (f"{ENVY}::test_such_an_audit_is_neither_taken_on_nor_run",),
        raises=("BoundsError", "ValidationError"),
    ),
    Mutant(
        "withdrawn_targets_have_no_envy",
        "A target who withdrew, or of whom nothing is known, counts as one without envy.",
        "api/kinds/envy_freeness/__init__.py",
        'outcomes.are("no-envy").sum()',
        '(~outcomes.are("envy")).sum()',
        (
            "tests/api/kinds/envy_freeness/test_claimed_sensitivity.py"
            "::test_a_target_who_withdrew_is_in_neither_count",
        ),
    ),
    Mutant(
        "corrected_scores_are_not_clipped",
        "Corrected scores beyond the range are compared as they are.",
        "api/kinds/bias_size/__init__.py",
        "corrected = np.clip(_corrected(request, rows, groups), low, high)",
        "corrected = _corrected(request, rows, groups)",
        (
            "tests/api/kinds/test_bias_size.py"
            "::test_corrected_scores_are_clipped_before_they_are_compared",
        ),
    ),
    Mutant(
        "every_audit_draws_the_same_lists",
        "The secret that decides which lists of a person count is the same for every audit.",
        "api/kinds/building_blocks/ranked_lists.py",
        "secrets.randbits(63)",
        "7",
        ("tests/api/kinds/test_two_party.py::test_every_audit_draws_lists_by_a_secret_of_its_own",),
    ),
    Mutant(
        "numbers_of_lists_are_not_clipped",
        "Numbers of ranked lists enter an audit beyond their public range.",
        "api/kinds/building_blocks/ranked_lists.py",
        "np.clip(numbers, *self.log.numbers[name])",
        "numbers",
        (
            "tests/api/kinds/test_two_party.py"
            "::test_numbers_beyond_the_public_range_are_clipped_to_it",
        ),
    ),
    Mutant(
        "displacement_is_not_stated",
        "A price on a sample does not say that displacement is not counted over a lifetime.",
        "api/audits/request_pricing.py",
        "fixed_slots=facts.fixed_slots, third_party=third_party",
        "fixed_slots=False, third_party=third_party",
        (f"{PRICING}::test_a_price_says_that_displacement_is_not_counted[sample-assumes0]",),
    ),
    Mutant(
        "two_party_reads_every_row",
        "A two-party run reads all rows of a person, whatever number was declared.",
        "api/kinds/two_party/__init__.py",
        "asked = Selection(metric.log, _columns(metric), words, metric.rows_per_person)",
        "asked = Selection(metric.log, _columns(metric), words, 1_000_000)",
        (
            "tests/api/kinds/test_two_party.py"
            "::test_of_more_rows_than_one_person_may_have_some_are_drawn",
        ),
    ),
    Mutant(
        "lots_are_numbered_again",
        "After a crash, the chance of a lot depends on which other lots run.",
        "api/kinds/envy_freeness/exploration.py",
        'lots = arrays.get("lots", np.arange(len(policies)))',
        "lots = np.arange(len(policies))",
        (
            "tests/api/kinds/envy_freeness/test_envy_freeness.py"
            "::test_a_course_that_goes_on_has_the_secret_and_the_numbers_of_its_lots",
        ),
    ),
    Mutant(
        "chance_without_the_secret",
        "After a crash, chance is drawn without the secret of the audit.",
        "api/kinds/envy_freeness/exploration.py",
        'int(arrays["secret"]), str(arrays["digest"])',
        '0, str(arrays["digest"])',
        (
            "tests/api/kinds/envy_freeness/test_envy_freeness.py"
            "::test_a_course_that_goes_on_has_the_secret_and_the_numbers_of_its_lots",
        ),
    ),
)
