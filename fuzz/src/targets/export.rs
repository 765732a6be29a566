//! Export: every target writes any input, and Traceloom reads what it wrote in its own formats.

use std::io::{self, Write};

use traceloom_core::{Codec, Mode, Slice, TimeRange};
use traceloom_export::{Options, Target, targets, write};
use traceloom_mapping::Trace;
use traceloom_open::FORMATS;

use super::{
    edit::{may_refuse, run},
    tables::trace,
};
use crate::{Choices, WIDE_WINDOW, options, shapes};

/// Writes the tables of `bytes` as one target; the input decides which, so that a run is fast.
pub fn export<C: Codec>(bytes: &[u8]) {
    let Some(trace) = trace(bytes, Some(C::FORMAT.id)) else { return };
    let mut choices = Choices::of(bytes);
    let target = targets().nth(choices.below(targets().count())).expect("it is below their number");
    let id = target.id;
    let options = chosen(target, &mut choices);
    if FORMATS.iter().any(|format| format.descriptor().id == id) {
        if let Some(written) = run(|out| write(target, &trace, &options, &mut Bounded::new(out))) {
            // Some variants are written by the format's tool but cannot be opened by it.
            let mode = if options.variant.is_none() { Mode::Strict } else { Mode::Lenient };
            (shapes::of(id).assert_walks)(&written, mode, "export");
        }
    } else {
        write_away(target, &trace, &options);
    }
}

fn write_away(target: &Target, trace: &Trace, options: &Options) {
    if let Err(error) = write(target, trace, options, &mut Bounded::new(io::sink())) {
        assert!(may_refuse(&error), "{} ends with: {error}", target.id);
    }
}

/// A variant, and sometimes a range.
fn chosen(target: &Target, choices: &mut Choices) -> Options {
    let variants = target.variants;
    let from_ns = choices.below(1 << 20) as i64;
    let mut chosen = Options::default();
    chosen.limits = options(Mode::Lenient, WIDE_WINDOW).limits;
    chosen.variant = variants.get(choices.below(variants.len() + 1)).map(|variant| variant.id.to_owned());
    if choices.below(2) == 0 {
        chosen.slice = Slice { range: TimeRange::between(from_ns, from_ns * 2), threads: Vec::new() };
    }
    chosen
}

/// A short input can expand to more than is worth writing.
const MAX_BYTES: usize = 16 << 20;

/// An output that becomes full at some point, like a disk.
struct Bounded<W> {
    out: W,
    left: usize,
}

impl<W: Write> Bounded<W> {
    fn new(out: W) -> Self {
        Self { out, left: MAX_BYTES }
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
