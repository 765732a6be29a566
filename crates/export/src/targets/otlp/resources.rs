//! Processes as resources, with the attributes of the file.

use hashbrown::HashMap;
use traceloom_core::Result;

use super::{
    attributes::{key_or_some, put_number, put_text},
    fields::resources::RESOURCE_ATTRIBUTES as FIELD,
};
use crate::wire::Wire;
use traceloom_passes::{Attribute, NumberedProcess, Numbering, Pass};

/// Maximum size of the attributes of a file, because every message repeats them.
const MAX_BYTES: usize = 32 << 10;

/// The resource of each process.
pub(super) fn resources(pass: &mut Pass<'_>, numbering: &Numbering) -> Result<Vec<Wire>> {
    let of_files = of_files(pass)?;
    let roster = &pass.roster;
    let resource = |(number, process): (usize, &NumberedProcess)| {
        let (mut wire, trace) = (Wire::default(), &roster.traces[process.trace]);
        put_text(&mut wire, FIELD, "service.name", &process.name);
        if let Some(process) = roster.processes.get(number) {
            for (key, number) in [("process.pid", process.pid), ("process.parent_pid", process.ppid)] {
                number.into_iter().for_each(|number| put_number(&mut wire, FIELD, key, number));
            }
        }
        put_text(&mut wire, FIELD, "trace.path", &trace.path);
        put_text(&mut wire, FIELD, "trace.format", &trace.format);
        put_text(&mut wire, FIELD, "trace.clock", &trace.clock);
        if let Some(producer) = &trace.producer {
            put_text(&mut wire, FIELD, "trace.producer", producer);
        }
        wire.bytes.extend_from_slice(&of_files[process.trace].bytes);
        wire
    };
    Ok(numbering.processes.iter().enumerate().map(resource).collect())
}

/// The encoded attributes of each file.
fn of_files(pass: &mut Pass<'_>) -> Result<Vec<Wire>> {
    let mut files: Vec<(Wire, HashMap<String, u32>)> = Vec::new();
    pass.each_attribute(|pass, Attribute { trace, key, value }| {
        files.resize_with(files.len().max(trace + 1), Default::default);
        let (wire, keys) = &mut files[trace];
        let (key, text) = (key_or_some(key), value.unwrap_or(""));
        if wire.len() + key.len() + text.len() > MAX_BYTES {
            pass.lose_attribute(key);
            return Ok(());
        }
        let count = keys.entry_ref(key).or_default();
        *count += 1;
        match *count {
            1 => put_text(wire, FIELD, key, text),
            count => put_text(wire, FIELD, &format!("{key} ({count})"), text),
        }
        Ok(())
    })?;
    files.resize_with(pass.roster.traces.len(), Default::default);
    Ok(files.into_iter().map(|(wire, _)| wire).collect())
}
