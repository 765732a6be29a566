//! Arrows between spans.

use crate::{Int, Maybe, Name, Unsigned, define::table};

table! {
    /// Arrows from one span to another: the flows of WTF.
    Links links: Link {
        /// The flow.
        flow_id: Unsigned,
        /// Where it comes from; NULL where it begins outside of any span.
        from_span_id: Maybe<Int> => Spans,
        /// Where it goes; NULL where it ends outside of any span.
        to_span_id: Maybe<Int> => Spans,
        /// When it arrives.
        ts_ns: Int,
        /// `branch`, `extend` or `terminate`.
        kind: Name,
    }
}
