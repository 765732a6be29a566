//! Values over time.

use crate::{Float, Int, Maybe, Name, Text, Unsigned, define::table};

table! {
    /// Values over time: EasyProfiler values, one row per element of an array.
    Counters counters: Counter {
        /// Time of the value.
        ts_ns: Int,
        /// The thread that set it.
        thread_id: Maybe<Int> => Threads,
        /// Name of the value.
        name: Name,
        /// Distinguishes values with the same name: the address that the producer gives.
        value_id: Maybe<Unsigned>,
        /// The value as a number; NULL if it is text. The exact number is in `args`.
        value: Maybe<Float>,
        /// The value as text, if it is text.
        text: Maybe<Text>,
    }
}
