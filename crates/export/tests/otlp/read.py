"""Counts the contents of OTLP files with OpenTelemetry's library: one line of JSON per file named on stdin."""

import json
import struct
import sys
from collections import Counter

from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData


def text_of(value):
    """A value as a text that includes its type."""
    kind = value.WhichOneof("value")
    if kind is None:
        return "null"
    held = getattr(value, kind)
    if kind == "string_value":
        return "text " + held
    if kind == "bool_value":
        return f"bool {int(held)}"
    if kind == "int_value":
        return f"int {held}"
    if kind == "double_value":
        return "float " + struct.pack(">d", held).hex()
    if kind == "bytes_value":
        return "bytes " + held.hex()
    if kind == "array_value":
        return "array " + ", ".join(text_of(element) for element in held.values)
    raise ValueError(kind)


def attributes_of(message, counts):
    keys = [pair.key for pair in message.attributes]
    assert len(keys) == len(set(keys)) and all(keys), keys
    for pair in message.attributes:
        counts[f"{pair.key} = {text_of(pair.value)}"] += 1


def resources_of(parts):
    """The distinct resources."""
    texts = set()
    for part in parts:
        counts = Counter()
        attributes_of(part.resource, counts)
        texts.add("\n".join(sorted(counts)))
    return sorted(texts)


def of_traces(data):
    parts = TracesData.FromString(data).resource_spans
    spans = [span for part in parts for scope in part.scope_spans for span in scope.spans]
    assert all(scope.scope.name == "traceloom" for part in parts for scope in part.scope_spans)
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    assert len(by_id) == len(spans), "ids are unique"
    kinds, attributes, events, links = Counter(), Counter(), Counter(), Counter()
    durations, begins, event_times, opened = Counter(), 0, 0, 0
    for span in spans:
        assert len(span.trace_id) == 16 and len(span.span_id) == 8 and any(span.trace_id) and any(span.span_id)
        assert span.kind == Span.SPAN_KIND_INTERNAL and span.status.code == 0
        parent = by_id[(span.trace_id, span.parent_span_id)].name if span.parent_span_id else None
        key = json.dumps([span.name, parent])
        kinds[key] += 1
        begins += span.start_time_unix_nano
        if span.end_time_unix_nano:
            durations[key] += span.end_time_unix_nano - span.start_time_unix_nano
        else:
            opened += 1
        attributes_of(span, attributes)
        for event in span.events:
            events[json.dumps([event.name, span.name])] += 1
            event_times += event.time_unix_nano
            attributes_of(event, attributes)
        for link in span.links:
            assert (link.trace_id, link.span_id) in by_id, "links lead to spans"
            links[json.dumps([by_id[(link.trace_id, link.span_id)].name, span.name])] += 1
            attributes_of(link, attributes)
    roots = sum(1 for span in spans if not span.parent_span_id)
    return {
        "spans": kinds,
        "durations": durations,
        "begins": str(begins),
        "open": opened,
        "roots": roots,
        "events": events,
        "event_times": str(event_times),
        "links": links,
        "attributes": attributes,
        "resources": resources_of(parts),
        "parts": len(parts),
    }


def of_logs(data):
    parts = LogsData.FromString(data).resource_logs
    records = [record for part in parts for scope in part.scope_logs for record in scope.log_records]
    kinds, attributes, times, inside = Counter(), Counter(), 0, 0
    for record in records:
        kinds[json.dumps([record.severity_text, record.severity_number, record.event_name, record.body.string_value])] += 1
        times += record.time_unix_nano
        inside += bool(record.span_id)
        attributes_of(record, attributes)
    return {
        "records": kinds,
        "times": str(times),
        "inside": inside,
        "attributes": attributes,
        "resources": resources_of(parts),
        "parts": len(parts),
    }


for line in sys.stdin:
    with open(line.rstrip("\n"), "rb") as file:
        data = file.read()
    print(json.dumps(of_logs(data) if ".logs." in line else of_traces(data)))
