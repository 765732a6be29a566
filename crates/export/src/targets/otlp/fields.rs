//! Field numbers of OTLP's messages, spelled as OpenTelemetry spells them.

use crate::wire::messages;

messages! {
    /// `TracesData` and `LogsData`.
    data {
        /// `resource_spans` or `resource_logs`.
        RESOURCES = 1
    }

    /// `ResourceSpans` and `ResourceLogs`.
    resources {
        RESOURCE = 1,
        /// `scope_spans` or `scope_logs`.
        SCOPES = 2,
        RESOURCE_ATTRIBUTES = 1
    }

    /// `ScopeSpans` and `ScopeLogs`.
    scopes {
        SCOPE = 1,
        /// `spans` or `log_records`.
        ITEMS = 2,
        SCOPE_NAME = 1, SCOPE_VERSION = 2
    }

    span {
        TRACE_ID = 1, SPAN_ID = 2, PARENT_SPAN_ID = 4, NAME = 5, KIND = 6, START_TIME_UNIX_NANO = 7,
        END_TIME_UNIX_NANO = 8, ATTRIBUTES = 9, EVENTS = 11, DROPPED_EVENTS_COUNT = 12, LINKS = 13;
        KIND_INTERNAL = 1
    }

    event { TIME_UNIX_NANO = 1, NAME = 2, ATTRIBUTES = 3 }

    link { TRACE_ID = 1, SPAN_ID = 2, ATTRIBUTES = 4 }

    log {
        TIME_UNIX_NANO = 1, SEVERITY_NUMBER = 2, SEVERITY_TEXT = 3, BODY = 5, ATTRIBUTES = 6, TRACE_ID = 9,
        SPAN_ID = 10, EVENT_NAME = 12
    }

    /// `KeyValue`, `AnyValue` and `ArrayValue`.
    value { KEY = 1, VALUE = 2, STRING = 1, BOOL = 2, INT = 3, DOUBLE = 4, ARRAY = 5, BYTES = 7, ELEMENTS = 1 }
}
