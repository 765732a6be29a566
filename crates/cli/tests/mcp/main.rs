//! `traceloom mcp`, driven by third-party clients.

#![cfg(feature = "mcp")]

mod http;
mod inspector;
mod sdk;

use std::{fs, path::Path};

use traceloom::Trace;

/// The samples of all formats.
pub(crate) fn samples(folder: &Path) -> Vec<String> {
    let write = |format: &str| {
        let sample = Trace::sample(format).expect("a sample");
        let path = folder.join(sample.path());
        sample.rewrite(&mut fs::File::create(&path).expect("there is room")).expect("a sample can be written");
        path.to_str().expect("a name").to_owned()
    };
    traceloom::formats().map(|format| write(format.id)).collect()
}
