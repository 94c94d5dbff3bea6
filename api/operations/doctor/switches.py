"""Checks of settings that are for tests, or that send data elsewhere unencrypted."""

from urllib.parse import urlsplit

from api.kernel.checks import Checks, NotApplicableError
from api.operations.doctor.subject import DoctorSubject

SETTINGS = Checks[DoctorSubject]()
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@SETTINGS.check("remove webhook_private_hosts: it is for tests only", warns=True)
def webhooks_go_outside_by_https(subject: DoctorSubject) -> str | None:
    if not subject.settings.webhook_private_hosts:
        return None
    return "webhooks may go to private addresses, and without TLS"


@SETTINGS.check("send traces to this machine, or over https", warns=True)
def traces_are_sent_privately(subject: DoctorSubject) -> str | None:
    if subject.settings.traces_endpoint is None:
        raise NotApplicableError("no traces_endpoint is set")
    address = urlsplit(subject.settings.traces_endpoint)
    if address.scheme == "https" or address.hostname in LOOPBACK:
        return None
    return "anybody on the network path can read how long audits take"


@SETTINGS.check(
    "serve metrics on the loopback address, or where only you can reach them", warns=True
)
def metrics_are_for_the_operator(subject: DoctorSubject) -> str | None:
    settings = subject.settings
    if settings.metrics_port is None:
        raise NotApplicableError("no metrics_port is set; a command may set its own")
    if settings.metrics_host in LOOPBACK:
        return None
    address = f"{settings.metrics_host}:{settings.metrics_port}"
    return f"everybody who reaches {address} can read the metrics"
