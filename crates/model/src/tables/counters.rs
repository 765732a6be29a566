//! Values over time.

use crate::{Float, Int, Maybe, Name, Text, Unsigned, define::table};

table! {
    /// Values over time: the values of EasyProfiler, one row for each element of an array.
    Counters counters: Counter {
        /// When.
        ts_ns: Int,
        /// Its thread.
        thread_id: Maybe<Int> => Threads,
        /// Its name.
        name: Name,
        /// Distinguishes values of one name: the address that the producer gives.
        value_id: Maybe<Unsigned>,
        /// The value as a number; NULL where it is text. The exact number is in `args`.
        value: Maybe<Float>,
        /// The value as text, where it is text.
        text: Maybe<Text>,
    }
}
