//! Field numbers of OTLP's messages, spelled as OpenTelemetry spells them.

/// `TracesData` and `LogsData`.
pub(super) mod data {
    /// `resource_spans` or `resource_logs`.
    pub(in super::super) const RESOURCES: u32 = 1;
}

/// `ResourceSpans` and `ResourceLogs`.
pub(super) mod resources {
    pub(in super::super) const RESOURCE: u32 = 1;
    /// `scope_spans` or `scope_logs`.
    pub(in super::super) const SCOPES: u32 = 2;

    pub(in super::super) const RESOURCE_ATTRIBUTES: u32 = 1;
}

/// `ScopeSpans` and `ScopeLogs`.
pub(super) mod scopes {
    pub(in super::super) const SCOPE: u32 = 1;
    /// `spans` or `log_records`.
    pub(in super::super) const ITEMS: u32 = 2;

    pub(in super::super) const SCOPE_NAME: u32 = 1;
    pub(in super::super) const SCOPE_VERSION: u32 = 2;
}

pub(super) mod span {
    pub(in super::super) const TRACE_ID: u32 = 1;
    pub(in super::super) const SPAN_ID: u32 = 2;
    pub(in super::super) const PARENT_SPAN_ID: u32 = 4;
    pub(in super::super) const NAME: u32 = 5;
    pub(in super::super) const KIND: u32 = 6;
    pub(in super::super) const START_TIME_UNIX_NANO: u32 = 7;
    pub(in super::super) const END_TIME_UNIX_NANO: u32 = 8;
    pub(in super::super) const ATTRIBUTES: u32 = 9;
    pub(in super::super) const EVENTS: u32 = 11;
    pub(in super::super) const DROPPED_EVENTS_COUNT: u32 = 12;
    pub(in super::super) const LINKS: u32 = 13;

    pub(in super::super) const KIND_INTERNAL: u64 = 1;
}

pub(super) mod event {
    pub(in super::super) const TIME_UNIX_NANO: u32 = 1;
    pub(in super::super) const NAME: u32 = 2;
    pub(in super::super) const ATTRIBUTES: u32 = 3;
}

pub(super) mod link {
    pub(in super::super) const TRACE_ID: u32 = 1;
    pub(in super::super) const SPAN_ID: u32 = 2;
    pub(in super::super) const ATTRIBUTES: u32 = 4;
}

pub(super) mod log {
    pub(in super::super) const TIME_UNIX_NANO: u32 = 1;
    pub(in super::super) const SEVERITY_NUMBER: u32 = 2;
    pub(in super::super) const SEVERITY_TEXT: u32 = 3;
    pub(in super::super) const BODY: u32 = 5;
    pub(in super::super) const ATTRIBUTES: u32 = 6;
    pub(in super::super) const TRACE_ID: u32 = 9;
    pub(in super::super) const SPAN_ID: u32 = 10;
    pub(in super::super) const EVENT_NAME: u32 = 12;
}

/// `KeyValue`, `AnyValue` and `ArrayValue`.
pub(super) mod value {
    pub(in super::super) const KEY: u32 = 1;
    pub(in super::super) const VALUE: u32 = 2;

    pub(in super::super) const STRING: u32 = 1;
    pub(in super::super) const BOOL: u32 = 2;
    pub(in super::super) const INT: u32 = 3;
    pub(in super::super) const DOUBLE: u32 = 4;
    pub(in super::super) const ARRAY: u32 = 5;
    pub(in super::super) const BYTES: u32 = 7;

    pub(in super::super) const ELEMENTS: u32 = 1;
}
