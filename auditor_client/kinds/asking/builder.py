"""Builder of a request of any kind, from given parameters. Building one spends nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from auditor_client.errors import InputError
from auditor_client.kinds.asking.facts import (
    RequestFacts,
    column_range,
    columns_among,
    log_offer,
    require_random_traffic,
    words_among,
)
from auditor_client.kinds.asking.hooks import AskingHalf
from auditor_client.kinds.asking.planned_bins import planned_bins
from auditor_client.kinds.asking.values import READERS, numbers
from auditor_client.kinds.options import parse_bins
from openapi.complaints import complaints
from openapi.kinds.contract import KindContract
from openapi.kinds.parameters import RequestParameter, parameters_of
from openapi.kinds.request_fields import EitherNoise, RequestFields
from openapi.resources import Edges, LogOffer, ScoreRange

ALL = "all"
# Such a text is a number of bins. A longer one is an edge, of which bins need two.
WHOLE = re.compile(r"\s*-?[0-9]{1,9}\s*")


def build_request(
    contract: KindContract, asking: AskingHalf, given: Mapping[str, Any], facts: RequestFacts
) -> RequestFields:
    """Return the request of this kind; values that are None count as not given."""
    said = {name: value for name, value in given.items() if value is not None}
    _refuse_strangers(contract, asking, said)
    derived = asking.derive(said, facts)
    reading = _Reading(contract, said, facts, frozenset(derived))
    fields = reading.fields() | dict(derived)
    try:
        fields |= reading.planned_bins(fields)
        return contract.request(kind=contract.name, **fields)  # type: ignore[call-arg]
    except ValidationError as error:
        names = {each.field: each.name for each in parameters_of(contract.request)}
        raise InputError("; ".join(complaints(error, names))) from error


def _refuse_strangers(contract: KindContract, asking: AskingHalf, said: Mapping[str, Any]) -> None:
    known = [each.name for each in parameters_of(contract.request)]
    known += ["levels", *(each.name for each in asking.extras)]
    if strangers := [name for name in said if name not in known]:
        raise InputError(
            f"A {contract.name} audit has no {strangers[0]}; it has: {', '.join(known)}.",
            case="no-such-parameter",
        )


@dataclass(frozen=True)
class _Reading:
    """Given parameters of one request; `derived` fields are not read."""

    contract: KindContract
    said: Mapping[str, Any]
    facts: RequestFacts
    derived: frozenset[str]

    def fields(self) -> dict[str, Any]:
        """Return the fields of the request."""
        found = {
            each.field: self._value(each, self._said(each))
            for each in parameters_of(self.contract.request)
            if each.field not in self.derived
        }
        given = {name: value for name, value in found.items() if value is not None}
        return given | self._noise(given)

    def planned_bins(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the bins of scores that the planner chooses, where none were given."""
        return {
            each.field: planned_bins(self.contract, each.field, fields, self.facts)
            for each in parameters_of(self.contract.request)
            if each.role == "bins" and each.over == "scores" and each.field not in fields
        }

    def _said(self, parameter: RequestParameter) -> Any:
        """Return a parameter's given value, or its default."""
        value = self.said.get(parameter.name)
        if value is None and parameter.required:
            return self._only_one(parameter)
        return parameter.default if value is None else value

    def _only_one(self, parameter: RequestParameter) -> Any:
        """Return the one column of the log that a parameter can be; refuse where it is open."""
        offered = columns_among(self._log(), parameter.among) if parameter.among else []
        if len(offered) == 1:
            return offered[0]
        choices = f" This log offers: {', '.join(offered)}." if offered else ""
        raise InputError(
            f"{parameter.name} is missing. {parameter.title}: {parameter.help}{choices}",
            case=f"no-{parameter.name}",
        )

    def _value(self, parameter: RequestParameter, value: Any) -> Any:
        """Return the value for the request; None if the service chooses."""
        if parameter.role == "bins":
            return self._bins(parameter, value)
        if parameter.role == "range" and value is None:
            low, high = self._span(parameter)
            return {"low": low, "high": high}
        if parameter.role == "words" and parameter.among and (value is None or value == ALL):
            return words_among(self._log(), parameter.among, self._value_of(parameter.other))
        return None if value is None else READERS[parameter.role](value, parameter)

    def _bins(self, parameter: RequestParameter, value: Any) -> Any:
        levels = self.said.get("levels") if parameter.levels else None
        if isinstance(levels, str):
            levels = numbers(levels, parameter) or None
        if value is None and levels is None:
            return None
        if isinstance(value, str):
            value = int(value) if WHOLE.fullmatch(value) else numbers(value, parameter)
        low, high = self._span(parameter)
        found = parse_bins(value, levels, ScoreRange(low=low, high=high))
        return {"edges": found.edges} if isinstance(found, Edges) else {"levels": found.levels}

    def _span(self, parameter: RequestParameter) -> tuple[float, float]:
        """Return the public range that bins or a range cover."""
        if parameter.over == "shares":
            return 0.0, 1.0
        if parameter.over == "scores":
            scores = self.facts.catalogue().score_range
            return scores.low, scores.high
        return column_range(self._log(), self._value_of(parameter.other))

    def _value_of(self, name: str | None) -> str:
        """Return the given value of another parameter, or None."""
        known = {each.name: each for each in parameters_of(self.contract.request)}
        return str(self._said(known[name])) if name else ""

    def _log(self) -> LogOffer:
        catalogue, name = self.facts.catalogue(), self._value_of("log")
        offer = log_offer(catalogue, name)
        if self.contract.reads == "traffic":
            require_random_traffic(self.contract.name, offer, catalogue)
        return offer

    def _noise(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the noise of a kind that accepts both mechanisms (default: Laplace noise at ε =
        1).
        """
        if not issubclass(self.contract.request, EitherNoise):
            return {}
        if "rho" in given and "mechanism" not in self.said and "epsilon" not in given:
            return {"mechanism": "discrete-gaussian"}
        gaussian = given.get("mechanism") == "discrete-gaussian"
        return {} if gaussian or "epsilon" in given else {"epsilon": Decimal(1)}
