//! Locations of inputs: local paths or URLs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Limits, Result, Source};
use traceloom_mapping::{Options, Trace};
use url::Url;

/// The URL under which another process finds the same file; `None` for standard input and for names that are not UTF-8.
pub(crate) fn url(path: &Path) -> Option<String> {
    if path == Path::new("-") {
        return None;
    }
    if is_url(path) {
        return path.to_str().map(str::to_owned);
    }
    Some(file_url(std::path::absolute(path).ok()?.to_str()?))
}

/// Whether a name is a URL; real paths do not contain two slashes after a colon.
pub(crate) fn is_url(path: &Path) -> bool {
    path.to_str()
        .and_then(|text| text.split_once("://"))
        .is_some_and(|(scheme, _)| scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A plain path with a star in it would be mistaken for a pattern.
fn file_url(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().fold("file://".to_owned(), |url, byte| {
        if is_plain(byte) { url + char::from(byte).encode_utf8(&mut [0; 4]) } else { url + &format!("%{byte:02X}") }
    })
}

/// A readable location.
pub(crate) enum Location {
    Local(PathBuf),
    Remote(Url),
}

impl Location {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let Some(text) = path.to_str().filter(|_| is_url(path)) else { return Ok(Self::Local(path.to_owned())) };
        let wrong = || Error::usage("invalid URL").in_file(path);
        let url = Url::parse(text).map_err(|_| wrong())?;
        match url.scheme() {
            "file" => url.to_file_path().map(Self::Local).map_err(|()| wrong()),
            _ => Ok(Self::Remote(url)),
        }
    }

    /// The bytes of the file.
    pub(crate) fn open(&self, limits: &Limits) -> Result<Source> {
        match self {
            Self::Local(path) => Source::open(path, limits),
            Self::Remote(url) => remote::open(url),
        }
    }
}

/// The bytes of a file, at a path or a URL.
pub(crate) fn source(path: &Path, limits: &Limits) -> Result<Source> {
    Location::of(path)?.open(limits)
}

/// Opens a trace at a path or a URL with its companion file, and detects its format, unless `from` is given.
pub fn trace(path: &Path, from: Option<&str>, options: &Options) -> Result<Trace> {
    let place = Location::of(path)?;
    let source = place.open(&options.read.limits)?;
    let name = match &place {
        Location::Local(local) => local.clone(),
        Location::Remote(url) => PathBuf::from(&url[..url::Position::AfterPath]),
    };
    let mut trace = Trace::new(&name, source, from, options).map_err(|error| error.in_file(path))?;
    // A signature in a URL is valid for one object.
    let remote = if let Location::Remote(url) = &place { Some(url).filter(|url| url.query().is_none()) } else { None };
    if let (Some(url), Some(suffix)) = (remote, trace.opened.format.companion()) {
        let mut url = url.clone();
        url.set_path(&format!("{}{suffix}", url.path()));
        if let Some(companion) = remote::find(&url)? {
            trace.opened.source = trace.opened.source.with_companion(companion);
        }
    }
    trace.path = path.to_owned();
    Ok(trace)
}

/// Length of a file.
pub(crate) fn length(path: &Path) -> Result<u64> {
    match Location::of(path)? {
        Location::Local(local) => Ok(fs::metadata(local).map_err(|error| Error::from(error).in_file(path))?.len()),
        place @ Location::Remote(_) => place.open(&Limits::default())?.len(),
    }
}

/// Whether a file exists.
pub(crate) fn is_file(path: &Path) -> Result<bool> {
    match Location::of(path)? {
        Location::Local(local) => Ok(local.is_file()),
        Location::Remote(url) => Ok(remote::find(&url)?.is_some()),
    }
}

#[cfg(feature = "remote")]
use crate::remote;

/// The error of a build without a TLS stack.
#[cfg(not(feature = "remote"))]
mod remote {
    use super::{Error, Result, Source, Url};

    pub(super) fn open(url: &Url) -> Result<Source> {
        Err(Error::usage("this build can only read local files; build it with `--features remote`")
            .in_file(url.as_str()))
    }

    pub(super) fn find(url: &Url) -> Result<Option<Source>> {
        open(url).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_not_a_pattern() {
        assert_eq!(file_url("/a b/*.x"), "file:///a%20b/%2A.x");
        assert!(
            matches!(Location::of(Path::new("file:///a%20b/%2A.x")), Ok(Location::Local(path)) if path == Path::new("/a b/*.x"))
        );
    }

    #[test]
    fn a_url_is_not_a_path() {
        assert!(is_url(Path::new("s3://bucket/a.prof")) && is_url(Path::new("file:///a")));
        assert!(!is_url(Path::new("a.prof")) && !is_url(Path::new("c://a")) && !is_url(Path::new("/a/b://c")));
        assert_eq!(url(Path::new("-")), None);
        assert_eq!(url(Path::new("s3://bucket/a b")).as_deref(), Some("s3://bucket/a b"));
    }
}
