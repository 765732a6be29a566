"""Names in files of several formats, as the usual modules read them: one line of JSON per file named on stdin."""

import csv
import json
import sys

import pyarrow.ipc
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

csv.field_size_limit(1 << 30)


def names_of(path):
    if path.endswith(".csv"):
        with open(path, newline="", encoding="utf-8") as file:
            return [row["name"] for row in csv.DictReader(file, strict=True)]
    if path.endswith(".arrow"):
        with pyarrow.OSFile(path) as file:
            return pyarrow.ipc.open_file(file).read_all()["name"].to_pylist()
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".logs.otlp"):
        scopes = (scope for part in LogsData.FromString(data).resource_logs for scope in part.scope_logs)
        return [record.body.string_value for scope in scopes for record in scope.log_records]
    scopes = (scope for part in TracesData.FromString(data).resource_spans for scope in part.scope_spans)
    return [span.name for scope in scopes for span in scope.spans]


for line in sys.stdin:
    print(json.dumps(names_of(line.rstrip("\n"))))
