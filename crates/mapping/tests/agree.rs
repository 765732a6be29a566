//! `check`, `info` and the table of findings report the same problems with the same severities.

use std::{collections::BTreeMap, path::Path, sync::Mutex};

use traceloom_core::{Findings, Options as Reading, Source};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Table, Wanted, findings::View};
use traceloom_open::by_id;
use traceloom_testkit::each_case;

/// Number of findings by code and severity.
type Counts = BTreeMap<(String, String), usize>;

fn counted(found: impl Iterator<Item = (String, String)>) -> Counts {
    let mut counts = Counts::new();
    found.for_each(|finding| *counts.entry(finding).or_default() += 1);
    counts
}

fn of_findings(findings: &Findings) -> Counts {
    let named = |code: &str, severity: &str| (code.to_owned(), severity.to_owned());
    counted(findings.kept().iter().map(|finding| named(finding.rule.code, finding.severity.as_str())))
}

/// Without the findings about the tables themselves.
fn of_table(path: &Path, source: Source, format: &str) -> Option<Counts> {
    let trace = Trace::new(path, source, Some(format), &Options::default()).ok()?;
    let mut batches = Batches::of(Wanted::nothing().and(Table::Findings, Columns::ALL));
    ingest(&trace, &Options::default(), &mut batches).ok()?;
    let mut rows = Vec::new();
    for batch in batches.table(Table::Findings) {
        let view = View::of(batch).expect("the columns are there");
        rows.extend((0..view.rows).map(|row| (view.code.get(row).to_owned(), view.severity.get(row).to_owned())));
    }
    Some(counted(rows.into_iter().filter(|(code, _)| !code.starts_with("tables."))))
}

#[test]
fn problems_are_the_same_wherever_they_are_shown() {
    let wrong = Mutex::new(Vec::new());
    each_case(|subject, case, bytes| {
        let (source, reading) = (Source::bytes(bytes), Reading::default());
        let format = by_id(subject.format().id).expect("the format is built");
        let Ok(checked) = format.check(&source, &reading).map(|found| of_findings(&found)) else { return };
        let info = format.info(&source, &reading).map(|(_, found)| of_findings(&found));
        let table = of_table(Path::new("case"), source, subject.format().id);
        if info.as_ref().ok() != Some(&checked) || table.as_ref() != Some(&checked) {
            wrong.lock().unwrap().push(format!("{}: {checked:?}\n  info {info:?}\n  table {table:?}", case.name));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
