//! Compiles programs with the headers and the static library, runs them, and reads their files.
#![allow(dead_code, reason = "no test needs all of it")]

use std::{
    env, fs,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use traceloom_cnanolog::{journal, text};
use traceloom_core::{Options, Records, Source};

pub(crate) const C: &str = "c11";
pub(crate) const CPP: &str = "c++11";

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The static library, which cargo has built for this test.
fn library() -> PathBuf {
    let path = env::current_exe().expect("this program has a path").with_file_name("libtraceloom_record_c.a");
    assert!(path.exists(), "{} is missing: cargo builds it with the tests of this package", path.display());
    path
}

/// A folder with programs and their files.
pub(crate) struct Trial {
    folder: tempfile::TempDir,
}

impl Trial {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("there is room for a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a program of this crate, with warnings as errors.
    pub(crate) fn compile(&self, source: &str, standard: &str, flags: &[&str]) -> PathBuf {
        let program = self.path(&source.replace(['/', '.'], "-"));
        let mut command = compiler(standard);
        command.arg(crate_folder().join(source)).args(flags).arg("-o").arg(&program);
        if !flags.contains(&"-DWITHOUT_LIBRARY") {
            command.arg("-x").arg("none").arg(library());
        }
        command.args(["-lpthread", "-ldl", "-lm"]);
        succeed(&mut command);
        program
    }

    /// Compiles, runs with the names of files in the folder, and expects success.
    pub(crate) fn run(&self, program: &Path, args: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.folder.path());
        succeed(&mut command)
    }
}

/// The compiler for a standard, with our headers.
pub(crate) fn compiler(standard: &str) -> Command {
    let (variable, default, language) = if standard.contains("++") { ("CXX", "c++", "c++") } else { ("CC", "cc", "c") };
    let mut command = Command::new(env::var(variable).unwrap_or_else(|_| default.to_owned()));
    command.arg(format!("-std={standard}")).args(["-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-x", language]);
    command.arg("-I").arg(crate_folder().join("include"));
    command
}

pub(crate) fn succeed(command: &mut Command) -> Output {
    let name = command.get_program().display().to_string();
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{name} cannot be run ({error}): these tests need a C and a C++ compiler, set CC and CXX or install them"
        )
    });
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{told}", output.status);
    output
}

/// Level and message of every entry.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    let mut source = Source::file(File::open(path).expect("the log is there"));
    if let Ok(journal) = File::open(journal::path_of(path)) {
        source = source.with_companion(Source::file(journal));
    }
    let mut reader = traceloom_cnanolog::open(source, &Options::strict()).expect("it is a log");
    let mut printer = text::Lines::new(text::Pattern::library(b"%l %m"), reader.clock(), text::utc);
    let mut out = Vec::new();
    while let Some(located) = reader.next().expect("nothing is wrong with it") {
        if let traceloom_cnanolog::Record::Entry(entry) = located.record {
            printer.put(&entry, &mut out);
        }
    }
    String::from_utf8(out).expect("it is text").lines().map(str::to_owned).collect()
}

/// The threads and records of a profile; checks that rewriting it gives the same bytes.
pub(crate) fn profile(path: &Path) -> Vec<String> {
    use traceloom_easyprofiler::{
        Record,
        raw::{BlockType, DataType},
    };
    let source = Source::file(File::open(path).expect("the profile is there"));
    let mut reader = traceloom_easyprofiler::open(source, &Options::strict()).expect("it is a profile");
    let mut again = traceloom_easyprofiler::create(Vec::new(), reader.header()).expect("its header can be written");
    let mut names: Vec<String> = Vec::new();
    let mut told = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    while let Some(located) = reader.next().expect("nothing is wrong with it") {
        again.write(&located.record).expect("it can be written");
        match &located.record {
            Record::Descriptor(descriptor) => names.push(text(descriptor.name.text)),
            Record::Thread(thread) => told.push(format!("thread {}", text(thread.name.text))),
            Record::Block(block) => {
                let own = text(block.name.text);
                let name = if own.is_empty() { names[block.descriptor as usize].clone() } else { own };
                let kind = if block.block_type == BlockType::EVENT { "event" } else { "block" };
                told.push(format!("{kind} {name}"));
            }
            Record::Value(value) => {
                let elements: Vec<String> = if value.data_type == DataType::STRING {
                    vec![text(value.data).trim_end_matches('\0').to_owned()]
                } else {
                    value.elements().into_iter().flatten().map(|element| format!("{element:?}")).collect()
                };
                told.push(format!("value {} {}", names[value.descriptor as usize], elements.join(",")));
            }
            _ => {}
        }
    }
    let again = again.finish().expect("it can be written");
    assert!(again == fs::read(path).expect("the profile is there"), "it is not written again as it was");
    told
}
