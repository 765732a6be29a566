//! Memory, compared with the analysis of memory.

use serde_json::{Value, json};
use traceloom_analysis::memory::{Extract, Options as MemoryOptions, Report, memory};
use traceloom_mapping::{Options, open};
use traceloom_model::Filter;

use crate::support::{Server, fixture, sample};

fn report(path: &std::path::Path, at_ns: Option<i64>) -> Report {
    let trace = open(path, None, &Options::default()).expect("it opens");
    let options = MemoryOptions { at_ns, points: 64, ..MemoryOptions::default() };
    memory(&trace, &Filter::default(), &options).expect("it can be read")
}

fn check(answer: &Value, report: &Report, offset_ns: i64) {
    // Everything but the lists of sites comes from the analysis.
    let whole = report.extract(&Extract { offset_ns, ..Extract::whole(report) });
    let Ok(Value::Object(written)) = serde_json::to_value(whole) else { panic!("a report is an object") };
    for (key, value) in written.iter().filter(|(key, _)| !["sites", "peak", "at"].contains(&key.as_str())) {
        assert_eq!(&answer[key], value, "{key}");
    }
    assert_eq!(
        (&answer["peak"]["bytes"], &answer["peak"]["ts_ns"]),
        (&json!(report.peak.bytes), &json!(report.peak.ts_ns + offset_ns))
    );
    let curve: Vec<Value> =
        report.curve.iter().map(|point| json!([point.ts_ns + offset_ns, point.used_bytes, point.max_bytes])).collect();
    assert_eq!(answer["curve"], json!(curve));
    assert_eq!(answer["is_growth_only"], report.is_growth_only);
    assert_eq!(answer["at"]["bytes"], json!(report.at.as_ref().map(|at| at.bytes)));
    let sites = answer["sites"].as_array().expect("sites");
    for (list, moment) in [("peak", Some(&report.peak)), ("at", report.at.as_ref())] {
        let shown = answer[list]["sites"].as_array().map_or(0, Vec::len);
        assert_eq!(shown, moment.map_or(0, |moment| moment.sites.len().min(300)), "{list}");
    }
    for site in sites {
        let known = &report.sites[site["number"].as_u64().expect("a number") as usize];
        assert_eq!(
            (&site["bytes"], &site["count"], &site["live_bytes"]),
            (&json!(known.bytes), &json!(known.count), &json!(known.live_bytes))
        );
        assert_eq!(site["stack"].as_array().map(Vec::len), Some(known.stack.len()));
        assert_eq!(site["quarters"], json!(known.quarters));
        assert!(written["sites"].as_array().is_some_and(|all| all.contains(site)), "as the analysis found it");
    }
    // Every site in a list exists.
    for list in ["leaks", "hot", "often"] {
        for number in answer[list].as_array().expect("a list") {
            assert!(sites.iter().any(|site| site["number"] == *number), "{list} {number}");
        }
    }
}

#[test]
fn the_report_is_that_of_the_analysis() {
    let mut paths: Vec<_> = [
        "memlyze-0.1.0-encoder/api_medium.mlyze",
        "document/spec_reuse.mlyze",
        "memlyze-0.1.0/leak.mlyze",
        "memlyze-0.1.0/gcprog.mlyze",
        "memlyze-0.1.0/threads.mlyze",
        "document/spec_basic.mlyze",
    ]
    .iter()
    .map(|name| fixture("memlyze", name))
    .collect();
    let sample = sample("memlyze");
    paths.push(sample.path.clone());
    for path in paths {
        let server = Server::of_one(&path);
        let whole = report(&path, None);
        check(&server.get("memory?trace=0&points=64").json(), &whole, 0);
        let middle = whole.totals.first_ns + (whole.totals.last_ns - whole.totals.first_ns) / 2;
        check(&server.get(&format!("memory?trace=0&points=64&at={middle}")).json(), &report(&path, Some(middle)), 0);
        // After the trace is moved on the axis, the same is found at the moved time.
        server.post("offset?trace=0&offset_ns=1000000", &[]);
        let moved = middle + 1_000_000;
        check(
            &server.get(&format!("memory?trace=0&points=64&at={moved}")).json(),
            &report(&path, Some(middle)),
            1_000_000,
        );
    }
}

#[test]
fn sites_of_a_function_are_those_with_it_in_their_stack() {
    let trace = sample("memlyze");
    let (server, report) = (Server::of_one(&trace.path), report(&trace.path, None));
    let functions: Vec<&str> =
        report.sites.iter().flat_map(|site| &site.stack).map(|frame| frame.function.as_str()).collect();
    assert!(functions.len() > 5, "stacks are deep");
    for function in functions.into_iter().chain(["no such function"]) {
        let has_it = |site: &usize| report.sites[*site].stack.iter().any(|frame| frame.function == function);
        let expected: Vec<usize> = (0..report.sites.len()).filter(has_it).collect();
        let answer = server.get(&format!("memory?trace=0&function={}", function.replace(' ', "%20"))).json();
        assert_eq!((&answer["of"], &answer["all_of"]), (&json!(expected), &json!(expected.len())), "{function}");
        let listed: Vec<&Value> =
            answer["sites"].as_array().expect("sites").iter().map(|site| &site["number"]).collect();
        assert!(expected.iter().all(|site| listed.contains(&&json!(site))), "{function}");
    }
    assert_eq!(server.get("memory?trace=0").json()["of"], json!([]));
}

#[test]
fn what_has_no_memory_is_refused() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    server.refuses(&[
        "memory",
        "memory?trace=0",
        "memory?trace=7",
        "memory?trace=-1",
        "memory?trace=0&at=x",
        "memory?trace=0&points=-1",
    ]);
    let (_memory, server) = Server::of_sample("memlyze");
    for at in [i64::MIN, i64::MAX] {
        assert_eq!(server.get(&format!("memory?trace=0&at={at}&points=18446744073709551615")).status, 200, "{at}");
    }
}
