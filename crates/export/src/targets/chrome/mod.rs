//! Chrome's JSON: an object with an array of trace events, written as it goes.

mod events;
mod lanes;
mod points;
mod slices;

use std::io::Write;

use traceloom_core::{Loss, Result};

use self::{events::Events, lanes::Lanes};
use traceloom_passes::{Descriptor, Flows, Gathered, Request, TIMELINE_NEEDS, Target, Timeline, memory_in_use};

/// Chrome's JSON.
#[derive(Debug)]
pub(super) struct Chrome;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "chrome",
    name: "Chrome trace events",
    about: "chrome://tracing, Perfetto, Firefox Profiler and many more: JSON, `.json.gz` for less of it",
    extensions: &["json", "trace.json"],
    needs: TIMELINE_NEEDS,
    is_text: true,
    ..Descriptor::EMPTY
};

impl Target for Chrome {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, .. } = *request;
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let timeline = Timeline::new(&gathered.roster);
        let flows = Flows::new(source, &mut gathered, options, &mut loss)?;
        let mut events = Events::new(out);
        let mut lanes = Lanes::new(&gathered.roster, &mut events, &mut loss)?;
        slices::write(&mut gathered, &timeline, &flows, &mut lanes, &mut events, &mut loss)?;
        points::write(source, &mut gathered, options, &timeline, &mut lanes, &mut events, &mut loss)?;
        memory_in_use(source, &mut gathered, options, &mut loss, |in_use| {
            let place = lanes.process(in_use.trace);
            for (name, value) in [("memory in use", in_use.bytes), ("live allocations", in_use.pieces)] {
                events.begin('C', place, timeline.at(in_use.trace, in_use.ts_ns));
                events.json.key("name").string(name);
                events.json.key("args").begin_object().key("value").int(value).end_object();
                events.end()?;
            }
            Ok(())
        })?;
        events.finish(timeline.unix_origin_ns())?;
        Ok(loss)
    }
}
