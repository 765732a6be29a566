//! NYTProf profiles: the real stream of Devel::NYTProf and the dialect of Pynytprof.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Options, Source};
//! use traceloom_nytprof::{aggregate, sample};
//!
//! let mut profile = aggregate::load(Source::bytes(sample::profile()?), &Options::default())?;
//! profile.merge_evals();
//! let total = &profile.subs[&b"Shop::Price::total"[..]];
//! assert_eq!(total.calls, 120);
//! assert!(total.excl_seconds < total.incl_seconds);
//! # Ok(())
//! # }
//! ```
//!
//! The crate itself is the real stream; [`pynytprof`] has the same names for the dialect. Both begin with
//! `NYTProf 5 0`; [`dialect`] tells them apart.

#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic)]

pub mod aggregate;
mod check;
mod dialect;
pub mod edit;
pub mod findings;
mod inflate;
mod nv;
mod parse;
mod probe;
pub mod pynytprof;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod walk;
mod write;

use traceloom_core::{Access, Clock, Descriptor as Format, Order, Sniff, Variant};

pub use crate::{
    check::leading_number,
    dialect::{Dialect, dialect},
    nv::{Nv, NvLayout},
    read::{INFLATED, Reader, open},
    record::{
        Header, NewFid, Pair, PidEnd, PidStart, Record, SrcLine, Str, SubCallers, SubEntry, SubInfo, SubReturn,
        TimeBlock, TimeLine, text_of,
    },
    walk::Visit,
    write::{Writer, create},
};

/// The format as data.
pub static FORMAT: Format = Format {
    id: "nytprof",
    name: "NYTProf",
    extensions: &["out", "nytprof"],
    variants: &[
        Variant { id: "plain", about: "not compressed" },
        Variant { id: "zlib", about: "compressed at level 6; zlib0 to zlib9 choose the level" },
    ],
    clock: Clock::Monotonic,
    access: Access::Sequential,
    order: Order::End,
};

/// Whether these first bytes look like a profile of Devel::NYTProf.
pub fn sniff(prefix: &[u8]) -> Sniff {
    match dialect::begins(prefix) && !dialect::dialect_of_prefix(prefix).is_pynytprof() {
        true => Sniff::Yes,
        false => Sniff::No,
    }
}
