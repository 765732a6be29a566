//! Callgrind: functions with their costs, callers and callees.
//!
//! If the profiler itself summed calls, as NYTProf does, these sums are used, because they have the lines of the calls.
//! For all other traces, and if only a range of the trace was requested, spans are summed.

mod graph;
mod lines;
mod sums;

use std::io::Write;

use hashbrown::HashSet;
use traceloom_core::Result;
use traceloom_model::Table;

use self::{
    graph::Graph,
    lines::push_name,
    sums::{CallRows, SubRows},
};
use traceloom_passes::{CallTree, Frames, Need, Pass, ROSTER, SpanRows, SpanSites, Target, Variant, Writer};

pub(super) static TARGET: Target = Target {
    id: "callgrind",
    name: "Callgrind",
    about: "KCachegrind, QCachegrind, callgrind_annotate: functions and calls with their time",
    extensions: &["callgrind", "callgrind.out", "cachegrind"],
    variants: &[
        Variant::new("best", "the profiler's sums of calls if the trace has them, otherwise its spans"),
        Variant::new("calls", "the profiler's sums of calls"),
        Variant::new("spans", "spans, summed"),
    ],
    needs: &[
        ROSTER,
        &[
            Need::of::<SpanRows<'_>>(),
            Need::of::<SpanSites<'_>>(),
            Need::of::<CallRows<'_>>(),
            Need::of::<SubRows<'_>>(),
        ],
        &[Need::shown(Table::Files)],
    ],
    is_text: true,
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut graph = Graph::new(pass.options.limits.entries);
    // Sums cover the whole trace.
    let takes_sums = pass.variant == "calls" || pass.variant == "best" && pass.is_whole();
    let summed = if takes_sums {
        sums::add(pass, &mut graph)?
    } else {
        pass.lose_rows(&[Table::Calls]);
        HashSet::new()
    };
    let has_spans = pass.variant != "calls";
    let frames = Frames::new(pass.options.limits.entries);
    let tree = CallTree::new(pass, frames, |trace| has_spans && !summed.contains(&trace))?;
    graph.add_tree(&tree, pass)?;
    write_head(pass, out)?;
    graph.write(&mut pass.names, &mut pass.loss, out)
}

fn write_head(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut head = b"# callgrind format\nversion: 1\ncreator: traceloom\ncmd: ".to_vec();
    let paths: Vec<&str> = pass.roster.traces.iter().map(|trace| trace.path.as_str()).collect();
    push_name(&mut head, &paths.join(" "), &mut pass.loss);
    head.extend_from_slice(b"\npositions: line\nevent: ns : nanoseconds\nevents: ns\n");
    Ok(out.write_all(&head)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceloom_core::Loss;
    use traceloom_model::{calls::Call, definitions::Definition, trackers::Extent};
    use traceloom_passes::fixture::{Synthetic, push_main, written};

    fn body(trace: &Synthetic) -> (String, Loss) {
        let (text, loss) = written(&TARGET, trace);
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("events: ns\n").unwrap();
        assert!(head.starts_with("# callgrind format\nversion: 1\n") && head.contains("cmd: game.prof\n"), "{head}");
        (body.to_owned(), loss)
    }

    #[test]
    fn spans_become_calls_and_recursion_counts_once() {
        let trace = Synthetic::spans(&[
            ("b", 1, 1, Some(0), 10, Some(5)),
            ("a", 2, 1, Some(0), 20, Some(30)),
            ("a", 0, 0, None, 0, Some(100)),
            ("(3) x\ny", 3, 0, None, 200, Some(1)),
        ]);
        let (text, loss) = body(&trace);
        let functions: Vec<&str> = text.trim().split("\n\n").collect();
        assert_eq!(
            functions,
            [
                "fl=(1) ???\nfn=(1) a\n0 95\ncfi=(1)\ncfn=(1)\ncalls=1 0\n0 0\ncfi=(1)\ncfn=(2) b\ncalls=1 0\n0 5",
                "fl=(1)\nfn=(2)\n0 5",
                "fl=(1)\nfn=(3) (3) x y\n0 1",
                "fl=(6) (threads)\nfn=(4) main\ncfi=(1)\ncfn=(1)\ncalls=1 0\n0 100\ncfi=(1)\ncfn=(3)\ncalls=1 0\n0 1",
                "totals: 101",
            ],
            "{text}"
        );
        assert!(
            loss.entries().any(|(what, count, _)| what == "line breaks and control characters in names" && count == 1)
        );
    }

    #[test]
    fn sums_of_calls_are_taken_where_there_are_some() {
        let trace = Synthetic::new(|tables| {
            tables.push(Definition {
                kind: "sub".into(),
                name: "main::f".into(),
                file: Some("a.pl".into()),
                line: Some(3),
                ..Definition::default()
            })?;
            let call = |id, caller: Option<&'static str>, line, count, incl_ns, excl_ns| Call {
                id,
                caller: caller.map(Into::into),
                callee: "main::f".into(),
                file: Some("a.pl".into()),
                line: Some(line),
                count,
                incl_ns,
                excl_ns,
                ..Call::default()
            };
            tables.push(call(0, Some("main::RUNTIME"), 9, 2, 50, 40))?;
            tables.push(call(1, Some("main::f"), 4, 1, 0, 10))?;
            traceloom_passes::fixture::push_span(tables, 0, "call", ("main::f", 0, 0, None, 0, Some(1)))?;
            push_main(tables, Extent::default())
        });
        let (text, _) = body(&trace);
        assert!(text.contains("main::f\n3 50\ncfi=(4)\ncfn=(1)\ncalls=1 3\n4 0\n"), "{text}");
        assert!(text.contains("main::RUNTIME\ncfi=(4)\ncfn=(1)\ncalls=2 3\n9 50\n"), "{text}");
        assert!(!text.contains("(threads)"), "a thread of which nothing is shown is not shown: {text}");
        assert!(text.ends_with("totals: 50\n"), "{text}");
    }
}
