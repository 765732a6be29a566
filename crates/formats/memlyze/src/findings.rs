//! Every rule of the format, in one table.
//!
//! Severity error means that the file breaks one of the seven documented rules.

traceloom_core::rules! { "memlyze":
    BAD_MAGIC "bad-magic" Error
        "the file starts with {found}, not with MTRC; the rest looks like a trace and is read";
    BIG_ENDIAN "big-endian" Error
        "the header is big-endian; the specification requires little-endian";
    HEADER_CUT "header-cut" Error Missing
        "the file ends inside the header, after {found} of 256 bytes; the rest counts as zero, and no events follow";
    UNSUPPORTED_VERSION "unsupported-version" Error Missing
        "the version is {found}, but only 1 is known; the events are read as those of version 1";
    RESERVED_NONZERO "reserved-nonzero" Warning
        "reserved bytes of the header are not zero; the first is byte {offset}";
    METADATA_ABSENT "metadata-absent" Warning
        "the metadata is missing: stacks and markers only have numbers";
    METADATA_INVALID "metadata-invalid" Error Missing
        "the metadata is not valid JSON: {reason}; everything before that is kept";
    METADATA_NOT_OBJECT "metadata-not-object" Error Missing
        "the metadata is not a JSON object but {found}";
    METADATA_LENGTH "metadata-length" Error
        "the header declares {declared} bytes of metadata, the file has {left} there, and the JSON ends after {found}; events are read from there";
    METADATA_SURPLUS "metadata-surplus" Error
        "{bytes} zero bytes pad the metadata after its JSON";
    METADATA_SHAPE "metadata-shape" Warning
        "{where} in the metadata is {found}, not {expected}; it is skipped";
    METADATA_ID "metadata-id" Warning
        "{id} in {section} is not a decimal number; the entry is skipped";
    METADATA_DUPLICATE "metadata-duplicate" Warning
        "{what} occurs twice in the metadata; the last one is used";
    METADATA_KEY "metadata-key" Note
        "the metadata has the key {key}, which the specification does not define";
    FRAME_FIELD "frame-field" Warning
        "frame {frame} of stack {stack} has no usable {field}";
    FRAME_MISSING "frame-missing" Error Missing
        "frame {frame} of stack {stack} refers to {what} {id}, which is not in the metadata";
    GROWTH_MODE "growth-mode" Note
        "written by the Memlyze tracer: an ALLOC is the growth of a source line between two snapshots, and a FREE is a shrinkage of unknown size, so the file does not show which memory was freed or leaked, from where, or by which thread; equal deltas in a snapshot count once";
    GROWTH_STACK "growth-stack" Note
        "stacks have only numbers, such as {id}, because the tracer left the metadata empty";
    GROWTH_MARKER "growth-marker" Note
        "markers have only numbers, such as {id}, because the tracer left the metadata empty";
    GROWTH_ADDRESS "growth-address" Warning
        "an event has the address {address}, but the trace starts with events whose addresses are all 0; it is also read as growth";
    STACK_MISSING "stack-missing" Error Missing
        "stack {id} is not in the metadata";
    MARKER_MISSING "marker-missing" Error Missing
        "marker name {id} is not among the functions of the metadata";
    VARINT_PADDED "varint-padded" Warning
        "a varint is longer than its value needs; surplus bytes: {bytes}";
    VARINT_TOO_LONG "varint-too-long" Error Missing
        "a varint has more than 64 bits; the {left} bytes from this event on are not read";
    UNKNOWN_EVENT "unknown-event" Error Missing
        "the event type {type} is unknown; events have no length, so the {left} bytes from here on are not read";
    ANOTHER_RECORDING "another-recording" Error Missing
        "another recording starts here, as after a fork; its {left} bytes are not read, and can be opened as a separate file";
    EVENT_CUT "event-cut" Error Missing
        "the file ends inside an event, after {left} of its bytes; the recording or the copy was cut off, and repair drops the partial event";
    TIME_OVERFLOW "time-overflow" Warning
        "the deltas add up to more than 64 bits; times are clamped to the largest value";
    BLOCK_DAMAGED "block-damaged" Error Missing
        "the block of {bytes} bytes is damaged ({reason}); its events are left out";
    BLOCK_LOST "block-lost" Error Missing
        "no block starts here ({reason}); the bytes up to the next one are left out";
    BLOCK_TIME "block-time" Warning
        "the block claims to start at {declared} microseconds, but the events before it end at {found}";
    INDEX_UNUSABLE "index-unusable" Warning
        "the index does not belong to this trace or is damaged ({reason}); the trace is read from its start instead";
}
