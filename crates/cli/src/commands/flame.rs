//! `flame`: a flame graph of time or memory.

use std::{borrow::Cow, io::Write};

use inferno::flamegraph::Direction;
use traceloom_analysis::{
    flame::{self, MAX_FRAMES, Options, Tree, Weight},
    memory::{self, Held, memory},
};
use traceloom_core::{Error, Loss, Result};
use traceloom_mapping::TraceSet;
use traceloom_model::Filter;
use traceloom_passes::{push_folded_cost, push_folded_frame};

use crate::{
    Outcome,
    args::answers::{Flame as Arguments, FlameFormat, FlameWeight},
    input, output,
};

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let traces = arguments.reading.open_set(&arguments.files, &arguments.shifts)?;
    let options = options(arguments);
    let tree = stacks(&traces, arguments.by, options).map_err(|error| input::about(&arguments.files, error))?;
    if tree.is_deep() {
        output::note(&format!("stacks deeper than {MAX_FRAMES} frames are truncated"));
    }
    let inputs: Vec<_> = arguments.files.iter().map(AsRef::as_ref).collect();
    let mut loss = Loss::default();
    output::write_file(&arguments.output, &inputs, |out| match arguments.format {
        FlameFormat::Folded => write_folded(&tree, &mut loss, out),
        FlameFormat::Svg => write_svg(&tree, arguments, &mut loss, out),
    })?;
    output::report_loss(&loss);
    Ok(Outcome::Fine)
}

/// Stacks of the traces; estimated from sums if the traces have only sums.
pub(super) fn stacks(traces: &TraceSet, by: FlameWeight, options: Options) -> Result<Tree> {
    if let Some(held) = by.held() {
        return memory_stacks(traces, held, options);
    }
    let stacks = flame::stacks(traces, options)?;
    if stacks.is_estimated {
        output::note("stacks are estimated: the profiler recorded calls per caller, not per stack");
    }
    Ok(stacks.tree)
}

fn memory_stacks(traces: &TraceSet, held: Held, options: Options) -> Result<Tree> {
    let report = memory(traces, &Filter::in_range(options.range), &memory::Options::default())?;
    if report.totals.allocations == 0 && options.range.is_all() {
        return Err(flame::no_allocations());
    }
    let tree = memory::stacks(&[report], held);
    Ok(if options.is_reversed { tree.reversed() } else { tree })
}

fn options(arguments: &Arguments) -> Options {
    let weight = arguments.by.into();
    let (is_reversed, by_thread) = (arguments.reversed, arguments.by_thread);
    let range = arguments.range.unwrap_or_default();
    Options { weight, is_reversed, by_thread, range, ..Options::default() }
}

impl From<FlameWeight> for Weight {
    fn from(by: FlameWeight) -> Self {
        match by {
            FlameWeight::Bytes | FlameWeight::Leaked | FlameWeight::Peak | FlameWeight::Temporary => Self::Bytes,
            FlameWeight::Count => Self::Count,
            FlameWeight::SelfTime => Self::SelfTime,
            FlameWeight::Time => Self::Time,
        }
    }
}

impl FlameWeight {
    /// For a weight that depends on frees: the allocations that count.
    fn held(self) -> Option<Held> {
        match self {
            Self::Leaked => Some(Held::Leaked),
            Self::Peak => Some(Held::Peak),
            Self::Temporary => Some(Held::Temporary),
            Self::Bytes | Self::Count | Self::SelfTime | Self::Time => None,
        }
    }
}

/// The lines of all stacks, with names changed by `name`.
fn folded(tree: &Tree, name: fn(&str) -> Cow<'_, str>, loss: &mut Loss) -> Vec<u8> {
    let mut lines = Vec::new();
    for stack in tree.stacks() {
        stack.frames.iter().for_each(|frame| push_folded_frame(&mut lines, &name(frame), loss));
        push_folded_cost(&mut lines, stack.own);
    }
    lines
}

/// Replaces characters that XML cannot hold. Inferno takes two numbers at the end of a line for a comparison, so the
/// space before a number at the end of a name is replaced.
fn picture_word(name: &str) -> Cow<'_, str> {
    let name = name.replace(['\u{fffe}', '\u{ffff}'], "?");
    match name.rsplit_once(|letter: char| letter == ' ' || letter.is_control()) {
        Some((rest, last)) if last.parse::<f64>().is_ok() => format!("{rest}\u{a0}{last}").into(),
        _ => name.into(),
    }
}

fn write_folded(tree: &Tree, loss: &mut Loss, out: &mut dyn Write) -> Result<()> {
    Ok(out.write_all(&folded(tree, |name| name.into(), loss))?)
}

/// For an empty graph, for which Inferno would draw an error.
const EMPTY_PICTURE: &str = r#"<svg version="1.1" width="1200" height="60" xmlns="http://www.w3.org/2000/svg">
<text x="600" y="36" text-anchor="middle" font-family="sans-serif">nothing in this range</text>
</svg>"#;

fn write_svg(tree: &Tree, arguments: &Arguments, loss: &mut Loss, out: &mut dyn Write) -> Result<()> {
    let (title, unit) = match arguments.by {
        FlameWeight::Bytes => ("Bytes allocated", "bytes"),
        FlameWeight::Leaked => ("Bytes never freed", "bytes"),
        FlameWeight::Peak => ("Bytes in use at the peak", "bytes"),
        FlameWeight::Temporary => ("Bytes freed by the next event", "bytes"),
        FlameWeight::Count => ("Calls", "calls"),
        FlameWeight::SelfTime | FlameWeight::Time => ("Time", "ns"),
    };
    let mut options = inferno::flamegraph::Options::default();
    options.title = title.to_owned();
    options.count_name = unit.to_owned();
    options.direction = if arguments.icicle { Direction::Inverted } else { Direction::Straight };
    // The same name has the same color in every image.
    options.hash = true;
    let lines = folded(tree, picture_word, loss);
    if lines.is_empty() {
        return Ok(writeln!(out, "{EMPTY_PICTURE}")?);
    }
    // Inferno wraps output errors, so a closed pipe could not be recognized.
    let mut picture = Vec::new();
    inferno::flamegraph::from_lines(&mut options, String::from_utf8_lossy(&lines).lines(), &mut picture)
        .map_err(|error| Error::from(std::io::Error::other(error)))?;
    Ok(out.write_all(&picture)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_break_lines_or_pictures() {
        let mut lines = Vec::new();
        push_folded_frame(&mut lines, &picture_word("a;b\nc\u{1}"), &mut Loss::default());
        assert_eq!(lines, b"a:b c ;");
        assert_eq!(picture_word("thread 12"), "thread\u{a0}12");
        assert_eq!(picture_word("thread\t12"), "thread\u{a0}12");
        assert_eq!(picture_word("a b"), "a b");
        assert_eq!(picture_word("\u{ffff}"), "?");
    }
}
