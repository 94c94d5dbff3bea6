"""`python -m docs.site.pictures`: draw the picture that README shows."""

from docs.site.pictures import COMMITTED, ROOT, result_chart

if __name__ == "__main__":
    (ROOT / "docs" / COMMITTED).write_text(result_chart(), encoding="utf-8")
