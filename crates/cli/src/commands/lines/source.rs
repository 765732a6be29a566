//! Source text from a folder, for profiles that contain none.

use std::{
    fs,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use traceloom_analysis::lines::Profile;
use traceloom_core::{Error, Result};

/// Larger files are not source text.
const MAX_BYTES: u64 = 64 << 20;

/// Adds the source text found in a folder to every file without text.
pub(in crate::commands) fn add(profile: &mut Profile, folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        return Err(Error::usage("not a folder").in_file(folder));
    }
    let wanted = profile.files.iter().filter(|(_, file)| file.source.is_empty() && !file.is_eval());
    let wanted: Vec<(i64, String)> = wanted.map(|(id, file)| (*id, file.name.clone())).collect();
    for (id, name) in wanted {
        if let Some(text) = candidates(folder, &name).find_map(|path| read(&path)) {
            profile.add_source(id, &text);
        }
    }
    Ok(())
}

/// Paths to try below the folder: the whole name, then with ever more leading components removed.
///
/// Only normal components are used: a name such as `../../etc/passwd` in a trace must not escape the folder.
fn candidates(folder: &Path, name: &str) -> impl Iterator<Item = PathBuf> {
    let parts: Vec<PathBuf> = Path::new(name)
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.into()),
            _ => None,
        })
        .collect();
    let folder = folder.to_owned();
    (0..parts.len()).map(move |from| folder.join(parts.iter().skip(from).collect::<PathBuf>()))
}

fn read(path: &Path) -> Option<String> {
    let is_source = fs::metadata(path).is_ok_and(|kind| kind.is_file() && kind.len() <= MAX_BYTES);
    let file = is_source.then(|| fs::File::open(path).ok()).flatten()?;
    let mut bytes = Vec::new();
    io::copy(&mut file.take(MAX_BYTES), &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_lead_out_of_the_folder() {
        let paths = |name| candidates(Path::new("src"), name).collect::<Vec<_>>();
        assert_eq!(paths("/a/../b/c.pl"), ["src/a/b/c.pl", "src/b/c.pl", "src/c.pl"].map(PathBuf::from));
        assert_eq!(paths("../../x"), [PathBuf::from("src/x")]);
        assert!(paths("/").is_empty());
    }
}
