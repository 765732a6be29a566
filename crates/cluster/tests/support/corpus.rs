//! The traces that the embedded engine and the cluster are asked about.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use traceloom_query::{Options, Session};
use traceloom_testkit::{files, fixtures};

use super::answer;

const FORMATS: [&str; 5] = ["cnanolog", "easyprofiler", "memlyze", "nytprof", "wtf"];
const TRACES: usize = 240;
const MAX_PER_FORMAT: usize = 50;
const TOUCH: &str =
    "select (select count(*) from spans) a, (select count(*) from events) b, (select count(*) from findings) c";
const DAMAGED: &str = "select distinct trace_id from findings where severity = 'error'";

/// The bucket, which is a folder of the root of the object store.
pub const BUCKET: &str = "traces";

/// 240 traces of all formats, damaged ones among them, in the folder `day` of a bucket.
pub struct Corpus {
    root: TempDir,
}

impl Corpus {
    pub fn new() -> Self {
        let corpus = Self { root: tempfile::tempdir().expect("a folder") };
        fs::create_dir_all(corpus.folder()).expect("the folder is ours");
        for (number, trace) in traces().into_iter().enumerate() {
            let name = trace.file_name().expect("a file").to_string_lossy().into_owned();
            fs::copy(&trace, corpus.folder().join(format!("{number:03}-{name}"))).expect("the folder is ours");
        }
        let damaged = answer(&corpus.session(), DAMAGED).expect("an answer");
        assert!(damaged.len() >= 24, "{} damaged traces", damaged.len());
        corpus
    }

    /// The root of the object store.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn bucket(&self) -> PathBuf {
        self.root.path().join(BUCKET)
    }

    pub fn folder(&self) -> PathBuf {
        self.bucket().join("day")
    }

    /// All traces in the embedded engine.
    pub fn session(&self) -> Session {
        let session = Session::open(&[self.folder()], &Options::default()).expect("a folder of traces");
        assert!(session.skipped().is_empty(), "{:?}", session.skipped());
        session
    }

    /// The lines of an answer with the names of local files instead of URLs.
    pub fn localized(&self, lines: Vec<String>) -> Vec<String> {
        let (url, folder) = (format!("s3://{BUCKET}"), self.bucket().display().to_string());
        let mut lines: Vec<String> = lines.into_iter().map(|line| line.replace(&url, &folder)).collect();
        lines.sort();
        lines
    }
}

/// Files that can be read, about as many of each format, and no trace twice.
fn traces() -> Vec<PathBuf> {
    let (mut found, mut ids) = (Vec::new(), BTreeSet::new());
    for format in FORMATS {
        let mut of_format = files(&fixtures().join(format)).expect("fixtures are there");
        of_format.sort();
        let is_new = |path: &PathBuf| trace_id(path).is_some_and(|id| ids.insert(id));
        found.extend(of_format.into_iter().filter(is_new).take(MAX_PER_FORMAT));
    }
    found.truncate(TRACES);
    assert_eq!(found.len(), TRACES, "there are too few traces");
    found
}

/// None if the file cannot be read as a trace.
fn trace_id(path: &Path) -> Option<Vec<String>> {
    let session = Session::open(&[path.to_owned()], &Options::default()).ok()?;
    answer(&session, TOUCH).ok()?;
    answer(&session, "select trace_id from traces").ok()
}
