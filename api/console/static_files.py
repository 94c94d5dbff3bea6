"""Style sheet, scripts and vendored libraries: served under a digest of them all, cached for
ever.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fastapi.responses import FileResponse

from api.kernel.errors import NotFoundError

FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@dataclass(frozen=True)
class StaticFiles:
    """Static files; no other path is ever opened."""

    files: dict[str, Path]
    digest: str

    @classmethod
    def load(cls, folder: Path = FOLDER) -> "StaticFiles":
        found = sorted(path for path in folder.rglob("*") if path.suffix in _TYPES)
        state = sha256()
        for path in found:
            state.update(sha256(path.read_bytes()).digest())
        files = {path.relative_to(folder).as_posix(): path for path in found}
        return cls(files, state.hexdigest()[:16])

    def respond(self, digest: str, name: str) -> FileResponse:
        path = self.files.get(name)
        if path is None or digest != self.digest:
            raise NotFoundError(f"This version has no file {name}. Reload the page.")
        return FileResponse(path, media_type=_TYPES[path.suffix], headers=_FOREVER)
