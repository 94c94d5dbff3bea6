"""Output of a study: receipts, and the results, report and table made from them."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from auditor_client.consistency.canary import Shown
from auditor_client.consistency.results_section import check_by_canaries, compare_audits
from auditor_client.errors import InputError
from auditor_client.kinds.analysis import analyse, read_receipt
from auditor_client.kinds.registry import AnyResult, kind_of
from auditor_client.kinds.study_page import render_study
from auditor_client.ledger import verify_receipt
from auditor_client.local.saved_receipt import SavedReceipt
from auditor_client.reporting.results_document import (
    AuditFound,
    CanariesFound,
    Registered,
    Results,
    StudyFound,
)
from auditor_client.studies.registration_file import SavedRegistration
from auditor_client.studies.study_model import Study
from privacy.ledger.trust import Trust


@dataclass(frozen=True)
class Folder:
    """Output folder of one study."""

    path: Path

    def receipt(self, name: str) -> Path:
        return self.path / "receipts" / f"{name}.json"

    def keep(self, name: str, audit: AnyResult) -> None:
        """Write the receipt of one audit, with the proof of its ledger entry."""
        self.receipt(name).parent.mkdir(parents=True, exist_ok=True)
        audit.save_receipt(self.receipt(name))

    def write(
        self,
        study: Study,
        source: bytes,
        trust: Trust,
        saved: SavedRegistration | None,
        shown: Mapping[str, Shown] | None = None,
    ) -> Results:
        """Read the receipts again, verify them, and write the results.

        `shown` holds the canaries' reports, by name of group.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        audits = {name: read_receipt(self.receipt(name)) for name in study.audits}
        results = analyse_study(study, audits, self._checked(study, trust), saved, shown)
        assert results.study is not None  # noqa: S101 - it is of a study
        selection = study.metrics.selection()
        page = render_study(audits, results, results.study, selection)
        (self.path / "report.html").write_text(page, encoding="utf-8")
        (self.path / "table.tex").write_text(results.to_latex(), encoding="utf-8")
        (self.path / "study.yaml").write_bytes(source)
        results.save(self.path / "results.json")
        if saved is not None:
            saved.save(self.path / "registration.json")
        return results

    def _checked(self, study: Study, trust: Trust) -> dict[str, bool]:
        """Return the receipts that have a proof of their ledger entry; raise an error if a proof is
        wrong.
        """
        found = {name: SavedReceipt.load(self.receipt(name)) for name in study.audits}
        for receipt in found.values():
            if receipt.proof is not None:
                verify_receipt(receipt, trust)
        return {name: receipt.proof is not None for name, receipt in found.items()}


def analyse_study(
    study: Study,
    audits: Mapping[str, AnyResult],
    checked: Mapping[str, bool],
    saved: SavedRegistration | None,
    shown: Mapping[str, Shown] | None = None,
) -> Results:
    """Return the results of the study's receipts."""
    selection = study.metrics.selection()
    found = tuple(
        analyse(
            audit,
            alpha=study.alpha if _of_study(audit) else None,
            delta=study.delta_each,
            selection=selection,
            name=name,
            checked=checked[name],
        )
        for name, audit in audits.items()
    )
    test = study.consistency
    return Results(
        study=StudyFound(
            title=study.title,
            question=study.question,
            digest=study.digest,
            alpha=study.alpha,
            delta=study.delta,
            registration=_registered(saved, found),
        ),
        audits=found,
        consistency=None
        if test is None
        else compare_audits(
            {name: audits[name] for name in test.audits}, test.relation, test.false_alarm
        ),
        canaries=_by_canaries(study, audits, shown or {}),
    )


def read_shown(path: Path) -> dict[str, Shown]:
    """Read the canaries' reports from a CSV file of group, shown and canaries; return none without
    a file.
    """
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                row["group"]: (int(row["shown"]), int(row["canaries"]))
                for row in csv.DictReader(file)
            }
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} must have the columns group, shown and canaries, the last two whole numbers.",
            case="canaries",
        ) from error


def _by_canaries(
    study: Study, audits: Mapping[str, AnyResult], shown: Mapping[str, Shown]
) -> tuple[CanariesFound, ...]:
    checks = study.canaries
    if checks is None:
        return ()
    audit = audits[checks.audit]
    return check_by_canaries(checks.audit, audit, checks.present, shown, checks.false_alarm)


def _of_study(audit: AnyResult) -> bool:
    """Return whether the study's alpha is the tolerance of the audit's kind."""
    tolerance = kind_of(audit).tolerance
    return tolerance is not None and tolerance.of_study


def _registered(
    saved: SavedRegistration | None, found: tuple[AuditFound, ...]
) -> Registered | None:
    if saved is None:
        return None
    entered = saved.registration
    entries = [audit.entry for audit in found]
    known = [entry for entry in entries if entry is not None]
    first = all(entered.entry < entry for entry in known)
    unknown = first and len(known) < len(entries)
    return Registered(
        entry=entered.entry, at=entered.at, by=entered.by, first=None if unknown else first
    )
