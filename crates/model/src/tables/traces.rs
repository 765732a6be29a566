//! One row per file.

use crate::{Int, Maybe, Name, Text, Unsigned, define::table};

table! {
    /// One row for each file.
    ///
    /// `start_native_ns` + `ts_ns` is a time in the producer's own clock, `unix_origin_ns` + `ts_ns` one of the time of day.
    Traces traces: Trace {
        /// Where the file was.
        path: Text,
        /// `easyprofiler`, `nytprof`, `pynytprof`, `cnanolog`, `memlyze` or `wtf`.
        format: Name,
        /// The version or dialect that was found, in the words of the format.
        version: Text,
        /// The program that wrote it, where the file says so.
        producer: Maybe<Text>,
        /// `tsc` (a counter of the processor), `monotonic`, `wall`, or `count` (one unit is shown as one nanosecond).
        clock: Name,
        /// Ticks of the clock in a second, where the file says so.
        clock_hz: Maybe<Unsigned>,
        /// The origin in ticks of the clock, where the file has ticks.
        start_ticks: Maybe<Unsigned>,
        /// The origin in the producer's own clock.
        start_native_ns: Int,
        /// The origin as nanoseconds since 1970, where the file relates its clock to the time of day.
        unix_origin_ns: Maybe<Int>,
        /// The first time in the trace.
        first_ts_ns: Maybe<Int>,
        /// The last time in the trace, ends included.
        last_ts_ns: Maybe<Int>,
        /// Length of the file, decompressed.
        bytes: Unsigned,
    }
}
