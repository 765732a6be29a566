//! With the feature `off`, macros record nothing and do not evaluate their arguments: `cargo test --features off --test
//! off`.

#![cfg(feature = "off")]

mod common;

use common::{Recording, messages};
use traceloom_record::{Recorder, bookmark, event, flow, frame, info, range, span, stats, thread_name, value};

fn never() -> i32 {
    panic!("an argument was evaluated");
}

fn never_text() -> &'static str {
    panic!("a text was evaluated");
}

#[test]
fn nothing_is_recorded_and_no_argument_is_evaluated() {
    let recording = Recording::new();
    let path = recording.path("off.clog");
    let guard = Recorder::new().clog(&path).prof(recording.path("off.prof")).start().unwrap();
    info!("%d", never());
    {
        let _span = span!("span");
        let _with_text = span!("span", text: never_text());
        let _frame = frame!("frame");
        let range = range!("range");
        let _entered = range.enter();
        let flow = flow!("flow");
        flow!(flow, "step");
        flow!(end flow, "end");
        event!("event");
        event!("event", text: never_text());
        value!("value", never());
        bookmark!(never_text());
        thread_name!(never_text());
        assert_eq!(flow, flow!("another flow"), "flows are not numbered");
    }
    guard.close().unwrap();
    assert_eq!(messages(&path), Vec::<String>::new());
    info!("%d", never());
    assert_eq!((stats().records, stats().dropped, stats().late), (0, 0, 0));
}
