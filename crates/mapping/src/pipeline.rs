//! Reading a trace while the caller works on what was read: batches go from one thread to another.

use std::{
    panic::resume_unwind,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use arrow_array::RecordBatch;
use traceloom_core::{Findings, Result};
use traceloom_model::{Columns, Flow, Table, TableSink, Wanted};

/// Batches that may wait for the caller: enough that neither side waits for every one.
const WAITING: usize = 4;

/// A walk over a file: fills a sink, and reports the problems of the file when it has seen them all.
pub(crate) type Walk<'w> = dyn Fn(&mut dyn TableSink, &mut dyn FnMut(&Findings)) -> Result<()> + Sync + 'w;

/// What a walk gives, in its order.
enum Step {
    Batch(Table, RecordBatch),
    Findings(Findings),
}

/// Walks on a thread of its own and hands everything to the caller's, in the order of the walk.
///
/// The outcome is that of a walk on the caller's thread: a stop or an error of the sink hides whatever the walk meets later.
pub(crate) fn run(walk: &Walk<'_>, sink: &mut dyn TableSink, tell: &mut dyn FnMut(&Findings)) -> Result<()> {
    let wanted = Wanted::of(sink);
    thread::scope(|scope| {
        let (out, steps) = sync_channel(WAITING);
        let work = move || {
            let mut tell = |findings: &Findings| drop(out.send(Step::Findings(findings.clone())));
            walk(&mut Outlet { wanted, out: &out }, &mut tell)
        };
        let Ok(reader) = thread::Builder::new().name("reader".to_owned()).spawn_scoped(scope, work) else {
            return walk(sink, tell);
        };
        let taken = take(steps, sink, tell);
        let walked = reader.join();
        match taken? {
            Flow::Stop => Ok(()),
            Flow::Continue => walked.unwrap_or_else(|panic| resume_unwind(panic)),
        }
    })
}

/// Takes what comes until the walk ends or the sink has enough; the channel goes with it, which ends the walk.
fn take(steps: Receiver<Step>, sink: &mut dyn TableSink, tell: &mut dyn FnMut(&Findings)) -> Result<Flow> {
    for step in steps {
        match step {
            Step::Batch(table, batch) => {
                if sink.batch(table, batch)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            Step::Findings(findings) => tell(&findings),
        }
    }
    Ok(Flow::Continue)
}

/// The end of the channel that a walk fills.
struct Outlet<'o> {
    wanted: Wanted,
    out: &'o SyncSender<Step>,
}

impl TableSink for Outlet<'_> {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let is_taken = self.out.send(Step::Batch(table, batch)).is_ok();
        Ok(if is_taken { Flow::Continue } else { Flow::Stop })
    }
}
