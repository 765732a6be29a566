//! Every rule of the format, in one table.
//!
//! Severity error means that the npm reader `tracing-framework` 2015.7.15-1 does not load the file because of it.

traceloom_core::rules! { "wtf":
    SHORT_FILE "short-file" Error
        "the file has {bytes} bytes; the WTF reader requires at least 48";
    FILE_SIZE "file-size" Error
        "the file has {bytes} bytes, which is not a multiple of 4";
    NEWER_WRITER "newer-writer" Error
        "the writer's version is {version}, newer than the WTF reader";
    LEGACY "legacy" Note
        "the file is in the packed, big-endian format that the chunked format replaced in 2013";
    LEGACY_HEADER "legacy-header" Error Missing
        "the header of the packed format cannot be read: {what}";
    CHUNK_SHORT "chunk-short" Error Missing
        "a chunk claims {length} bytes, but its header and {parts} parts need {needed}";
    CHUNK_CUT "chunk-cut" Error Missing
        "a chunk claims {length} bytes, but only {left} are left; these are read";
    CHUNK_OVERLONG "chunk-overlong" Error Missing
        "a chunk claims {length} bytes, but no valid chunk follows there; another chunk starts after {left} bytes";
    CHUNK_UNALIGNED "chunk-unaligned" Error
        "a chunk has {length} bytes, which is not a multiple of 4, and another one follows";
    CHUNK_LOST "chunk-lost" Error Missing
        "{bytes} bytes that are not a chunk are skipped; reading continues at the next valid chunk";
    CHUNK_UNKNOWN "chunk-unknown" Warning
        "a chunk has the unknown type {type}; it is kept but not read";
    TRAILING "trailing" Error Missing
        "{bytes} bytes at the end are too few for a chunk";
    PART_UNKNOWN "part-unknown" Warning
        "a part has the unknown type {type}; it is kept but not read";
    PART_MISPLACED "part-misplaced" Error Missing
        "a {type} part is in a {chunk} chunk, where it is not allowed";
    PART_PAST_CHUNK "part-past-chunk" Warning
        "a {type} part extends {bytes} bytes beyond its chunk; it is read anyway, as in the WTF reader";
    PART_PAST_END "part-past-end" Error Missing
        "a {type} part extends beyond the end of the file";
    PART_OVERLAP "part-overlap" Warning
        "a {type} part starts inside another one";
    PART_LEFT_OUT "part-left-out" Warning Missing
        "a {type} part of {bytes} bytes is left out: too many parts overlap";
    PART_REPLACED "part-replaced" Warning
        "a {type} part is followed by another one of its kind in the same chunk; only the last counts";
    PART_UNALIGNED "part-unaligned" Error
        "an event buffer does not start at a multiple of 4 bytes";
    BUFFER_TAIL "buffer-tail" Error Missing
        "an event buffer has {bytes} bytes, which is not a multiple of 4";
    NO_EVENT_BUFFER "no-event-buffer" Error Missing
        "an event chunk has no event buffer";
    NO_HEADER_PART "no-header-part" Error Missing
        "a header chunk has no file header";
    NO_HEADER "no-header" Warning
        "no file header comes before the first events: the timebase is unknown";
    SECOND_HEADER "second-header" Warning
        "there is another file header; later times count from its timebase, {shift} µs from the first";
    HEADER_JSON "header-json" Error Missing
        "the file header is not a JSON object: {what}";
    HEADER_TIMEBASE "header-timebase" Error Missing
        "the file header has no timebase";
    HEADER_FLAGS "header-flags" Error
        "the flags of the file header are not a list";
    HEADER_CONTEXT "header-context" Error
        "the context in the file header is not that of a script: {what}";
    HEADER_METADATA "header-metadata" Error
        "the metadata in the file header is not an object";
    TIMEBASE_ODD "timebase-odd" Warning
        "the timebase is not a number; text is parsed as a number if possible, otherwise 0 is used";
    EVENT_UNDEFINED "event-undefined" Error Missing
        "an event has the undefined wire id {wire}; {bytes} bytes are skipped";
    EVENT_UNREADABLE "event-unreadable" Error Missing
        "an event of type {name} has arguments of an unknown type; {bytes} bytes are skipped";
    EVENT_CUT "event-cut" Warning Missing
        "the last event of a buffer is cut off: {needed} bytes needed, {left} left";
    ARRAY_TOO_LONG "array-too-long" Error Missing
        "an event of type {name} needs {needed} bytes for its array, but only {left} are left; the WTF reader fails to allocate the array";
    DEFINE_NAME "define-name" Error
        "the definition of wire id {wire} has arguments and no name";
    DEFINE_UNNAMED "define-unnamed" Warning
        "the definition of wire id {wire} has no name";
    DEFINE_ARGS "define-args" Error
        "the definition of {name} has an invalid argument: {argument}";
    DEFINE_LINE_END "define-line-end" Error
        "the name {name} contains a line break; the WTF reader compiles definitions to code, and text after the line break becomes part of that code";
    DEFINE_NUMBER "define-number" Error
        "the definition of {name} has an argument named {argument}; the WTF reader uses it as a variable name, which cannot start with a digit";
    SAME_NAME "same-name" Warning
        "{name} is defined again with another signature; the WTF reader keeps the first definition and misreads the rest";
    SAME_NAME_FATAL "same-name-fatal" Error
        "the WTF reader reads {name} by its first definition and fails at wire id {wire}";
    STRING_ORDINAL "string-ordinal" Warning
        "{argument} refers to string {ordinal}, but the table has only {count}; it is read as null";
    ANY_JSON "any-json" Error
        "{argument} is not JSON: {text}";
    GENERIC_NAME "generic-name" Error
        "the WTF reader parses the name {name} as a signature and fails";
    ZONE_UNKNOWN "zone-unknown" Error Missing
        "events are in zone {zone}, which was never created";
    JSON_SYNTAX "json-syntax" Error Missing
        "invalid JSON: {what}; the rest of the file is not read";
    JSON_PARTIAL "json-partial" Error
        "the file is a sequence of JSON documents; the Web Tracing Framework writes such files and cannot open them";
    JSON_KEYS "json-keys" Note
        "the version keys are spelled with underscores, as in the specification; the WTF reader ignores them";
    JSON_SHAPE "json-shape" Error Missing
        "{what}";
    JSON_BASE64 "json-base64" Error Missing
        "the value of a {type} part is not base64";
    JSON_LENGTH "json-length" Error
        "the byteLength of a part is {declared}, but its value has {found} bytes";
    JSON_EVENTS "json-events" Warning
        "events are stored here as JSON; the WTF reader ignores them";
    JSON_EVENTS_SYNTAX "json-events-syntax" Error Missing
        "a part that should hold events as JSON is not valid JSON";
    SCRIPT "script" Warning
        "the file is a version 2 event list; the current WTF reader opens it and shows nothing";
    SCRIPT_RELAXED "script-relaxed" Error
        "the list has a trailing comma or no closing bracket, which version 2 allowed";
    SCRIPT_EVENT "script-event" Warning Missing
        "an entry of the event list cannot be used: {what}";
    CALLS_HEADER "calls-header" Error Missing
        "the header of the calls file cannot be read: {what}";
    CALLS_FUNCTION "calls-function" Error Missing
        "a call refers to function {function}, which no module contains";
    CALLS_TAIL "calls-tail" Warning Missing
        "{bytes} bytes at the end are too few for a call";
}
