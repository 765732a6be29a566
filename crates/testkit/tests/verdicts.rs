//! A check and a strict read never contradict each other: the one finds an error exactly if the other stops.

use std::sync::Mutex;

use traceloom_core::{Options, Severity, Source};
use traceloom_open::by_id;
use traceloom_testkit::{Subject, each_case};

/// The literal examples of a document, which a strict read takes by the document and a check by the tool.
const EXAMPLES: &str = "easyprofiler/document/literal_examples";

#[test]
fn check_and_strict_agree_on_every_fixture_and_on_damaged_copies() {
    let wrong = Mutex::new(Vec::new());
    each_case(|subject, case, bytes| {
        for (what, damaged) in damaged(&bytes).into_iter().filter(|_| !case.name.starts_with(EXAMPLES)) {
            if let Some(contradiction) = contradiction(subject, damaged) {
                wrong.lock().unwrap().push(format!("{} {what}: {contradiction}", case.name));
            }
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

/// A file, its first half, and itself without a byte and with another one.
fn damaged(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let at = bytes.len() * 2 / 3;
    let mut changed = bytes.to_vec();
    changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x55);
    let without = [bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default()].concat();
    let half = bytes.get(..bytes.len() / 2).unwrap_or_default().to_vec();
    vec![("whole", bytes.to_vec()), ("cut in half", half), ("without a byte", without), ("with another byte", changed)]
}

/// What the two say, if they differ; a file that is not of the format is not judged.
fn contradiction(subject: &dyn Subject, bytes: Vec<u8>) -> Option<String> {
    let (source, options) = (Source::bytes(bytes), Options::default());
    let findings = by_id(subject.format().id).ok()?.check(&source, &options).ok()?;
    let errors = findings.kept().iter().filter(|finding| finding.rule.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|finding| finding.rule.code).collect();
    match subject.drain(source, &Options::strict()) {
        Ok(_) => errors.first().map(|error| format!("check finds {error}, strict accepts the file")),
        Err(error) if errors.is_empty() => Some(format!("check finds no error, strict stops: {error}")),
        Err(_) => None,
    }
}
