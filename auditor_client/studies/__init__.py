"""Studies: a file that pins all that is asked, of whom, and how it will be judged."""

from auditor_client.studies.loading import parse_study, read_study
from auditor_client.studies.study_model import Study

__all__ = ["Study", "parse_study", "read_study"]
