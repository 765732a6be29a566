//! `link`: an address in the viewer.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;
use traceloom_core::{Error, Result};

use super::{Answer, Call, Kind};

pub(super) static TOOLS: &[Kind] = &[Kind::new::<Link>(
    "link",
    "The address of a trace in the viewer on this machine, at a time range, for the user to open. Starts the viewer if it is \
     not running. The address contains a secret: show it only to the user.",
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
    let paths = vec![call.trace(arguments.trace.as_deref())?.path().to_owned()];
    let place = match (arguments.from_ns, arguments.to_ns) {
        (Some(from), Some(to)) if from < to => {
            let place = json!({ "from": from, "to": to, "range": [from, to], "name": arguments.name });
            format!("#{}", escaped(&place.to_string()))
        }
        (None, None) => String::new(),
        _ => return Err(Error::usage("give both from_ns and to_ns, with from_ns less than to_ns")),
    };
    let mut running = call.state.viewer.lock().map_err(|_| Error::internal("the viewer failed"))?;
    let viewer = match running.take() {
        Some((shown, viewer)) if shown == paths => viewer,
        _ => traceloom_viewer_server::start(traceloom_viewer_server::Options {
            paths: paths.clone(),
            ..Default::default()
        })?,
    };
    let url = format!("{}{place}", viewer.url());
    *running = Some((paths, viewer));
    Ok(Answer::new(json!({ "url": url }), None))
}

/// Escapes text for the fragment of a URL.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
