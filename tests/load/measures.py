"""The measurements of `make load` and the goals that each is held to."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from tests.load import hostile, reads, routes, sdk
from tests.load.generator import Load, closed_loop, open_loop
from tests.load.goals import Goal, Measure, quantile
from tests.load.http import Answer
from tests.load.main_path import PATIENCE
from tests.load.probe import Probes, health_goal, probing
from tests.load.processor_time import ProcessorTime, processor_time
from tests.load.routes import Route
from tests.load.scene import Scene

# Throughput at overload and of many clients, of the peak and of few clients.
KEPT = 0.8
FEW_CLIENTS, MANY_CLIENTS = 40, 200
_CLIENT_SECONDS = 70.0
# Visitors of the closed loop that finds the capacity, and its seconds.
_VISITORS, _CALIBRATION, _WARM_UP = 24, 3.0, 1.0
_LOAD, _LOAD_WARM_UP = 7.0, 2.5


@dataclass
class Run:
    """One size of the load test on one service."""

    scene: Scene
    long: bool = False
    loads: Sequence[float] = (1, 8)
    rows: list[str] = field(default_factory=list)
    capacity: float = 1.0
    _floods: Iterator[int] = field(default_factory=count)

    def parts(self, name: str) -> list[Measure]:
        """Return what is repeated by itself in the measurement of this name."""
        if name != "read_routes":
            return [getattr(self, name)]
        choose = routes.every if self.long else routes.shapes
        return [partial(self.read_route, route) for route in choose(self.scene.values)]

    def read_route(self, route: Route) -> list[Goal]:
        """Burst 200 sockets on one read route."""
        found = reads.burst(self.scene.url, route, self.scene.identities)
        return found.goals(self.scene.name, self.scene.idle)

    def main_path(self) -> list[Goal]:
        """Find the capacity, offer multiples of it, and see that an audit still gets through."""
        url, people = self.scene.url, self.scene.researchers
        with processor_time(self.scene.server.pid) as spent:
            found = closed_loop(url, people, _VISITORS, _CALIBRATION, _WARM_UP)
        # A repetition must not pass because the machine was slow when the capacity was measured.
        self.capacity = capacity = max(self.capacity, found.rate)
        cost = spent.per_audit(found.count("released"))
        print(f"{self.scene.name}: capacity {found.rate:.1f} audits/s; {found.cpu_share}; {cost}")
        goals, rates = self._answers(f"{_VISITORS} visitors", found), [found.rate]
        for times in self.loads:
            with probing(url) as probes, processor_time(self.scene.server.pid) as spent:
                load = open_loop(url, people, times * capacity, _LOAD, _LOAD_WARM_UP)
            rates.append(load.rate)
            self._tell(times, times * capacity, load, probes, spent)
            goals += self._answers(f"{times:g} times", load)
            goals.append(health_goal(self._name(f"{times:g} times"), probes, self.scene.idle))
        kept = rates[-1] / max(rates)
        told = f"{rates[-1]:.1f} of {max(rates):.1f} audits/s"
        name = self._name(f"throughput at {self.loads[-1]:g} times, of the peak")
        speed = Goal(name, kept, KEPT, at_least=True, detail=told, is_speed=True)
        return [*goals, speed, self._afterwards()]

    def sdk_clients(self) -> list[Goal]:
        """Run 40 SDK clients, then 200."""
        url, people = self.scene.url, self.scene.researchers
        with processor_time(self.scene.server.pid) as cost_of_few:
            few = sdk.run(url, people, FEW_CLIENTS, _CLIENT_SECONDS)
        with probing(url) as probes, processor_time(self.scene.server.pid) as cost_of_many:
            many = sdk.run(url, people, MANY_CLIENTS, _CLIENT_SECONDS)
        for clients, cost in ((few, cost_of_few), (many, cost_of_many)):
            told = f"{clients.started} SDK clients: {cost.per_audit(len(clients.finished))}"
            print(f"{self.scene.name}, {told}", flush=True)
        health = health_goal(self._name(f"{MANY_CLIENTS} SDK clients"), probes, self.scene.idle)
        goals = [self._finished(few), self._finished(many), health]
        ratio = many.rate / few.rate if few.rate else 0.0
        told = f"{many.rate:.1f} and {few.rate:.1f} audits/s, {many.cpu_share}"
        name = f"rate of {MANY_CLIENTS} SDK clients, of that of {FEW_CLIENTS}"
        speed = Goal(self._name(name), ratio, KEPT, at_least=True, detail=told, is_speed=True)
        return [*goals, speed]

    def planner_flood(self) -> list[Goal]:
        """Ask the planner, which anybody may, more than it can answer."""
        with probing(self.scene.url) as probes:
            answers = hostile.flood_planner(self.scene.url, next(self._floods))
        name = self._name("flood of planning questions")
        wrong = [each for each in answers if not _is_refusal_or_answer(each)]
        told = ", ".join(sorted({f"{each.status} after {each.seconds:.1f} s" for each in wrong}))
        goal = Goal(f"{name}: neither answered nor shed", len(wrong), 0, detail=told[:200])
        return [health_goal(name, probes, self.scene.idle), goal]

    def slow_connections(self) -> list[Goal]:
        """Hold 1,050 slow connections and an idle one, more than the server has descriptors."""
        idle: list[float | None] = []
        watch = threading.Thread(target=lambda: idle.append(hostile.keep_idle(self.scene.url)))
        watch.start()
        with probing(self.scene.url) as probes:
            closed = hostile.open_slowly(self.scene.url)
        watch.join()
        name = self._name(f"{hostile.SLOW} slow connections")
        slowest = max((each for each in closed if each is not None), default=0.0)
        left = f"the last one closed after {slowest:.1f} s"
        alone = idle[0] if idle and idle[0] is not None else float("inf")
        return [
            health_goal(name, probes, self.scene.idle),
            Goal(f"{name}: not closed", hostile.still_open(closed), 0, detail=left),
            Goal(self._name("idle connection: open for"), alone, hostile.CLOSED_WITHIN, "s"),
        ]

    def unread_answers(self) -> list[Goal]:
        """Leave answers unread on many sockets, and sign in meanwhile."""
        answers = hostile.leave_unread(self.scene.url)
        shut = [each for each in answers if each.status not in (400, 401)]
        told = ", ".join(sorted({str(each.status) for each in shut}))
        name = self._name(f"{hostile.UNREAD} sockets with unread answers: sign-in refused")
        return [Goal(name, len(shut), 0, detail=told)]

    def _answers(self, when: str, load: Load) -> list[Goal]:
        lost = load.count("unanswered") + load.lost_processes
        shed, told = quantile(load.shed_seconds, 0.99), f"{len(load.shed_seconds)} of them"
        return [
            Goal(self._name(f"{when}: unanswered"), lost, 0, detail=load.details("unanswered")),
            Goal(
                self._name(f"{when}: neither success nor shedding"),
                load.count("unexpected"),
                0,
                detail=load.details("unexpected"),
            ),
            Goal(
                self._name(f"{when}: p99 of shed answers"),
                shed,
                reads.shed_limit(self.scene.idle),
                "s",
                detail=told,
                is_speed=True,
            ),
        ]

    def _finished(self, clients: sdk.Clients) -> Goal:
        left = clients.started - len(clients.finished)
        told = "; ".join(f"{count} x {error}" for error, count in clients.errors.most_common(3))
        return Goal(
            self._name(f"{clients.started} SDK clients: not finished"), left, 0, detail=told
        )

    def _afterwards(self) -> Goal:
        """Run one audit after the load: a service that is stuck does not release it."""
        one = sdk.run(self.scene.url, self.scene.researchers, 1, PATIENCE)
        took = max(one.finished, default=float("inf"))
        return Goal(self._name("one audit after the load"), took, PATIENCE, "s")

    def _tell(
        self, times: float, offered: float, load: Load, probes: Probes, spent: ProcessorTime
    ) -> None:
        took = [each.ended - each.began for each in load.arrivals if each.outcome == "released"]
        row = (
            f"| {self.scene.name} | {times:g} | {offered:.1f} | {load.rate:.1f} |"
            f" {load.count('shed')} of {len(load.arrivals)} | {quantile(took, 0.5):.2f} s |"
            f" {quantile(took, 0.99):.2f} s | {1000 * quantile(load.shed_seconds, 0.99):.0f} ms |"
            f" {1000 * probes.p99:.0f} ms |"
        )
        self.rows.append(row)
        told = f"{load.rate:.1f} of {offered:.1f} audits/s released"
        counts = ", ".join(
            f"{load.count(each)} {each}" for each in ("shed", "gave up", "unanswered", "unexpected")
        )
        cost = f"{load.cpu_share}; {spent.per_audit(load.count('released'))}"
        print(f"{self.scene.name}, {times:g} times: {told}; {counts}; {cost}", flush=True)

    def _name(self, what: str) -> str:
        return f"{self.scene.name}: {what}"


def _is_refusal_or_answer(answer: Answer) -> bool:
    return answer.status == 200 or answer.is_shed
