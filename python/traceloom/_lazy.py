"""A trace as a lazy polars source."""

from typing import TYPE_CHECKING

from ._traceloom import Trace
from ._traceloom import open as open_trace

if TYPE_CHECKING:
    import polars

    from ._input import Input


def scan(source: "Trace | Input", table: str = "spans") -> "polars.LazyFrame":
    """A table as a `polars.LazyFrame`.

    Only the columns that the query needs are decoded, rows are filtered batch by batch, and reading ends as soon as the query has
    enough rows.

    >>> import traceloom
    >>> spans = traceloom.scan(traceloom.sample("easyprofiler"), "spans")
    >>> spans.select("name").head(2).collect().shape
    (2, 1)
    """
    import polars
    from polars.io.plugins import register_io_source

    trace = source if isinstance(source, Trace) else open_trace(source)
    whole = trace[table]

    def read(columns, predicate, row_limit, _batch_size):
        wanted = whole if columns is None else whole.select(columns)
        # The limit applies to rows that the predicate keeps.
        left = row_limit
        for batch in wanted if predicate is not None or left is None else wanted.head(left):
            frame = polars.DataFrame(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            if left is not None:
                frame = frame.head(left)
                left -= frame.height
            yield frame
            if left == 0:
                return

    return register_io_source(read, schema=polars.DataFrame(whole.head(0)).schema, is_pure=True)
