"""Traces in notebooks."""

import html
import os


class Report:
    """The report of a trace, which a notebook shows inline.

    >>> import traceloom
    >>> traceloom.sample("wtf").show().document[:9].lower()
    '<!doctype'
    """

    def __init__(self, document: str, height: int) -> None:
        self.document = document
        self.height = height

    def _repr_html_(self) -> str:
        # A separate frame isolates the styles of the report from those of the notebook.
        document = html.escape(self.document, quote=True)
        return f'<iframe srcdoc="{document}" width="100%" height="{self.height}" style="border:0"></iframe>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as one HTML file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.document)

