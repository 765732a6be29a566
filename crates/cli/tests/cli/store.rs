//! `convert --to parquet`: stores.

#[cfg(feature = "sql")]
use crate::fixture_of;
use crate::{Folder, fixture, stderr, traceloom};

#[cfg(feature = "sql")]
#[test]
fn convert_makes_a_store_and_adds_to_it() {
    let folder = Folder::new();
    let (store, prof) = (folder.path("runs"), fixture("v210_values.prof"));
    let clog = fixture_of("cnanolog", "head_server.clog");
    let first = traceloom(&["convert", &prof, &store, "--to", "parquet"]);
    assert!(first.status.success() && stderr(&first).contains("added: 1 trace, "), "{}", stderr(&first));
    assert!(folder.names_in("runs").contains(&"manifest.json".to_owned()));
    // The output is recognized as a store.
    let second = traceloom(&["convert", &prof, &clog, &store]);
    assert!(second.status.success(), "{}", stderr(&second));
    let told = stderr(&second);
    assert!(
        told.contains(&format!("skipped: {prof} is already in the store")) && told.contains("added: 1 trace, "),
        "{told}"
    );
    let third = traceloom(&["convert", &prof, &clog, &store]);
    assert!(third.status.success() && stderr(&third).contains("added: nothing"), "{}", stderr(&third));
    assert_eq!(folder.names(), ["runs"]);
}

#[cfg(feature = "sql")]
#[test]
fn a_store_is_exported_like_its_traces() {
    let folder = Folder::new();
    let (store, clog) = (folder.path("runs"), fixture_of("cnanolog", "head_server.clog"));
    assert!(traceloom(&["convert", &clog, &store, "--to", "parquet"]).status.success());
    let (of_store, of_trace) = (folder.path("store.json"), folder.path("trace.json"));
    for (input, output) in [(&store, &of_store), (&clog, &of_trace)] {
        let outcome = traceloom(&["convert", "--to", "chrome", input, output]);
        assert!(outcome.status.success(), "{}", stderr(&outcome));
    }
    let read = |path: &str| std::fs::read_to_string(path).expect("the file is there");
    assert!(read(&of_store).len() > 1000);
    assert_eq!(read(&of_store), read(&of_trace));
}

#[cfg(feature = "sql")]
#[test]
fn a_store_takes_whole_traces_only() {
    let folder = Folder::new();
    let (store, prof) = (folder.path("runs"), fixture("v210_values.prof"));
    for wrong in [&["--range", "0s..1s"][..], &["--canonical"], &["--to", "parquet:2"]] {
        let to = if wrong.contains(&"--to") { &[][..] } else { &["--to", "parquet"] };
        let outcome = traceloom(&[&["convert", &prof, &store], wrong, to].concat());
        assert_eq!(outcome.status.code(), Some(2), "{}", stderr(&outcome));
    }
    assert!(folder.names().is_empty());
}

#[cfg(not(feature = "sql"))]
#[test]
fn a_program_without_stores_says_so() {
    let folder = Folder::new();
    let outcome = traceloom(&["convert", &fixture("v210_values.prof"), &folder.path("runs"), "--to", "parquet"]);
    assert_eq!(outcome.status.code(), Some(2));
    assert!(stderr(&outcome).contains("this build has no stores"), "{}", stderr(&outcome));
    assert!(folder.names().is_empty());
}
