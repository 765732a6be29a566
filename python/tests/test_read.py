"""Reading: every result equals the program's, and every library reads the streams."""

import io
import os
import pathlib
import subprocess
import sys

import pytest

import traceloom


def test_answers_equal_those_of_the_program(trace_path, program):
    trace = traceloom.open(trace_path)
    assert trace.info() == program("info", "--json", trace_path)[0]
    assert trace.check() == program("check", "--json", trace_path)[0]
    assert trace.stats() == program("stats", "--json", trace_path)[0]
    assert list(trace.records()) == program("dump", "--json", trace_path)
    assert list(traceloom.records(trace_path)) == list(trace.records())
    assert trace.diff(trace) == program("diff", "--json", trace_path, trace_path)[0]


def test_memory_and_log_equal_those_of_the_program(trace_path, program):
    trace = traceloom.open(trace_path)
    if len(trace.allocations):
        assert trace.memory() == program("memory", "--json", trace_path)[0]
    else:
        with pytest.raises(traceloom.TraceloomError, match="no allocations"):
            trace.memory()
    if trace.format == "cnanolog":
        assert list(trace.log()) == program("log", "--json", trace_path)
    else:
        with pytest.raises(ValueError, match="is "):
            trace.log()


def test_every_table_is_a_stream(trace_path):
    pyarrow = pytest.importorskip("pyarrow")
    trace = traceloom.open(trace_path)
    for name in traceloom.TABLES:
        table = trace[name]
        reader = pyarrow.RecordBatchReader.from_stream(table)
        assert reader.schema.names == table.columns
        assert sum(batch.num_rows for batch in reader) == len(table) == sum(batch.num_rows for batch in table)


def test_pandas_polars_and_duckdb_agree():
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    pyarrow, _ = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    spans = traceloom.sample("easyprofiler").spans
    from_arrow = spans.to_arrow().to_pylist()
    total = sum(row["dur_ns"] for row in from_arrow)
    assert len(from_arrow) > 100
    assert spans.to_pandas()["dur_ns"].sum() == total
    assert spans.to_polars().rows(named=True) == from_arrow
    assert polars.DataFrame(spans)["dur_ns"].sum() == total
    stream = pyarrow.RecordBatchReader.from_stream(spans)
    assert duckdb.sql("select sum(dur_ns) from stream").fetchall()[0][0] == total


def test_columns_come_in_the_order_that_was_asked_for():
    pytest.importorskip("pyarrow")
    spans = traceloom.sample("easyprofiler").spans
    chosen = spans.select(["name", "ts_ns", "name"]).head(7).to_arrow()
    assert chosen.column_names == ["name", "ts_ns"]
    assert chosen.num_rows == 7
    assert chosen.to_pylist() == [{"name": row["name"], "ts_ns": row["ts_ns"]} for row in spans.to_arrow().to_pylist()[:7]]


