//! With the feature `off`, macros record nothing and do not look at their arguments: `cargo test --features off --test off`.

#![cfg(feature = "off")]

mod common;

use common::{Recording, messages};
use traceloom_record::{Recorder, event, info, span, stats, value};

fn never() -> i32 {
    panic!("an argument was evaluated");
}

#[test]
fn nothing_is_recorded_and_no_argument_is_evaluated() {
    let recording = Recording::new();
    let path = recording.path("off.clog");
    let guard = Recorder::new().clog(&path).prof(recording.path("off.prof")).start().unwrap();
    info!("%d", never());
    {
        let _span = span!("span");
        event!("event");
        value!("value", never());
    }
    guard.close().unwrap();
    assert_eq!(messages(&path), Vec::<String>::new());
    assert_eq!((stats().records, stats().dropped), (0, 0));
}
