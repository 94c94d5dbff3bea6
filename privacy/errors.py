"""Errors of the privacy package. Each is a mistake of the calling code, not of an auditor.

PrivacyError
├── BoundsError      a table is not what its bounds say
└── UnderpaidError   a release would cost more than was charged for it
"""


class PrivacyError(Exception):
    """A promise that would have been broken; the code stopped instead."""


class BoundsError(PrivacyError):
    """A table is not what its bounds say."""


class UnderpaidError(PrivacyError):
    """A release would cost more than was charged for it."""
