"""A real browser that notices what a person would not: violations of the policy, errors, bodies."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from auditor_client.transport.session import Connection

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
PICTURES = Path(__file__).parents[2] / "docs" / "console"
_AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
# Told to the browser's own console, whichever page it is of.
_LISTEN = """
document.addEventListener("securitypolicyviolation", (event) => console.error(
  `policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""

# Milliseconds: machines that test are busy.
_PATIENCE = 60_000
expect.set_options(timeout=_PATIENCE)


@dataclass
class Watched:
    """A page, and what went wrong on it."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """A page of the console, with everything on it that scripts put there."""
        self.page.goto(f"{self.url}/console{path}")
        return self.settled()

    def settled(self) -> Page:
        self.page.wait_for_selector("html[data-ready]")
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('[data-chart]')].every((f) => f.dataset.drawn)"
        )
        return self.page

    def sign_in(self, who: Connection) -> Page:
        """Follow the link that `auditor console` would open."""
        self.page.goto(who.console_link().url)
        self.page.get_by_role("button", name="Sign in as").click()
        return self.settled()

    def accessible(self) -> None:
        """axe-core finds nothing serious on this page, as it is now."""
        self.page.evaluate(_AXE)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [
            (each["id"], [node["html"][:160] for node in each["nodes"]][:3])
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], (self.page.url, serious)

    def narrow(self) -> None:
        """At 360 px nothing has to be scrolled sideways."""
        self.page.set_viewport_size({"width": 360, "height": 740})
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, (self.page.url, wide)

    def picture(self, name: str) -> None:
        """Keep what a person sees, for the docs, where the run was asked to."""
        if os.environ.get("KEEP_PICTURES"):
            PICTURES.mkdir(exist_ok=True)
            self.page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")


@contextmanager
def watching(
    browser: Browser,
    url: str,
    *,
    scheme: Literal["light", "dark"] = "light",
    width: int = 1000,
    **options: Any,
) -> Iterator[Watched]:
    """A fresh profile; what it must not see fails when the block ends."""
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
        timezone_id="Asia/Tokyo",
        locale="en-GB",
        **options,
    )
    context.set_default_timeout(_PATIENCE)
    context.add_init_script(_LISTEN)
    watched = Watched(context.new_page(), url)
    context.on("console", lambda message: _note(watched, message))
    context.on("weberror", lambda error: watched.wrong.append(str(error.error)))
    context.on("request", lambda request: _keep(watched, request))
    try:
        yield watched
        assert not watched.wrong, watched.wrong
    finally:
        context.close()


def _note(watched: Watched, message: ConsoleMessage) -> None:
    # The browser itself reports every answer of 400 and above.
    if message.type == "error" and "Failed to load resource" not in message.text:
        watched.wrong.append(message.text)


def _keep(watched: Watched, request: Request) -> None:
    watched.bodies.append(request.url.encode() + b"\n" + (request.post_data_buffer or b""))
