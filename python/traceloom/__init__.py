"""Opens traces that general-purpose viewers cannot, as Arrow tables: EasyProfiler, NYTProf, CNanoLog, Memlyze, Web Tracing Framework.

>>> import traceloom
>>> trace = traceloom.sample("easyprofiler")        # or traceloom.open("capture.prof")
>>> trace.info()["format"]
'easyprofiler'
>>> trace.spans.columns[:3]
['trace_id', 'id', 'parent_id']
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._lazy import scan
from ._log import LogHandler
from ._memory import track_memory
from ._notebook import Report
from ._profile import profile
from ._traceloom import (
    FORMATS,
    TABLES,
    Batch,
    Batches,
    Lines,
    Table,
    Trace,
    TraceloomError,
    __version__,
    open,
    sample,
)
from ._writer import Span, Writer, writer

if _TYPE_CHECKING:
    from ._input import Input as _Input

__all__ = [
    "FORMATS",
    "TABLES",
    "Batch",
    "Batches",
    "Lines",
    "LogHandler",
    "Report",
    "Span",
    "Table",
    "Trace",
    "TraceloomError",
    "Writer",
    "__version__",
    "open",
    "profile",
    "records",
    "sample",
    "scan",
    "track_memory",
    "writer",
]


def records(source: "_Input", *, format: str | None = None) -> Lines:
    """Every record of a trace as stored: an iterator of dictionaries, as `traceloom dump --json` prints them.

    >>> import traceloom
    >>> data = traceloom.sample("memlyze").convert(to="memlyze")
    >>> next(traceloom.records(data))["kind"]
    'header'
    """
    return open(source, format=format).records()
