//! Web Tracing Framework.
//!
//! A zone is a thread, an event type a definition. What the file counts is the id, so that it is the same whatever is
//! wanted:
//!
//! | table | id |
//! |---|---|
//! | `definitions` | the number of the type in the order of definition |
//! | `threads` | the number of the zone in the order of creation; 0 exists from the start |
//! | `spans`, category `scope` | the number of the scope in the order of entering, below 2³² |
//! | `spans`, category `frame` | 2³² and more, in the order of zone and frame number |
//! | `spans`, category `range` | 2·2³² and more, in the order of beginning |
//! | `events`, `links` | the number of the event in the file, whatever its type: a link and its event have the same |
//!
//! Every event that happens in a zone is a row of `events`, except those that enter a scope (a row of `spans`) and those
//! that leave one (its duration). `events.category` tells what an event does: `instance` is the program's own, `mark` a
//! mark; `append`, `flow`, `frame` and `range` are what arguments of scopes, `links` and other spans were made from;
//! `leave` ends a scope that was entered before the recording began.

pub(crate) mod from_tables;
pub(crate) mod to_tables;
