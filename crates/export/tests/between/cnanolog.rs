//! Conversion to CNanoLog's format.

use std::collections::BTreeMap;

use crate::{
    Converted, assert_equal, convert, loses,
    picture::{Log, Picture, Point},
    traces,
};

/// The parts of a log entry that the format holds.
fn held(log: &Log) -> Log {
    let mut log = log.clone();
    log.thread = None;
    // A site always has a file and a line, even if they are empty.
    log.source = log.source.filter(|(file, line)| !file.is_empty() || line.is_some_and(|line| line != 0));
    log
}

fn shown(thread: &Option<String>, name: &str) -> String {
    thread.as_ref().map_or_else(|| name.to_owned(), |thread| format!("[{thread}] {name}"))
}

/// The entries that are not log entries of the trace: time, level, start of the message.
fn made(from: &Picture, with_args: bool) -> Vec<(i64, &'static str, String)> {
    let mut made = Vec::new();
    for span in &from.spans {
        let thread = Some(span.thread.clone());
        let mut begin = shown(&thread, &span.name);
        for (key, value) in span.args.iter().filter(|_| with_args) {
            begin += &format!(" {key}={}", value[0]);
        }
        made.push((span.ts_ns, "BEGIN", begin));
        if let Some(end_ns) = span.end_ns {
            let took = format!("{} took {} ns", shown(&thread, &span.name), end_ns - span.ts_ns);
            made.push((end_ns, "END", took));
        }
    }
    let mut push = |point: &Point, level| made.push((point.ts_ns, level, shown(&point.thread, &point.name)));
    for event in &from.events {
        let is_mark = matches!(&*event.category, "bookmark" | "mark" | "marker");
        push(event, if is_mark { "MARK" } else { "EVENT" });
    }
    from.counters.iter().for_each(|counter| push(counter, "VALUE"));
    made.sort_unstable();
    made
}

const MADE: [&str; 5] = ["BEGIN", "END", "EVENT", "MARK", "VALUE"];

pub(crate) fn assert_same(from: &Picture, to: &Converted, is_log: bool, what: &str) {
    let keeps_formats = !loses(&to.loss, "formats and arguments that do not produce the message");
    let own = |picture: &Picture| -> Vec<Log> {
        let own = picture.logs.iter().filter(|log| !MADE.contains(&&*log.level)).map(held);
        let mut own: Vec<Log> = own.collect();
        for log in &mut own {
            // An entry without a format is all text; if a format could not be used, neither is compared.
            if log.format.as_deref().is_none_or(|format| format == "%s") || !keeps_formats {
                (log.format, log.args) = (None, BTreeMap::new());
            }
            if loses(&to.loss, "names of levels") && log.level.starts_with("LEVEL_") {
                log.level.clear();
            }
        }
        if !is_log {
            own.sort_unstable();
        }
        own
    };
    let (mut found, mut expected) = (own(&to.picture), own(from));
    if to.picture.logs.iter().any(|log| log.ts_ns.is_some()) && from.logs.iter().any(|log| log.ts_ns.is_none()) {
        found.iter_mut().chain(&mut expected).for_each(|log| log.ts_ns = None);
    }
    assert_equal(&found, &expected, what);

    let told = to.picture.logs.iter().filter(|log| MADE.contains(&&*log.level));
    let mut told: Vec<_> = told.map(|log| (log.ts_ns.unwrap(), log.level.as_str(), log.message.clone())).collect();
    told.sort_unstable();
    // Those of the random tables are plain.
    let made = made(from, what == "random");
    assert_eq!(told.len(), made.len(), "{what}");
    for ((ts_ns, level, message), (made_ns, made_level, begin)) in told.iter().zip(&made) {
        assert_eq!((ts_ns, level), (made_ns, made_level), "{what}: {message} {begin}");
    }
    // Rows with equal time and level may be in a different order, because their arguments affect it.
    let is_near = |a: usize, b: usize| (told[a].0, told[a].1) == (told[b].0, told[b].1);
    for (place, (_, _, begin)) in made.iter().enumerate() {
        let near = (0..told.len()).filter(|other| place.abs_diff(*other) < 64 && is_near(place, *other));
        let mut messages = near.map(|other| &told[other].2);
        assert!(messages.any(|message| message.starts_with(begin.as_str())), "{what}: {begin:?}");
    }
}

#[test]
fn traces_of_every_format_keep_entries_and_their_text() {
    let (mut logs, mut others) = (0, 0);
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        let to = convert(&trace, "cnanolog", None, &name);
        assert_same(&from, &to, trace.format() == "cnanolog", &name);
        logs += from.logs.len();
        others += to.picture.logs.len() - from.logs.len();
    }
    assert!(logs > 1_000 && others > 8_000, "{logs} entries and {others} others");
}

#[test]
fn the_layout_of_the_document_holds_the_same() {
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        if from.spans.len() + from.events.len() > 2_000 {
            continue;
        }
        let to = convert(&trace, "cnanolog", Some("document"), &name);
        // Levels have no names in this dialect.
        let messages = |picture: &Picture| picture.logs.iter().map(|log| log.message.clone()).collect::<Vec<_>>();
        if trace.format() == "cnanolog" {
            assert_equal(&messages(&to.picture), &messages(&from), &name);
        }
        assert_eq!(to.picture.logs.len(), from.logs.len() + made(&from, false).len(), "{name}");
    }
}
