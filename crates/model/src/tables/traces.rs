//! One row per file.

use crate::{Int, Maybe, Name, Text, Unsigned, define::table};

table! {
    /// One row per file.
    ///
    /// `start_native_ns` + `ts_ns` is a time on the producer's clock; `unix_origin_ns` + `ts_ns` is a time of day.
    Traces traces: Trace {
        /// Path of the file.
        path: Text,
        /// `easyprofiler`, `nytprof`, `pynytprof`, `cnanolog`, `memlyze` or `wtf`.
        format: Name,
        /// The detected version or dialect, as the format calls it.
        version: Text,
        /// The program that wrote the file, if the file names it.
        producer: Maybe<Text>,
        /// `tsc` (a processor counter), `monotonic`, `wall`, or `count` (one unit is shown as one nanosecond).
        clock: Name,
        /// Clock ticks per second, if the file states them.
        clock_hz: Maybe<Unsigned>,
        /// The origin in clock ticks, if the file has ticks.
        start_ticks: Maybe<Unsigned>,
        /// The origin on the producer's clock.
        start_native_ns: Int,
        /// The origin in nanoseconds since 1970, if the file relates its clock to the time of day.
        unix_origin_ns: Maybe<Int>,
        /// The first timestamp in the trace.
        first_ts_ns: Maybe<Int>,
        /// The last timestamp in the trace, including ends.
        last_ts_ns: Maybe<Int>,
        /// Size of the file, decompressed.
        bytes: Unsigned,
    }
}
