//! NYTProf profiles: the real stream of Devel::NYTProf and Pynytprof's dialect.
//!
//! ```
//! # fn main() -> traceloom_core::Result<()> {
//! use traceloom_core::{Options, Source};
//! use traceloom_nytprof::{aggregate, sample};
//!
//! let mut profile = aggregate::load(Source::bytes(sample::sample()?.bytes), &Options::default())?;
//! profile.merge_evals();
//! let total = &profile.subs[&b"Shop::Price::total"[..]];
//! assert_eq!(total.calls, 120);
//! assert!(total.excl_seconds < total.incl_seconds);
//! # Ok(())
//! # }
//! ```
//!
//! The crate itself is the real stream; [`pynytprof`] has the same names for the dialect. Both start with `NYTProf 5
//! 0`; [`dialect`] distinguishes them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

pub mod aggregate;
mod budget;
mod check;
mod dialect;
pub mod edit;
pub mod findings;
mod inflate;
mod info;
mod nv;
mod output;
mod parse;
pub mod pynytprof;
pub mod raw;
mod read;
mod record;
pub mod sample;
mod variant;
mod write;

use std::io::Write;

use traceloom_core::{Descriptor as Format, Edited, Options, Order, Result, Sibling, Sniff, Source, Variant};

use crate::variant::with_levels;
pub use crate::{
    check::leading_number,
    dialect::{Dialect, dialect},
    nv::{Nv, NvLayout},
    read::{INFLATED, Reader, open},
    record::{
        Header, NewFid, Pair, PidEnd, PidStart, Record, SrcLine, Str, SubCallers, SubEntry, SubInfo, SubReturn,
        TimeBlock, TimeLine, text_of,
    },
    write::{Writer, create},
};

/// The format's descriptor.
pub static FORMAT: Format = Format::new("nytprof", "NYTProf")
    .extensions(&["out", "nytprof"])
    .variants(&with_levels(Variant::new("plain", "not compressed")))
    .siblings(&["pynytprof"])
    .order(Order::End);

/// Whether these first bytes look like a profile of Devel::NYTProf.
pub fn sniff(prefix: &[u8]) -> Sniff {
    let is_real = dialect::begins(prefix) && !dialect::dialect_of_prefix(prefix).is_pynytprof();
    if is_real { Sniff::Yes } else { Sniff::No }
}

traceloom_core::codec! {
    /// The stream of Devel::NYTProf.
    pub struct Nytprof;

    fn settle(source: &Source, options: &Options) -> Result<Option<&'static str>> {
        let is_pynytprof = dialect::dialect(source, &options.limits)?.is_pynytprof();
        Ok(is_pynytprof.then_some(pynytprof::FORMAT.id))
    }

    fn convert_to<W: Write>(source: &Source, out: W, to: &Sibling<'_>, options: &Options) -> Result<Edited> {
        edit::to_pynytprof(source, out, to.variant, options)
    }

    fn header_bytes(header: &Header) -> u64 {
        header.line().len() as u64
    }
}
