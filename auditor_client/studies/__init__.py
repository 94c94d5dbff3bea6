"""Studies: files that fix all audits, their audiences and their analysis beforehand."""

from auditor_client.studies.loading import parse_study, read_study
from auditor_client.studies.study_model import Study

__all__ = ["Study", "parse_study", "read_study"]
