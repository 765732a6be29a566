//! `link`: an address in the viewer.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;
use traceloom_core::{Error, Result};
use traceloom_viewer_server::{Options, Viewer, start};

use super::{Answer, Call, Kind};
use crate::shelf::Version;

pub(super) static TOOLS: &[Kind] = &[Kind::new::<Link>(
    "link",
    "The address of a trace in the viewer on this machine, at a time range, for the user to open. Starts the viewer if it is \
     not running; the addresses of the last four traces stay valid. The address contains a secret: show it only to the user.",
    "url:str",
    link,
)];

/// Which address.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Link {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// The start of the range to show, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// The end of the range to show, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// A name to highlight.
    name: Option<String>,
}

fn link(call: &Call<'_>) -> Result<Answer> {
    let arguments: Link = call.arguments()?;
    let shown = call.state.shelf.find(arguments.trace.as_deref(), &call.job)?.version;
    let place = match (arguments.from_ns, arguments.to_ns) {
        (Some(from), Some(to)) if from < to => {
            let place = json!({ "from": from, "to": to, "range": [from, to], "name": arguments.name });
            format!("#{}", escaped(&place.to_string()))
        }
        (None, None) => String::new(),
        _ => return Err(Error::usage("give both from_ns and to_ns, with from_ns less than to_ns")),
    };
    let url = format!("{}{place}", call.state.viewers.url(shown)?);
    Ok(Answer::new(json!({ "url": url }), None))
}

/// Max number of running viewers, each of which keeps its trace in memory; the least recently used one is stopped first.
const MAX_VIEWERS: usize = 4;

/// The running viewers by the version of the file that they show, the most recently used first.
#[derive(Debug, Default)]
pub(super) struct Viewers(Mutex<VecDeque<(Version, Viewer)>>);

impl Viewers {
    /// The address of the viewer of a file, which is started if it does not run or shows an older version.
    fn url(&self, wanted: Version) -> Result<String> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = running.iter().position(|(shown, _)| shown.path == wanted.path).and_then(|at| running.remove(at));
        let viewer = match known {
            Some((shown, viewer)) if shown == wanted => viewer,
            _ => start(Options { paths: vec![wanted.path.clone()], ..Options::default() })?,
        };
        let url = viewer.url().to_owned();
        running.push_front((wanted, viewer));
        running.truncate(MAX_VIEWERS);
        Ok(url)
    }
}

/// Escapes text for the fragment of a URL.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
