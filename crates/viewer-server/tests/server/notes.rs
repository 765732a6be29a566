use std::fs;

use serde_json::{Value, json};

use crate::support::Server;

fn notes(server: &Server) -> Value {
    server.get("notes").json()["traces"].clone()
}

#[test]
fn notes_are_next_to_the_file_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("game.prof");
    fs::copy(traceloom_testkit::fixture("easyprofiler/v210_values.prof"), &file).unwrap();
    let server = Server::of_one(&file);
    server.wait();
    assert_eq!(notes(&server), json!([{"trace": 0, "notes": [], "error": null}]));

    let note = json!({"ts_ns": 5, "dur_ns": null, "name": "Frame", "text": "slow \u{202e}here"});
    let put = |trace: u32, notes: Value| {
        server.post("notes", json!({"trace": trace, "notes": notes}).to_string().as_bytes()).status
    };
    assert_eq!(put(0, json!([note])), 200);
    assert_eq!(notes(&server)[0]["notes"][0]["ts_ns"], 5);
    let beside = folder.path().join("game.prof.notes.json");
    let stored: Value = serde_json::from_slice(&fs::read(&beside).unwrap()).unwrap();
    assert_eq!(stored["notes"][0]["name"], "Frame");

    // An uploaded file is not a local file.
    assert_eq!(server.post("open?name=sent.prof", &fs::read(&file).unwrap()).status, 200);
    server.wait();
    assert_eq!(put(1, json!([note])), 404);
    // Contents of other programs are not overwritten.
    fs::write(&beside, "my own list").unwrap();
    assert_eq!(put(0, json!([])), 422);
    assert_eq!(fs::read_to_string(&beside).unwrap(), "my own list");
    assert!(notes(&server)[0]["error"].as_str().is_some_and(|error| error.contains("notes.json")));
}
