"""Mistakes in tables, membership, prices and the waist."""

from tests.mutants.mutant import Mutant

TABLE = "tests/privacy/tables/test_bounded_table.py"
MEMBERSHIP = "tests/privacy/tables/test_membership.py"
PRICE = "tests/privacy/tables/test_price.py"
WAIST = "tests/privacy/waist/test_waist.py"
TREE = "tests/privacy/waist/test_tree.py"
FIXED = "tests/privacy/tables/test_fixed_point.py"

MUTANTS = (
    Mutant(
        "counts_change_as_they_add",
        "Changing one person's data is priced like adding one person.",
        "privacy/tables/sensitivity.py",
        "Sensitivity(Reach(k, k, 1), Reach(2 * k, 2 * k, 1))",
        "Sensitivity(Reach(k, k, 1), Reach(k, k, 1))",
        (f"{TABLE}::test_changing_a_person_moves_counts_twice_as_far_as_adding_one",),
    ),
    Mutant(
        "displaced_person_has_one_cell",
        "In a sample, a displaced person counts in one cell, whatever their number of groups.",
        "privacy/tables/sensitivity.py",
        "k = 2 * self.cells_per_person if self.fixed_slots",
        "k = 1 + self.cells_per_person if self.fixed_slots",
        (f"{TABLE}::test_who_displaces_another_moves_the_cells_of_both",),
    ),
    Mutant(
        "sums_that_stay_are_not_squared",
        "A clipped sum that goes from low to high moves less in L2 than it does.",
        "privacy/tables/sensitivity.py",
        "max(2 * far**2, span**2)",
        "2 * far**2",
        (f"{TABLE}::test_no_norm_of_a_clipped_sum_is_more_or_less_than_what_one_person_moves",),
    ),
    Mutant(
        "rows_do_not_fall_on_one_another",
        "The rows of one person are bounded in L2 as if each had a cell of its own.",
        "privacy/tables/sensitivity.py",
        "self.row_l2_squared * m**2 * k",
        "self.row_l2_squared * m * k",
        (f"{TABLE}::test_rows_may_fall_on_one_another_and_groups_may_not",),
    ),
    Mutant(
        "one_group_too_many",
        "A person counts in one group more than was declared.",
        "privacy/tables/membership.py",
        "_rank_within_person(person) < groups_per_person",
        "_rank_within_person(person) <= groups_per_person",
        (
            f"{MEMBERSHIP}::test_the_cut_is_the_obvious_one",
            f"{MEMBERSHIP}::test_who_is_in_as_many_groups_as_there_are_counts_in_the_first_k",
        ),
    ),
    Mutant(
        "people_of_two_groups_are_two",
        "A person in two groups counts as two people where everybody counts once.",
        "privacy/tables/membership.py",
        "else np.unique(together)",
        "else together",
        (f"{MEMBERSHIP}::test_everyone_of_several_groups_is_counted_once",),
    ),
    Mutant(
        "duplicates_are_let_in",
        "A group in which somebody is named twice passes for a membership.",
        "privacy/tables/membership.py",
        "np.any(persons[1:] <= persons[:-1])",
        "np.any(persons[1:] < persons[:-1])",
        (f"{MEMBERSHIP}::test_people_who_are_not_distinct_and_sorted_are_refused",),
    ),
    Mutant(
        "debit_of_add_remove",
        "Accounts are charged the add/remove price.",
        "privacy/tables/price.py",
        "return self.amount(currency, CHANGE_ONE)",
        "return self.amount(currency, ADD_REMOVE)",
        (f"{PRICE}::test_the_debit_is_the_change_one_price",),
    ),
    Mutant(
        "rho_of_a_change_is_that_of_adding",
        "The rho of a change is computed from the epsilon of add/remove.",
        "privacy/tables/price.py",
        "change_one**2 / 2",
        "add_remove**2 / 2",
        (f"{PRICE}::test_a_pure_price_is_exact_in_both_currencies",),
    ),
    Mutant(
        "one_currency_pays_for_all",
        "A payment covers a price if it does so in any one currency.",
        "privacy/tables/price.py",
        "return all(self._at(name) >= amount",
        "return any(self._at(name) >= amount",
        (f"{PRICE}::test_paying_is_judged_in_every_currency_and_to_the_last_digit",),
    ),
    Mutant(
        "only_the_first_table_is_priced",
        "Of several tables of a plan only the first one is paid for.",
        "privacy/waist/__init__.py",
        "for mechanism in plan.values()), FREE)",
        "for mechanism in list(plan.values())[:1]), FREE)",
        (f"{WAIST}::test_the_price_is_the_sum_of_the_tables_whatever_the_number_of_groups",),
    ),
    Mutant(
        "underpaid_release",
        "The waist releases tables that were not paid for.",
        "privacy/waist/__init__.py",
        "if not paid.covers(price(plan)):",
        "if paid is None:",
        (f"{WAIST}::test_an_underpaid_release_is_refused",),
    ),
    Mutant(
        "tables_of_other_bounds",
        "The waist compares the names of tables with those that were priced, and not their bounds.",
        "privacy/waist/__init__.py",
        "if {name: table.bounds for name, table in tables.items()} != {\n"
        "        name: mechanism.bounds for name, mechanism in plan.items()\n"
        "    }:",
        "if set(tables) != set(plan):",
        (f"{WAIST}::test_tables_that_were_not_priced_are_refused",),
        raises=("ValueError",),
    ),
    Mutant(
        "laplace_noise_is_reused",
        "All cells of a table get the same Laplace noise.",
        "privacy/waist/laplace.py",
        "np.asarray(make_calibrated(self)(zeros), np.int64)",
        "np.asarray(make_calibrated(self)(zeros)[:1] * len(zeros), np.int64)",
        (
            "tests/privacy/waist/test_laplace.py::test_noise_is_fresh_for_every_cell_and_every_release",
        ),
    ),
    Mutant(
        "gaussian_change_costs_its_root",
        "The price of a change follows from the L1 norm, although Gaussian noise is for L2.",
        "privacy/waist/gaussian.py",
        "change_one=per_unit * self.bounds.changed.l2_squared",
        "change_one=per_unit * self.bounds.changed.l1",
        ("tests/privacy/waist/test_gaussian.py::test_a_change_costs_by_its_own_reach",),
    ),
    Mutant(
        "selection_without_noise",
        "Report noisy max reports the true maximum.",
        "privacy/waist/selection.py",
        "return int(make_calibrated(self)(table.cells))",
        "return int(table.cells.argmax())",
        (
            "tests/privacy/waist/test_selection.py"
            "::test_the_largest_is_chosen_where_noise_cannot_matter_and_at_random_where_it_must",
        ),
    ),
    Mutant(
        "tree_one_level_short",
        "The noise of a tree is for one level fewer than it has.",
        "privacy/waist/tree.py",
        "height = tree.map(1)",
        "height = max(1, tree.map(1) - 1)",
        (
            f"{TREE}::test_a_leaf_moves_one_node_on_every_level_and_noise_is_for_all_of_them",
            f"{TREE}::test_the_scale_is_levels_times_reach_over_epsilon",
        ),
    ),
    Mutant(
        "infinite_values_are_not_clipped",
        "A fixed-point number takes what lies outside of its range as it is.",
        "privacy/tables/fixed_point.py",
        "return to_fixed_point(np.clip(numbers, self.low, self.high), self.scale)",
        "return to_fixed_point(numbers, self.scale)",
        (f"{FIXED}::test_cuts_what_lies_outside_and_what_is_no_number",),
    ),
    Mutant(
        "weights_that_exceed_one",
        "Shares of a person are rounded up one by one, and sum to more than one person.",
        "privacy/tables/fixed_point.py",
        "whole = np.floor(scaled).astype(np.int64)",
        "whole = np.ceil(scaled).astype(np.int64)",
        (f"{FIXED}::test_a_probability_vector_keeps_its_sum",),
    ),
    Mutant(
        "leaves_are_not_made_consistent",
        "The leaves of a tree are released as they are, without what nodes above them say.",
        "privacy/waist/tree.py",
        "released = [consistent(row) for row in noisy]",
        "released = [row[-self.leaves :] for row in noisy]",
        (f"{TREE}::test_leaves_are_made_consistent_with_the_nodes_above_them",),
    ),
    Mutant(
        "noise_of_nodes_wraps_around",
        "Noise at the end of 64 bits turns the sign of a node.",
        "privacy/waist/tree.py",
        "noisy = self.nodes.release(Table(self.nodes.bounds, np.array(rows, np.int64)))",
        "noisy = np.array(rows, np.int64) + self.nodes.noise()",
        (f"{TREE}::test_noise_at_the_end_of_64_bits_does_not_turn_its_sign[9223372036854775807]",),
    ),
    Mutant(
        "a_tree_is_the_average_of_two",
        "A tree is released with the average of two draws, which is less noise than was paid for.",
        "privacy/waist/tree.py",
        "noisy = self.nodes.release(Table(self.nodes.bounds, np.array(rows, np.int64)))",
        "table = Table(self.nodes.bounds, np.array(rows, np.int64))\n"
        "        noisy = (self.nodes.release(table) + self.nodes.release(table)) // 2",
        (f"{WAIST}::test_a_release_draws_noise_once[laplace-tree]",),
    ),
    Mutant(
        "laplace_noise_is_an_average",
        "Laplace noise is the average of two draws, which is less noise than was paid for.",
        "privacy/waist/laplace.py",
        "return table.plus(self.noise())",
        "return table.plus((self.noise() + self.noise()) // 2)",
        (f"{WAIST}::test_a_release_draws_noise_once[discrete-laplace]",),
    ),
    Mutant(
        "large_numbers_are_named_twice",
        "Somebody with a large number who is named twice in a group counts as in two groups.",
        "privacy/tables/membership.py",
        "new = _new(person) | _new(group)",
        "new = np.ones(len(person), np.bool_)",
        (f"{MEMBERSHIP}::test_person_numbers_at_the_end_of_what_a_word_holds[2-3]",),
        raises=("BoundsError",),
    ),
)
