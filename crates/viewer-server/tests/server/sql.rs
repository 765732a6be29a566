//! SQL, compared with a separate session.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use traceloom_query::{Cells, Options, Session};

use crate::support::{Response, Server, fixture};

fn ask(server: &Server, sql: &str) -> Response {
    server.post("sql", json!({ "sql": sql }).to_string().as_bytes())
}

/// The rows as the command line shows them, where NULL is an empty text.
fn expected(path: &Path, sql: &str) -> Vec<Vec<String>> {
    let session = Session::open(&[path.to_owned()], &Options::default()).expect("it opens");
    let mut answer = session.ask(sql).unwrap_or_else(|failure| panic!("{sql}\n{failure}"));
    let cells = Cells::new(answer.schema());
    let mut rows = Vec::new();
    while let Some(batch) = answer.next().expect("it answers") {
        rows.extend(cells.rows(&batch).expect("cells have texts"));
    }
    rows
}

#[test]
fn every_example_gives_the_rows_of_the_command_line() {
    for format in ["easyprofiler", "cnanolog", "memlyze", "nytprof", "wtf"] {
        let (sample, server) = Server::of_sample(format);
        let schema = server.get("sql/schema").json();
        let examples = schema["examples"].as_array().expect("examples");
        assert!(examples.len() >= 4, "{format}");
        for example in examples {
            let sql = example[1].as_str().expect("a question");
            let answer = ask(&server, sql);
            assert_eq!(answer.status, 200, "{format}: {sql}: {}", String::from_utf8_lossy(&answer.body));
            let answer = answer.json();
            let shown = |cell: &Value| cell.as_str().unwrap_or_default().to_owned();
            let rows = answer["rows"].as_array().expect("rows").iter();
            let mut rows: Vec<Vec<String>> =
                rows.map(|row| row.as_array().expect("cells").iter().map(shown).collect()).collect();
            let mut known = expected(&sample.path, sql);
            // Rows of equal rank come in any order.
            rows.sort();
            known.sort();
            assert_eq!(rows.len(), known.len(), "{format}: {sql}");
            if !sql.contains("limit") {
                assert_eq!(rows, known, "{format}: {sql}");
            }
        }
    }
}

#[test]
fn a_mistake_is_marked_and_a_name_is_suggested() {
    let server = Server::of(&[fixture("easyprofiler", "v210_one_block.prof")]);
    let answer = ask(&server, "select nme\nfrom spans");
    let problem = &answer.json()["problem"];
    assert_eq!(problem["message"], "no column 'nme'");
    assert_eq!((&problem["place"], &problem["help"]), (&json!([1, 8, 11]), &json!(["did you mean `name`?"])));
}

#[test]
fn only_questions_are_answered() {
    let server = Server::of(&[fixture("easyprofiler", "v210_one_block.prof")]);
    for sql in [
        "drop table spans",
        "create table a as select 1",
        "create external table p stored as csv location '/etc/passwd'",
        "copy spans to '/tmp/x.csv'",
        "insert into spans select * from spans",
        "set a = 1",
        "select * from '/etc/passwd'",
        "select",
        "'",
        "select 1; select 2",
    ] {
        let answer = ask(&server, sql);
        let message = answer.json()["problem"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(message.len() > 10, "{sql}: {}", String::from_utf8_lossy(&answer.body));
    }
    let long = format!("select '{}'", "x".repeat(64 << 10));
    for sql in ["", " ", &long] {
        let answer = ask(&server, sql);
        assert!(answer.status == 400 && answer.error().len() > 10, "{}: {}", answer.status, answer.error());
    }
    for body in ["", "select 1", "{}", "{\"sql\": 1}", "[1, 2]"] {
        let answer = server.post("sql", body.as_bytes());
        assert!(answer.status == 400 && answer.error().len() > 10, "{body}: {}", answer.status);
    }
    assert_eq!(server.post("sql", &[b'x'; 3 << 20]).status, 413);
    assert_eq!(ask(&Server::of(&[]), "select 1").status, 404);
}

#[test]
fn rows_are_bounded_and_the_answer_says_so() {
    let server = Server::of(&[fixture("easyprofiler", "v210_one_block.prof")]);
    let many = ask(&server, "select value from generate_series(1, 25000)").json();
    assert_eq!((many["rows"].as_array().map(Vec::len), &many["is_cut"]), (Some(10_000), &json!(true)));
    let exact = ask(&server, "select value from generate_series(1, 10000)").json();
    assert_eq!((exact["rows"].as_array().map(Vec::len), &exact["is_cut"]), (Some(10_000), &json!(false)));
    let wide = ask(&server, "select repeat('x', 100000) as text from generate_series(1, 1000)");
    assert!(wide.body.len() < 24 << 20, "{} bytes", wide.body.len());
    assert_eq!(wide.json()["is_cut"], true);
    assert_eq!(ask(&server, "select null as a, '' as b").json()["rows"], json!([[null, ""]]));
}

/// Takes the engine hours.
const ENDLESS: &str =
    "select count(*) from generate_series(1, 3000000) a, generate_series(1, 3000000) b where a.value * b.value % 7 = 3";

#[test]
fn the_next_question_ends_the_one_before() {
    let server = Server::of(&[fixture("easyprofiler", "v210_one_block.prof")]);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| ask(&server, ENDLESS));
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(ask(&server, "select 1 as one").json()["rows"], json!([["1"]]));
        assert_eq!(first.join().expect("it ends").json()["is_stopped"], true);
    });
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn times_are_those_of_the_axis() {
    let path = fixture("easyprofiler", "v210_one_block.prof");
    let server = Server::of_one(&path);
    let first = |server: &Server| {
        ask(server, "select min(ts_ns) as ts_ns from spans").json()["rows"][0][0]
            .as_str()
            .expect("a time")
            .parse::<i64>()
            .expect("a number")
    };
    let before = first(&server);
    server.post("offset?trace=0&offset_ns=12345", &[]);
    assert_eq!(first(&server), before + 12_345);
}
