//! Recognizes files of other tools and names a tool that opens them.

/// How a file of another tool is recognized.
enum Mark {
    /// It starts with these bytes.
    Start(&'static [u8]),
    /// It is JSON, and its prefix contains all of these texts.
    Json(&'static [&'static str]),
    /// It is a protocol buffers message that starts with these bytes; `None` matches any byte.
    Protobuf(&'static [Option<u8>]),
}

/// The first match counts.
static FOREIGN: &[(Mark, &str, &str)] = &[
    (Mark::Json(&["\"traceEvents\""]), "a Chrome trace", "open it at ui.perfetto.dev"),
    (Mark::Json(&["speedscope.app/file-format-schema"]), "a speedscope profile", "open it at speedscope.app"),
    (Mark::Json(&["\"meta\"", "\"processType\""]), "a Firefox profile", "open it at profiler.firefox.com"),
    (
        Mark::Json(&["\"nodes\"", "\"callFrame\""]),
        "a V8 CPU profile",
        "open it in the developer tools of Chrome or at speedscope.app",
    ),
    (Mark::Json(&["\"resourceSpans\""]), "an OpenTelemetry export", "send it to a tracing backend such as Jaeger"),
    (Mark::Json(&["\"ph\"", "\"ts\""]), "a Chrome trace", "open it at ui.perfetto.dev"),
    (Mark::Json(&[]), "a JSON file, but not a trace", "see `traceloom formats`"),
    (Mark::Start(b"PERFILE2"), "a perf recording", "open it with `perf report` or at profiler.firefox.com"),
    (Mark::Start(b"tracy"), "a Tracy capture", "open it with the Tracy profiler"),
    (Mark::Start(b"tlZ\x04"), "a Tracy capture", "open it with the Tracy profiler"),
    (Mark::Start(b"tZst"), "a Tracy capture", "open it with the Tracy profiler"),
    (Mark::Start(b"tr\xfdP"), "a Tracy capture", "open it with the Tracy profiler"),
    (Mark::Start(b"FLR\0"), "a Java Flight Recorder file", "open it with JDK Mission Control"),
    (Mark::Start(b"memray\0"), "a Memray capture", "open it with `memray flamegraph`"),
    (Mark::Start(b"go 1."), "a Go execution trace", "open it with `go tool trace`"),
    (Mark::Start(b"# callgrind format"), "a Callgrind profile", "open it with KCachegrind"),
    (Mark::Start(&[0xc1, 0x1f, 0xfc, 0xc1]), "an LTTng (CTF) stream", "open it with babeltrace2"),
    (Mark::Start(b"\x7fELF"), "an ELF program", "run it, and name the trace that it writes"),
    (Mark::Start(b"SQLite format 3\0"), "an SQLite database", "open it with sqlite3"),
    (Mark::Start(b"PAR1"), "a Parquet file", "name the folder of its store to `traceloom query`"),
    (Mark::Start(b"PK\x03\x04"), "a ZIP archive", "unpack it first"),
    (Mark::Start(b"\xfd7zXZ\0"), "an xz file", "decompress it first"),
    (Mark::Start(b"BZh"), "a bzip2 file", "decompress it first"),
    (
        Mark::Protobuf(&[Some(0x0a), None, Some(0x08), None, Some(0x10)]),
        "a pprof profile",
        "open it with `go tool pprof` or at speedscope.app",
    ),
    (Mark::Protobuf(&[Some(0x0a)]), "a Perfetto trace", "open it at ui.perfetto.dev"),
];

/// The probable kind of a file, and what to do with it.
pub(crate) fn name(prefix: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = FOREIGN.iter().find(|(mark, _, _)| mark.fits(prefix)).map(|(_, name, advice)| (*name, *advice));
    found.or_else(|| is_text(prefix).then_some(("a text file", "see `traceloom formats`")))
}

impl Mark {
    fn fits(&self, prefix: &[u8]) -> bool {
        match self {
            Self::Start(bytes) => prefix.starts_with(bytes),
            Self::Json(texts) => {
                let text = String::from_utf8_lossy(prefix);
                text.trim_start().starts_with(['{', '[']) && texts.iter().all(|part| text.contains(part))
            }
            Self::Protobuf(bytes) => {
                let fits = |(byte, wanted): (&u8, &Option<u8>)| wanted.is_none_or(|wanted| wanted == *byte);
                !is_text(prefix) && prefix.len() > bytes.len() && prefix.iter().zip(*bytes).all(fits)
            }
        }
    }
}

/// Whether the prefix is UTF-8 without control characters; its last character may be cut off.
fn is_text(prefix: &[u8]) -> bool {
    let is_plain = |text: &str| !text.contains(|c: char| c.is_control() && !c.is_ascii_whitespace());
    match std::str::from_utf8(prefix) {
        Ok(text) => !text.is_empty() && is_plain(text),
        Err(error) => {
            let valid = prefix.get(..error.valid_up_to()).unwrap_or_default();
            error.error_len().is_none() && !valid.is_empty() && is_plain(&String::from_utf8_lossy(valid))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_tools_are_named() {
        let is = |bytes: &[u8], expected: &str| assert_eq!(name(bytes).map(|(name, _)| name), Some(expected));
        is(br#"{"displayTimeUnit":"ns","traceEvents":[]}"#, "a Chrome trace");
        is(br#" [{"name":"a","ph":"X","ts":1}]"#, "a Chrome trace");
        is(br#"{"meta":{"processType":0}}"#, "a Firefox profile");
        is(br#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}]}"#, "a V8 CPU profile");
        is(br#"{"a":1}"#, "a JSON file, but not a trace");
        is(b"PERFILE2\0\0", "a perf recording");
        is(b"tZst....", "a Tracy capture");
        is(b"\x7fELF\x02\x01", "an ELF program");
        is(&[0x0a, 4, 0x08, 1, 0x10, 2, 0x12], "a pprof profile");
        is(&[0x0a, 0x20, 0x50, 1, 0x32, 0x0c], "a Perfetto trace");
        is("\nhello jürgen".as_bytes(), "a text file");
        assert_eq!(name(&[0, 1, 2]), None);
        assert_eq!(name(&[]), None);
    }
}
