//! The Debian package: the tree of a release under `/usr`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Release, VERSION, archive::mode};
use crate::{
    Outcome,
    files::{self, failed},
    process::run,
};

pub(super) fn make(release: &Release) -> Outcome<PathBuf> {
    let stage = release.folder.join("deb");
    files::remove_folder(&stage)?;
    let usr = stage.join("usr");
    files::copy_folder(&release.tree, &usr)?;
    // Debian's zsh looks for the completions of packages here.
    let zsh = usr.join("share/zsh");
    fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions")).map_err(failed(&zsh))?;
    files::write(&usr.join("share/doc/traceloom/copyright"), COPYRIGHT)?;
    let size = permissions(&stage, &usr)?;
    let architecture = architecture(&release.target)?;
    files::write(&stage.join("DEBIAN/control"), control(architecture, size, &depends(&usr)?))?;
    let file = release.file(&format!("traceloom_{VERSION}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    // One thread, because otherwise the bytes depend on the number of threads.
    command.args(["--build", "--root-owner-group", "-Zxz", "--threads-max=1"]).arg(&stage).arg(&file);
    run(command.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    files::remove_folder(&stage)?;
    Ok(file)
}

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: traceloom

Files: *
Copyright: The Traceloom contributors
License: MIT or Apache-2.0
 The texts are in /usr/share/doc/traceloom/LICENSE-MIT and /usr/share/common-licenses/Apache-2.0.
";

fn control(architecture: &str, size: u64, depends: &str) -> String {
    format!(
        "\
Package: traceloom
Version: {VERSION}
Architecture: {architecture}
Maintainer: The Traceloom contributors <traceloom@example.invalid>
Installed-Size: {}
Depends: {depends}
Section: devel
Priority: optional
Description: reads, repairs, queries and shows profiler, log and memory traces
 Opens EasyProfiler, NYTProf, Pynytprof, CNanoLog, Memlyze and Web Tracing
 Framework traces, including damaged ones: statistics, flame graphs, SQL,
 conversion to Perfetto, Chrome and others, and a timeline in the browser.
 Includes the recorder for C and C++ and the library that records the
 allocations of a program.
",
        size.div_ceil(1024)
    )
}

/// Debian's name of an architecture.
fn architecture(target: &str) -> Outcome<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => Err(format!("no Debian architecture is known for {target}")),
    }
}

/// Sets the file modes; returns the size of all files.
fn permissions(folder: &Path, usr: &Path) -> Outcome<u64> {
    let mut size = 0;
    for path in files::list(folder)? {
        let inside = path.strip_prefix(usr).unwrap_or(&path).to_string_lossy().into_owned();
        set_mode(&path, if path.is_dir() { 0o755 } else { mode(&inside) })?;
        size +=
            if path.is_dir() { permissions(&path, usr)? } else { fs::metadata(&path).map_err(failed(&path))?.len() };
    }
    Ok(size)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed(path))
}

#[cfg(not(unix))]
fn set_mode(path: &Path, _: u32) -> Outcome {
    Err(format!("{}: Debian packages are made on Linux", path.display()))
}

/// The oldest version of the C library that has all functions used by the program and the libraries.
fn depends(usr: &Path) -> Outcome<String> {
    let mut minor = 17;
    for path in files::walk(usr)? {
        let bytes = files::read(&path)?;
        if bytes.starts_with(b"\x7fELF") {
            minor = minor.max(newest_version(&bytes));
        }
    }
    Ok(format!("libc6 (>= 2.{minor}), libgcc-s1"))
}

/// The largest N of the symbol versions `GLIBC_2.N` that a file names.
fn newest_version(bytes: &[u8]) -> u32 {
    const NAME: &[u8] = b"GLIBC_2.";
    let starts = bytes.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    let numbers = starts.map(|(at, _)| {
        let digits = bytes[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit()).take(3);
        digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    });
    numbers.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_the_c_library_counts() {
        assert_eq!(newest_version(b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.17\0"), 34);
        assert_eq!(newest_version(b"no library"), 0);
    }
}
