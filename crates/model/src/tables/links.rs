//! Arrows between spans.

use crate::{Int, Maybe, Name, Unsigned, define::table};

table! {
    /// Arrows from one span to another: the flows of WTF.
    Links links: Link {
        /// The flow.
        flow_id: Unsigned,
        /// The span that the arrow starts in; NULL if it starts outside any span.
        from_span_id: Maybe<Int> => Spans,
        /// The span that the arrow ends in; NULL if it ends outside any span.
        to_span_id: Maybe<Int> => Spans,
        /// Time at which the arrow ends.
        ts_ns: Int,
        /// `branch`, `extend` or `terminate`.
        kind: Name,
    }
}
