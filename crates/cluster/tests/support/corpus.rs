//! The traces that the embedded engine and the cluster query.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use tempfile::TempDir;
use traceloom_mapping::FORMATS;
use traceloom_query::{Options, Session};
use traceloom_testkit::{files, fixtures};

use super::answer;

const COUNT: usize = 240;
const TOUCH: &str =
    "select (select count(*) from spans) a, (select count(*) from events) b, (select count(*) from findings) c";
const DAMAGED: &str = "select distinct trace_id from findings where severity = 'error'";

/// The bucket, which is a folder of the root of the object store.
pub const BUCKET: &str = "traces";

/// 240 traces of all formats, some of them damaged, in the folder `day` of a bucket.
pub struct Corpus {
    root: TempDir,
}

impl Corpus {
    pub fn new() -> Self {
        let corpus = Self { root: tempfile::tempdir().expect("a folder") };
        fs::create_dir_all(corpus.folder()).expect("the folder is ours");
        for (number, trace) in TRACES.iter().enumerate() {
            let name = trace.file_name().expect("a file").to_string_lossy().into_owned();
            fs::copy(trace, corpus.folder().join(format!("{number:03}-{name}"))).expect("the folder is ours");
        }
        let damaged = answer(&corpus.session(), DAMAGED).expect("an answer");
        assert!(damaged.len() >= 24, "{} damaged traces", damaged.len());
        let formats = answer(&corpus.session(), "select distinct format from traces").expect("an answer");
        let mut expected: Vec<String> =
            FORMATS.iter().map(|mapping| format!("{{\"format\":\"{}\"}}", mapping.format.id)).collect();
        expected.sort();
        assert_eq!(formats, expected);
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

    /// The lines of a result with the names of local files instead of URLs.
    pub fn localized(&self, lines: Vec<String>) -> Vec<String> {
        let (url, folder) = (format!("s3://{BUCKET}"), self.bucket().display().to_string());
        let mut lines: Vec<String> = lines.into_iter().map(|line| line.replace(&url, &folder)).collect();
        lines.sort();
        lines
    }
}

/// Shared by all tests of a process, because finding them takes seconds.
static TRACES: LazyLock<Vec<PathBuf>> = LazyLock::new(traces);

/// Files that can be read, in turn from each folder of a format and a tool, and no trace twice.
fn traces() -> Vec<PathBuf> {
    let mut folders: BTreeMap<PathBuf, VecDeque<PathBuf>> = BTreeMap::new();
    for path in files(&fixtures()).expect("fixtures are there") {
        let inside = path.strip_prefix(fixtures()).expect("a fixture").to_owned();
        // Files directly in the folder of a format are about the others.
        if inside.components().count() > 2 {
            folders.entry(inside.components().take(2).collect()).or_default().push_back(path);
        }
    }
    folders.values_mut().for_each(spread);
    let (mut found, mut ids) = (Vec::new(), BTreeSet::new());
    while found.len() < COUNT && folders.values().any(|left| !left.is_empty()) {
        for left in folders.values_mut() {
            let mut next = std::iter::from_fn(|| left.pop_front());
            found.extend(next.find(|path| trace_id(path).is_some_and(|id| ids.insert(id))));
        }
    }
    found.truncate(COUNT);
    assert_eq!(found.len(), COUNT, "there are too few traces");
    found
}

/// Sorts files so that the first ones cover the whole folder, because similar files have similar names.
fn spread(files: &mut VecDeque<PathBuf>) {
    // A prime that is larger than any folder, so that each file occurs once.
    const STEP: usize = 7919;
    files.make_contiguous().sort();
    *files = (0..files.len()).map(|number| files[number * STEP % files.len()].clone()).collect();
}

/// None if the file cannot be read as a trace.
fn trace_id(path: &Path) -> Option<Vec<String>> {
    let session = Session::open(&[path.to_owned()], &Options::default()).ok()?;
    answer(&session, TOUCH).ok()?;
    answer(&session, "select trace_id from traces").ok()
}