def test_scan_pushes_down():
    polars = pytest.importorskip("polars")
    trace = traceloom.sample("easyprofiler")
    whole = trace.spans.to_polars()
    lazy = traceloom.scan(trace, "spans")
    longest = whole["dur_ns"].max()
    query = lazy.filter(polars.col("dur_ns") > longest // 2).select("name", "ts_ns")
    assert "SELECTION" in query.explain().upper() and "PROJECT" in query.explain().upper()
    assert query.collect().equals(whole.filter(polars.col("dur_ns") > longest // 2).select("name", "ts_ns"))
    assert lazy.head(3).collect().equals(whole.head(3))
    assert lazy.filter(polars.col("dur_ns") > 0).head(3).collect().height == 3


def test_paths_bytes_and_files_are_opened(tmp_path):
    data = traceloom.sample("memlyze").convert(to="memlyze")
    path = tmp_path / "x.mlyze"
    path.write_bytes(data)
    opened = [path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data), path.open("rb")]
    counts = [len(traceloom.open(source).allocations) for source in opened]
    assert counts == [counts[0]] * len(opened)
    assert traceloom.open(path).path == pathlib.Path(path)


def test_errors_say_who_has_to_act(tmp_path):
    with pytest.raises(FileNotFoundError):
        traceloom.open(tmp_path / "missing.prof")
    with pytest.raises(traceloom.TraceloomError):
        traceloom.open(b"nothing that any format claims")
    with pytest.raises(ValueError):
        traceloom.open(b"", format="nonsense")
    with pytest.raises(OSError, match="rb"):
        traceloom.open(io.StringIO("text"))
    trace = traceloom.sample("wtf")
    with pytest.raises(KeyError, match="unknown table"):
        trace["nonsense"]
    with pytest.raises(AttributeError):
        trace.nonsense
    with pytest.raises(KeyError, match="no column"):
        trace.spans.select(["nonsense"])
    with pytest.raises(ValueError):
        trace.convert()


def test_convert_writes_files_and_bytes(tmp_path):
    trace = traceloom.sample("easyprofiler")
    path = tmp_path / "out.prof"
    assert trace.convert(path) == []
    assert path.read_bytes() == trace.convert(to="easyprofiler")
    assert os.listdir(tmp_path) == ["out.prof"]
    lost = traceloom.sample("memlyze").convert(tmp_path / "lost.prof")
    assert lost and lost[0].keys() == {"what", "count", "example"}
    with pytest.raises(ValueError):
        trace.convert(tmp_path / "out.nonsense")
    assert sorted(os.listdir(tmp_path)) == ["lost.prof", "out.prof"]


def test_iterators_may_be_left_early():
    for _ in range(50):
        trace = traceloom.sample("cnanolog")
        next(trace.records())
        next(trace.log())
        next(iter(trace.logs))


def test_a_report_is_shown_in_a_notebook(tmp_path):
    report = traceloom.sample("nytprof").show(height=300)
    assert report._repr_html_().startswith("<iframe srcdoc=") and 'height="300"' in report._repr_html_()
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.document


QUERIES = [
    "select name, count(*) as n, sum(dur_ns) as total_ns from spans group by name order by total_ns desc, name limit 20",
    "select level_name, count(*) as n, min(message) as message from logs group by level_name order by level_name",
    "select name, count(*) as n from events group by name order by name",
    "select callee, sum(incl_ns) as incl_ns from calls group by callee order by incl_ns desc, callee limit 20",
    "select fate, sum(size_bytes) as bytes from allocations group by fate order by fate",
    "select format, version, bytes, first_ts_ns, last_ts_ns from traces",
]


def test_queries_are_answered_as_by_the_program(trace_path, program, has_sql):
    trace = traceloom.open(trace_path)
    if not has_sql:
        with pytest.raises(NotImplementedError, match="duckdb.sql"):
            trace.query("select 1")
        return
    for query in QUERIES:
        assert trace.query(query).to_pylist() == program("query", "--format", "json", trace_path, query), query
    assert trace.query("select * from spans").num_rows == len(trace.spans)
    for wrong in ["select nonsense from spans", "create table nonsense as select 1"]:
        with pytest.raises(ValueError, match="nonsense|queries"):
            trace.query(wrong)


#: How each library counts the rows of a table without all of them in memory.
COUNTS = {
    "pyarrow": "sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(table))",
    "pandas": "sum(len(batch.to_pandas()) for batch in pyarrow.RecordBatchReader.from_stream(table))",
    "polars": "sum(polars.DataFrame(batch).height for batch in table)",
    "duckdb": "duckdb.sql('select count(message) from stream').fetchall()[0][0]",
}

MEASURE = """
import re, sys, pyarrow, {library}, traceloom
table = traceloom.open(sys.argv[1]).logs
stream = pyarrow.RecordBatchReader.from_stream(table)
rows = {count}
print(rows, re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux to measure")
def test_streams_take_constant_memory(tmp_path):
    for count in (20_000, 600_000):
        traceloom._traceloom.log_open(tmp_path / f"{count}.clog")
        for number in range(count):
            traceloom._traceloom.log_write(20, f"{number:0100}", "a.py", 1)
        traceloom._traceloom.log_close()
    for library, count in COUNTS.items():
        pytest.importorskip(library)
        small, large = (peak(tmp_path, rows, MEASURE.format(library=library, count=count)) for rows in (20_000, 600_000))
        # In KiB. The additional messages alone would take 58 MB.
        assert large - small < 24 << 10, library


def peak(folder, count, program):
    """The peak memory of a process that counts rows."""
    done = subprocess.run([sys.executable, "-c", program, folder / f"{count}.clog"], capture_output=True, text=True, check=True)
    rows, peak = map(int, done.stdout.split())
    assert rows == count
    return peak
