//! speedscope: threads as sequences of starts and ends, allocations as stacks with weights.

mod allocations;
mod events;
mod out;

use std::io::Write;

use traceloom_core::Result;
use traceloom_model::Table;

use self::out::Out;
use traceloom_passes::{Frames, HEAP, LAYERS, NamePool, Need, Pass, ROSTER, Target, Writer};

pub(super) static TARGET: Target = Target {
    id: "speedscope",
    name: "speedscope",
    about: "speedscope: a profile for each thread, and allocations by call stack",
    extensions: &["speedscope.json", "speedscope"],
    needs: &[ROSTER, LAYERS, HEAP, &[Need::shown(Table::Files)]],
    is_text: true,
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut output = Output { frames: Frames::new(pass.options.limits.entries), out: Out::new(out) };
    write_head(pass, &mut output.out);
    output.out.json.key("profiles").begin_array();
    events::write(pass, &mut output)?;
    allocations::write(pass, &mut output)?;
    let Output { frames, mut out } = output;
    out.json.end_array();
    // Profiles refer to frames by number; the list of frames is complete only at the end.
    write_frames(&frames, &mut pass.names, &mut out)?;
    out.json.end_object();
    out.finish()
}

/// The profiles, and the frames that they refer to by number.
struct Output<'o> {
    frames: Frames,
    out: Out<'o>,
}

fn write_head(pass: &Pass<'_>, out: &mut Out<'_>) {
    let paths: Vec<&str> = pass.roster.traces.iter().map(|trace| trace.path.as_str()).collect();
    let json = &mut out.json;
    json.begin_object().key("$schema").string("https://www.speedscope.app/file-format-schema.json");
    json.key("exporter").string("traceloom").key("name").string(&paths.join(", "));
}

fn write_frames(frames: &Frames, names: &mut NamePool, out: &mut Out<'_>) -> Result<()> {
    out.json.key("shared").begin_object().key("frames").begin_array();
    for frame in &frames.all {
        out.json.begin_object().key("name");
        let name = names.get(frame.name)?;
        out.json.string(if name.is_empty() { "(no name)" } else { name });
        if let Some(file) = frame.file {
            out.json.key("file").string(names.get(file)?);
        }
        if let Some(line) = frame.line {
            out.json.key("line").unsigned(line.into());
        }
        out.json.end_object();
        out.flush_when_full()?;
    }
    out.json.end_array().end_object();
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use traceloom_model::{frames::Frame as FrameRow, stacks::Stack as StackRow, trackers::Extent};

    use super::*;
    use crate::targets::written_json;
    use traceloom_passes::fixture::{Synthetic, allocation, push_main, push_span, push_thread};

    #[test]
    fn spans_become_begins_and_ends_that_match() {
        let trace = Synthetic::spans(&[
            ("b", 1, 1, Some(0), 10, Some(5)),
            ("a\"</script>", 0, 0, None, 0, Some(100)),
            ("c", 2, 1, Some(0), 90, Some(20)),
        ]);
        let (json, loss) = written_json(&TARGET, &trace);
        assert_eq!(json["shared"]["frames"], json!([{"name": "a\"</script>"}, {"name": "b"}, {"name": "c"}]));
        let event = |kind: &str, frame: u32, at: u32| json!({"type": kind, "frame": frame, "at": at});
        let [first, beside] = [0, 1].map(|number| &json["profiles"][number]);
        assert_eq!((&first["type"], &first["unit"]), (&json!("evented"), &json!("nanoseconds")));
        assert_eq!((&first["startValue"], &first["endValue"]), (&json!(0), &json!(100)));
        assert_eq!(first["name"], "main");
        let events = [event("O", 0, 0), event("O", 1, 10), event("C", 1, 15), event("C", 0, 100)];
        assert_eq!(first["events"], json!(events));
        assert_eq!(beside["name"], "main (overlapping or too deep)");
        assert_eq!(beside["events"], json!([event("O", 2, 90), event("C", 2, 110)]));
        assert_eq!(json["profiles"].as_array().unwrap().len(), 2);
        assert!(loss.is_empty(), "{loss:?}");
    }

    #[test]
    fn each_thread_and_layer_is_a_profile_and_open_spans_end_with_the_trace() {
        let trace = Synthetic::new(|tables| {
            push_thread(tables, 1, "worker")?;
            push_span(tables, 0, "scope", ("x", 0, 0, None, 5, None))?;
            push_span(tables, 1, "scope", ("y", 1, 0, None, 7, Some(1)))?;
            push_span(tables, 1, "frame", ("frame", 2, 0, None, 0, Some(9)))?;
            let mut extent = Extent::default();
            [0, 40].into_iter().for_each(|ts_ns| extent.add(ts_ns));
            push_main(tables, extent)
        });
        let (json, loss) = written_json(&TARGET, &trace);
        let profiles = json["profiles"].as_array().unwrap();
        let mut names: Vec<&str> = profiles.iter().map(|profile| profile["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, ["main", "worker", "worker (frames)"]);
        let main = profiles.iter().find(|profile| profile["name"] == "main").unwrap();
        assert_eq!((&main["startValue"], &main["endValue"]), (&json!(5), &json!(40)));
        let lost: Vec<_> = loss.entries().map(|(what, count, _)| (what, count)).collect();
        assert_eq!(lost, [("spans that were never closed, now closed", 1)]);
    }

    #[test]
    fn allocations_become_stacks_with_weights() {
        let trace = Synthetic::new(|tables| {
            for (id, function) in [(0, "main"), (1, "make")] {
                tables.push(FrameRow { id, function: function.into(), file: Some("a.py".into()), line: Some(3) })?;
                tables.push(StackRow { id, parent_id: (id == 1).then_some(0), frame_id: id, depth: id as u32 })?;
            }
            for (id, stack_id, fate) in [(0, Some(1), "live"), (1, Some(1), "freed"), (2, None, "freed")] {
                tables.push(allocation(id, 100 + id as u64, stack_id, fate))?;
            }
            push_main(tables, Extent::default())
        });
        let (json, _) = written_json(&TARGET, &trace);
        let named = |name: &str| {
            json["profiles"].as_array().unwrap().iter().find(|profile| profile["name"] == name).unwrap().clone()
        };
        let bytes = named("allocated bytes");
        assert_eq!((&bytes["type"], &bytes["unit"]), (&json!("sampled"), &json!("bytes")));
        assert_eq!((&bytes["samples"], &bytes["weights"]), (&json!([[0, 1], [2]]), &json!([201, 102])));
        assert_eq!((&bytes["startValue"], &bytes["endValue"]), (&json!(0), &json!(303)));
        assert_eq!(named("allocations")["weights"], json!([2, 1]));
        assert_eq!(named("live bytes")["weights"], json!([100]));
        assert_eq!(json["shared"]["frames"][1], json!({"name": "make", "file": "a.py", "line": 3}));
    }
}
