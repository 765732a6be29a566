//! Web Tracing Framework.
//!
//! A zone is a thread, and an event type is a definition. Ids come from the numbering of the file, so they are the same
//! whatever is wanted:
//!
//! | table | id |
//! |---|---|
//! | `definitions` | the number of the type in the order of definition |
//! | `threads` | the number of the zone in the order of creation; 0 exists from the start |
//! | `spans`, category `scope` | the number of the scope in the order of entering, below 2³² |
//! | `spans`, category `frame` | 2³² and more, in the order of zone and frame number |
//! | `spans`, category `range` | 2·2³² and more, in the order of their start |
//! | `events`, `links` | the number of the event in the file, whatever its type: a link and its event have the same |
//!
//! Every event in a zone is a row of `events`, except those that enter a scope (a row of `spans`) and those that leave
//! one (its duration). `events.category` is the role of the event: `instance` is an event of the program, `mark` is a
//! mark; `append`, `flow`, `frame` and `range` are the events from which arguments of scopes, `links` and other spans
//! were made; `leave` ends a scope that was entered before the recording started.

/// The text of an array without elements; no value at all means null.
const EMPTY_ARRAY: &str = "[]";

pub(crate) mod from_tables;
pub(crate) mod to_tables;
