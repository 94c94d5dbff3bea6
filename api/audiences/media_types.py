"""Media types in which members are uploaded."""

ARROW = "application/vnd.apache.arrow.stream"
CSV = "text/csv"
JSON_LINES = "application/x-ndjson"
MEDIA_TYPES = (ARROW, CSV, JSON_LINES)


def media_type_of(content_type: str) -> str:
    """Return the media type of a Content-Type header, without its parameters."""
    return content_type.partition(";")[0].strip().lower()
