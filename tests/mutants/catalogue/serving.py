"""Mistakes in what keeps the service up: connections, threads, slots, bodies."""

from tests.mutants.mutant import Mutant

ROUTING = "tests/api/web/test_routing.py"
EARLY = "tests/api/app/test_early_shedding.py"
GATE = "tests/api/app/test_gate.py"
BACKLOG = "tests/api/audits/queue/test_backlog.py"
CAPACITY = "tests/api/app/test_capacity.py"
CONNECTIONS = "tests/api/app/test_connections.py"
TOGETHER = "tests/api/audits/queue/test_group_commit.py"

MUTANTS = (
    Mutant(
        "connections_are_kept_for_the_answer",
        "A route keeps its connection while its answer is serialised.",
        "api/web/routing.py",
        "super().__init__(path, _ending_sessions(endpoint), **options)",
        "super().__init__(path, endpoint, **options)",
        (
            f"{ROUTING}::test_no_connection_is_held_while_an_answer_is_serialised[sqlite]",
            f"{ROUTING}::test_an_endpoint_gives_its_connection_back_when_it_returns[sqlite]",
            f"{ROUTING}::test_every_route_with_a_session_ends_it",
        ),
    ),
    Mutant(
        "threads_are_not_sized",
        "The pool has as many threads as AnyIO likes.",
        "api/app/app.py",
        "current_default_thread_limiter().total_tokens = capacity.threads",
        "pass",
        (f"{CAPACITY}::test_a_running_service_has_as_many_threads_as_it_argues_from",),
    ),
    Mutant(
        "uploads_have_no_threads",
        "Uploads and exchanges wait on the threads of all other requests.",
        "api/app/capacity.py",
        "return self.writers + self.readers + _BRIEF_THREADS",
        "return self.writers + 1",
        (f"{CAPACITY}::test_those_who_may_wait_for_a_lock_leave_threads_for_reads[8-4]",),
    ),
    Mutant(
        "too_few_threads_are_accepted",
        "Sizes that leave no thread for reads are used.",
        "api/app/capacity.py",
        "if min(self.requests // 2, self.uploads) < 1:",
        "if min(self.requests // 2, self.uploads) < 0:",
        (f"{CAPACITY}::test_sizes_that_leave_no_thread_for_reads_are_refused",),
    ),
    Mutant(
        "quotes_come_before_audits",
        "Quotes are made while audits that are under way wait for permits.",
        "api/app/gate.py",
        'shed = slots.are_taken or self._writes["requests"].locked()',
        "shed = slots.are_taken",
        (f"{GATE}::test_quotes_are_shed_while_charges_need_every_permit",),
    ),
    Mutant(
        "quotes_come_before_waiting_audits",
        "Quotes are made for auditors whose audits wait for workers.",
        "api/app/gate.py",
        "if known is not None and known.auditor_id is not None:",
        "if False:",
        (
            f"{GATE}::test_quotes_are_shed_while_audits_of_the_auditor_wait_for_workers[/v1/audits/price]",
        ),
    ),
    Mutant(
        "a_backlog_is_remembered",
        "A service that was busy once sheds quotes for as long as nobody charges.",
        "api/audits/queue/backlog.py",
        "return self.clock() - self._latest.at < _CURRENT_SECONDS",
        "return True",
        (f"{BACKLOG}::test_a_count_is_used_for_half_a_second",),
    ),
    Mutant(
        "one_auditor_fills_the_backlog",
        "The audits of one auditor keep everybody from quotes.",
        "api/audits/queue/backlog.py",
        "latest.waiting.get(auditor_id, 0) >= latest.share",
        "sum(latest.waiting.values()) >= latest.share",
        (f"{BACKLOG}::test_the_audits_of_one_auditor_keep_no_other_from_quotes",),
    ),
    Mutant(
        "a_second_request_is_swallowed",
        "An early refusal answers several requests at once: the rest of them is lost.",
        "api/app/early_shedding.py",
        "int(length) == len(body)",
        "int(length) <= len(body)",
        (f"{EARLY}::test_a_request_that_is_not_plain_takes_the_usual_way[another-follows]",),
        raises=("RuntimeError",),  # it answers, and the test has no event loop
    ),
    Mutant(
        "unread_refusals_pile_up",
        "A client that does not read gets one refusal after the other.",
        "api/app/connections.py",
        "(conn.trailing_data[0] or self.flow.write_paused)",
        "conn.trailing_data[0]",
        (f"{EARLY}::test_who_does_not_read_refusals_is_not_sent_more",),
    ),
    Mutant(
        "refused_credentials_are_remembered",
        "A credential that a route refused still has its bodies read.",
        "api/app/gate.py",
        'if message["status"] == _UNAUTHENTICATED:',
        "if False:",
        (f"{GATE}::test_a_credential_that_a_route_refuses_is_forgotten",),
    ),
    Mutant(
        "slots_are_kept_for_slow_readers",
        "A request keeps its slot and its permit until its answer is read.",
        "api/app/gate.py",
        'if name != "exports":',
        "if False:",
        (
            f"{GATE}::test_who_does_not_read_the_answer_keeps_no_slot",
            f"{GATE}::test_who_does_not_read_the_answer_keeps_no_write_permit",
        ),
    ),
    Mutant(
        "permits_are_first_come_first_served",
        "Operators and sign-in wait for a write permit behind charges.",
        "api/app/gate.py",
        'return None if name in _PLACED else self._writes.get(name, self._writes["requests"])',
        'return None if name in _PLACED else self._writes["requests"]',
        (
            f"{GATE}::test_operators_wait_neither_for_strangers_nor_for_charges"
            "[/v1/operator/stops-headers0]",
        ),
    ),
    Mutant(
        "reads_have_no_permits",
        "As many reads run Python at a time as there are threads.",
        "api/app/gate.py",
        'return None if _PLANNER.search(scope["path"]) else self._reads.get(name)',
        "return None",
        (f"{GATE}::test_few_reads_run_at_a_time_and_operators_do_not_wait_for_them",),
    ),
    Mutant(
        "public_paths_are_prefixes",
        "The body of everything below a public path is read without a token.",
        "api/app/gate.py",
        'if (scope["method"], scope["path"]) in _PUBLIC:',
        'if scope["path"].startswith(tuple(path for _, path in _PUBLIC)):',
        (
            f"{GATE}::test_the_body_of_every_other_request_waits_for_its_token"
            "[POST-/v1/applications/a/versions]",
        ),
    ),
    Mutant(
        "strangers_send_large_bodies",
        "A body without a verified credential may be as large as any.",
        "api/app/gate.py",
        "limit = min(self.settings.max_body_bytes, self.settings.anonymous_body_bytes)",
        "limit = self.settings.max_body_bytes",
        (f"{GATE}::test_a_public_body_is_small_whatever_its_headers_say[headers0-/oauth/token]",),
    ),
    Mutant(
        "sign_in_is_anonymous",
        "Sign-in shares its slots with every stranger.",
        "api/app/admission.py",
        '    ("sign-in", ("POST",), re.compile(r"^/oauth/(token|revoke)$|^/console/sign-out$")),\n',
        "",
        (f"{GATE}::test_sign_in_has_a_share_of_its_own[/oauth/token]",),
    ),
    Mutant(
        "reading_in_drops_is_enough",
        "A client that reads a little has the whole time again.",
        "api/app/connections.py",
        "self._answer_left = min(self.answer_seconds, left)",
        "self._answer_left = self.answer_seconds",
        (f"{CONNECTIONS}::test_reading_in_drops_does_not_win_the_whole_time_again",),
    ),
    Mutant(
        "who_gave_up_is_charged_later",
        "A charge that was refused after its wait stays in line.",
        "api/audits/queue/group_commit.py",
        "self._waiting.remove(mine)",
        "pass",
        (f"{TOGETHER}::test_who_has_waited_for_too_long_is_refused_and_not_served_later",),
    ),
)
