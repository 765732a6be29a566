//! Limits of results and of queries.

use rmcp::model::CallToolResult;
use serde_json::{Value as Json, json};

use crate::{
    crafted::{trace_of, wtf_of},
    support::{Bench, text},
};

/// Max bytes of a result, as the guide says.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// The structured result, if neither it nor the text is too long.
fn within_limit(answer: &CallToolResult) -> Json {
    let text = &answer.content[0].as_text().expect("a text").text;
    assert_ne!(answer.is_error, Some(true), "{text}");
    let structured = answer.structured_content.clone().expect("structured");
    let bytes = (text.len(), structured.to_string().len());
    assert!(bytes.0 <= MAX_ANSWER_BYTES && bytes.1 <= MAX_ANSWER_BYTES, "{bytes:?} bytes");
    structured
}

fn cut<'a>(answer: &'a Json, list: &str) -> Option<&'a Json> {
    answer["truncated"].as_array().into_iter().flatten().find(|cut| cut["list"] == list)
}

#[tokio::test]
async fn a_wide_row_stays_below_the_limit() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    // Few columns with long texts, many columns with short texts, and many lists, each with a line in `truncated`.
    let long: Vec<String> = (0..150).map(|n| format!("repeat('\u{1b}{n}', 500) as c{n}")).collect();
    let name = "a_column_with_a_name_that_is_as_long_as_names_can_get";
    let many: Vec<String> = (0..1200).map(|n| format!("{n} as {name}_{n}")).collect();
    let lists: Vec<String> = (0..400).map(|n| format!("[{n}, 2, 3] as {name}_{n}")).collect();
    for columns in [long, many, lists] {
        let query = format!("select {} from spans limit 5", columns.join(", "));
        let answer = bench.call("sql", json!({ "query": query, "traces": [text(&path)], "limit": 1000 })).await;
        let answer = within_limit(&answer);
        assert_eq!(answer["from_trace"]["rows"].as_array().map(Vec::len), Some(1));
        assert_eq!(cut(&answer, "rows"), Some(&json!({ "list": "rows", "shown": 1, "total": 5 })));
        let shown = answer["from_trace"]["rows"][0].as_object().map_or(0, serde_json::Map::len);
        let fields = json!({ "list": "rows (fields)", "shown": shown, "total": columns.len() });
        assert!(shown > 0 && (shown == columns.len() || cut(&answer, "rows (fields)") == Some(&fields)), "{shown}");
    }
}

#[tokio::test]
async fn the_text_of_a_tree_has_the_rows_of_the_result() {
    let bench = Bench::new().await;
    let path = bench.folder.path().join("names.prof");
    let names: Vec<String> = (0..500).map(|number| format!("{number} {}", "name ".repeat(100))).collect();
    let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    std::fs::write(&path, trace_of(&names)).expect("there is room");
    let answer = bench.call("tree", json!({ "trace": text(&path), "limit": 1000, "min_share": 0.0 })).await;
    let structured = within_limit(&answer);
    let rows = structured["from_trace"]["rows"].as_array().expect("a list");
    assert_eq!(cut(&structured, "rows"), Some(&json!({ "list": "rows", "shown": rows.len(), "total": names.len() })));
    let content = &answer.content[0].as_text().expect("a text").text;
    assert_eq!(content.matches("name name").count() / 50, rows.len(), "one line per row");
    assert!(rows.len() > 50, "{}", rows.len());
}

#[tokio::test]
async fn rows_that_the_analysis_leaves_out_are_counted() {
    let bench = Bench::new().await;
    let path = bench.folder.path().join("names.wtf-trace");
    let names: Vec<String> = (0..300).map(|number| format!("name\u{1b}{number}")).collect();
    let names: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    std::fs::write(&path, wtf_of(&names)).expect("there is room");
    let ask = |tool| bench.ask(tool, json!({ "trace": text(&path), "limit": 1000 }));

    // Arguments that are not JSON are findings, of which a hundred are kept.
    let check = ask("check").await;
    let counts = check["from_trace"]["finding_counts"].as_object().expect("counts");
    let total: u64 = counts.values().filter_map(Json::as_u64).sum();
    let shown = check["from_trace"]["findings"].as_array().map_or(0, Vec::len);
    assert!(total >= 300 && shown as u64 <= total - 200, "{shown} of {total}");
    assert_eq!(cut(&check, "findings"), Some(&json!({ "list": "findings", "shown": shown, "total": total })));

    let summary = ask("summary").await;
    assert_eq!(cut(&summary, "names"), Some(&json!({ "list": "names", "shown": 20, "total": 300 })));

    // Each name has less than the minimum share.
    let tree = ask("tree").await;
    assert_eq!(tree["from_trace"]["hidden"], 300);
    assert_eq!(cut(&tree, "rows"), Some(&json!({ "list": "rows", "shown": 0, "total": 300 })));
}

#[tokio::test]
async fn rows_of_a_query_are_kept_up_to_four_mebibytes() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let query = "select [repeat('x', 100000)] as x from spans limit 500";
    let answer = bench.call("sql", json!({ "query": query, "traces": [text(&path)], "limit": 1000 })).await;
    let answer = within_limit(&answer);
    let rows = (4_usize << 20).div_ceil(100_000 + "{\"x\":[\"\"]}\n".len());
    assert_eq!(answer["truncated"], json!([{ "list": "rows", "shown": rows, "total": 500 }]));
}

#[tokio::test]
async fn a_query_that_needs_too_much_memory_is_refused() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let query = "select count(*) from (select array_agg(repeat(cast(3000 * a.id + b.id as varchar), 1000)) as x from spans a, spans b) \
                 where array_length(x) > 1";
    let refused = bench.refusal("sql", json!({ "query": query, "traces": [text(&path)] })).await;
    assert!(refused.contains("exceeds its memory limit of 256 MB"), "{refused}");
}
