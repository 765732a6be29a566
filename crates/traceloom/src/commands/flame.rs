//! `flame`: where the time or the memory goes, as a picture.

use std::io::Write;

use traceloom_analysis::flame::{Flame, Options, Tree, Weight};
use traceloom_bytes::{Error, Result};
use traceloom_model::{Filter, TableSource};

use crate::{
    Outcome,
    args::answers::{Flame as Arguments, FlameFormat, FlameWeight},
    input, output,
};

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let traces = input::open_tables(&arguments.files, &arguments.reading)?;
    let mut flame = Flame::new(options(arguments));
    let mut filter = Filter::default();
    if let Some(range) = arguments.range {
        filter.from_ns = range.from_ns.unwrap_or(filter.from_ns);
        filter.to_ns = range.to_ns.unwrap_or(filter.to_ns);
    }
    traces.pour(&filter, &mut flame)?;
    let tree = flame.finish();
    if tree.is_empty() {
        return Err(Error::usage("there are no stacks in it: neither spans nor allocations"));
    }
    let inputs: Vec<_> = arguments.files.iter().map(AsRef::as_ref).collect();
    output::write_file(&arguments.output, &inputs, |out| match arguments.format {
        FlameFormat::Folded => write_folded(&tree, out),
        FlameFormat::Svg => write_svg(&tree, arguments, out),
    })?;
    Ok(Outcome::Fine)
}

fn options(arguments: &Arguments) -> Options {
    let weight = match arguments.by {
        FlameWeight::Bytes => Weight::Bytes,
        FlameWeight::Count => Weight::Count,
        FlameWeight::SelfTime => Weight::SelfTime,
        FlameWeight::Time => Weight::Time,
    };
    Options { weight, is_reversed: arguments.reversed, by_thread: arguments.by_thread }
}

/// Lines of `outer;inner weight`. A name cannot hold what separates names, nor a line break.
fn folded(tree: &Tree) -> impl Iterator<Item = String> {
    let stacks = tree.stacks();
    let lines = stacks.into_iter().map(|stack| {
        let frames: Vec<String> = stack.frames.iter().map(|frame| frame.replace([';', '\n', '\r'], "?")).collect();
        format!("{} {}", frames.join(";"), stack.own)
    });
    lines.collect::<Vec<_>>().into_iter()
}

fn write_folded(tree: &Tree, out: &mut dyn Write) -> Result<()> {
    folded(tree).try_for_each(|line| Ok(writeln!(out, "{line}")?))
}

fn write_svg(tree: &Tree, arguments: &Arguments, out: &mut dyn Write) -> Result<()> {
    let (title, unit) = match arguments.by {
        FlameWeight::Bytes => ("Bytes allocated", "bytes"),
        FlameWeight::Count => ("Calls", "calls"),
        FlameWeight::SelfTime | FlameWeight::Time => ("Time", "ns"),
    };
    let mut options = inferno::flamegraph::Options::default();
    options.title = title.to_owned();
    options.count_name = unit.to_owned();
    options.direction = match arguments.icicle {
        true => inferno::flamegraph::Direction::Inverted,
        false => inferno::flamegraph::Direction::Straight,
    };
    // The same name has the same colour in every picture.
    options.hash = true;
    let lines: Vec<String> = folded(tree).collect();
    inferno::flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
        .map_err(|error| Error::from(std::io::Error::other(error)))
}
