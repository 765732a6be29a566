//! Sets the blocks that a program records.

use std::io::Write;

use traceloom::easyprofiler::{
    Record,
    live::Message,
    raw::{BlockType, Status},
};
use traceloom_core::{Error, Options, Records, Result};

use super::connection::Connection;
use crate::{
    Outcome,
    args::live::{Capture, Switch},
    output::{self, visible},
    table::TextTable,
};

/// A block of the program.
struct BlockSetting {
    number: u32,
    name: String,
    place: String,
    block_type: BlockType,
    status: Status,
}

/// Prints the blocks of the program.
pub(super) fn list(connection: &mut Connection) -> Result<Outcome> {
    let mut table = TextTable::new().text("number").text("status").text("type").text("name").text("file");
    for known in blocks(connection)? {
        let (status, kind) = (known.status.to_string(), known.block_type.to_string());
        table.row(vec![known.number.to_string(), status, kind, visible(&known.name), visible(&known.place)]);
    }
    let mut out = output::stdout();
    table.write(&mut out)?;
    Ok(out.flush().map(|()| Outcome::Fine)?)
}

/// Configures the program according to the arguments.
pub(super) fn apply(connection: &mut Connection, arguments: &Capture) -> Result<()> {
    for (switch, message) in [
        (arguments.event_tracing, Message::SetEventTracing as fn(bool) -> Message),
        (arguments.low_priority, Message::SetLowPriority),
    ] {
        if let Some(switch) = switch {
            connection.set(message(switch == Switch::On))?;
        }
    }
    if arguments.statuses.is_empty() {
        return Ok(());
    }
    if connection.is_profiling() {
        return Err(Error::unsupported(
            "the program is already recording; EasyProfiler cannot change the status of blocks during a recording",
        ));
    }
    let known = blocks(connection)?;
    for wish in &arguments.statuses {
        for (descriptor, status) in matching(wish, &known)? {
            connection.set(Message::SetStatus { descriptor, status })?;
        }
    }
    Ok(())
}

/// The blocks that `NAME=STATUS` or `NUMBER=STATUS` selects; several blocks may share a name.
fn matching(wish: &str, known: &[BlockSetting]) -> Result<Vec<(u32, Status)>> {
    let (block, status) = wish
        .rsplit_once('=')
        .ok_or_else(|| Error::usage(format!("invalid setting `{wish}`; expected something like `Render=off`")))?;
    let status = Status::from_name(status.as_bytes())
        .ok_or_else(|| Error::usage(format!("unknown status `{status}`; `traceloom capture --help` lists them")))?;
    let by_name = known.iter().filter(|known| known.name == block);
    let mut numbers: Vec<u32> = by_name.map(|known| known.number).collect();
    if numbers.is_empty() {
        let number = block.parse().ok();
        numbers.extend(known.iter().map(|known| known.number).filter(|known| Some(*known) == number));
    }
    if numbers.is_empty() {
        return Err(Error::usage(format!("the program has no block `{block}`; `traceloom capture --list` lists them")));
    }
    Ok(numbers.into_iter().map(|number| (number, status)).collect())
}

fn blocks(connection: &mut Connection) -> Result<Vec<BlockSetting>> {
    let mut reader = connection.descriptors()?.open(&Options::default())?;
    let (mut known, mut number) = (Vec::new(), 0);
    while let Some(located) = reader.next()? {
        match located.record {
            Record::Descriptor(descriptor) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let place = format!("{}:{}", text(descriptor.file.text), descriptor.line);
                let (block_type, status) = (descriptor.block_type, descriptor.status);
                known.push(BlockSetting { number, name: text(descriptor.name.text), place, block_type, status });
            }
            Record::Hole => {}
            _ => continue,
        }
        number += 1;
    }
    Ok(known)
}
