//! The viewer and traces in one HTML file that opens in a browser without a server.

use std::io::{self, Write};

use flate2::{Compression, write::GzEncoder};
use maud::html;
use traceloom_core::{Error, Result, TimeRange};

/// The place for traces in the page that `cargo xtask page` builds.
const MARK: &str = "<!--trace-->";
/// Max number of ever shorter ranges of a trace to try.
const MAX_TRIES: usize = 12;

/// Writes a whole trace or a range of it.
pub type WriteRange<'t> = dyn Fn(Option<TimeRange>, &mut dyn Write) -> Result<()> + 't;

/// A trace to embed in a page.
pub struct Packable<'t> {
    /// Name to show, which also hints at the format.
    pub name: String,
    /// Length in bytes.
    pub bytes: u64,
    /// First and last time, if there are any times.
    pub extent: Option<(i64, i64)>,
    /// Writes the whole trace or a range of it.
    pub write: &'t WriteRange<'t>,
}

/// A trace as embedded in a page: compressed, and possibly cut.
#[derive(Debug)]
pub struct Packed {
    name: String,
    gzip: Vec<u8>,
    /// The time range that is kept, if the trace is cut.
    pub kept: Option<TimeRange>,
}

impl Packed {
    /// Compresses a trace, or as much from its start as fits into `max_bytes` of the page.
    pub fn new(trace: &Packable<'_>, max_bytes: u64) -> Result<Self> {
        // Base64 needs four characters for three bytes.
        let max_bytes = max_bytes / 4 * 3;
        let (name, write) = (trace.name.clone(), trace.write);
        let mut part = match pack(|out| write(None, out), max_bytes)? {
            Pack::Whole(gzip) => return Ok(Self { name, gzip, kept: None }),
            Pack::Full { taken } => taken as f64 / trace.bytes.max(1) as f64,
        };
        let too_large = || Error::limit("an interactive report", trace.bytes, max_bytes);
        let (first, last) = trace.extent.ok_or_else(too_large)?;
        for _ in 0..MAX_TRIES {
            // Records are not evenly distributed over time, and a range needs the declarations of the whole trace.
            part *= 0.8;
            let length = (last.saturating_sub(first) as f64 * part) as i64;
            let range = TimeRange::between(first, first.saturating_add(length));
            if let Pack::Whole(gzip) = pack(|out| write(Some(range), out), max_bytes)? {
                return Ok(Self { name, gzip, kept: Some(range) });
            }
        }
        Err(too_large())
    }
}

enum Pack {
    Whole(Vec<u8>),
    /// The trace does not fit; this many bytes did.
    Full {
        taken: u64,
    },
}

fn pack(write: impl FnOnce(&mut dyn Write) -> Result<()>, max_bytes: u64) -> Result<Pack> {
    let packed = Bounded { bytes: Vec::new(), max_bytes, is_full: false };
    let mut counted = Counted { out: GzEncoder::new(packed, Compression::new(6)), taken: 0 };
    let written = write(&mut counted);
    let (is_full, taken) = (counted.out.get_ref().is_full, counted.taken);
    if is_full {
        return Ok(Pack::Full { taken });
    }
    written?;
    match counted.out.finish() {
        Ok(packed) => Ok(Pack::Whole(packed.bytes)),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(Pack::Full { taken }),
        Err(error) => Err(error.into()),
    }
}

/// Counts the input bytes.
struct Counted<W> {
    out: W,
    taken: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.taken += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A buffer with a size limit.
struct Bounded {
    bytes: Vec<u8>,
    max_bytes: u64,
    is_full: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= (self.bytes.len() + bytes.len()) as u64 > self.max_bytes;
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the page with traces in it; the page shows `notice` over them.
pub fn write_interactive(page: &str, traces: &[Packed], notice: &str, out: &mut dyn Write) -> Result<()> {
    let (before, after) =
        page.split_once(MARK).ok_or_else(|| Error::unsupported("the page was not built by `cargo xtask page`"))?;
    out.write_all(before.as_bytes())?;
    for trace in traces {
        let tag = html! { script type="text/plain" class="trace" data-name=(trace.name) data-notice=(notice) {} };
        let tag = tag.into_string();
        let (open, close) = tag.split_at(tag.len() - "</script>".len());
        out.write_all(open.as_bytes())?;
        write_base64(&trace.gzip, out)?;
        out.write_all(close.as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(out.write_all(after.as_bytes())?)
}

fn write_base64(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut line = Vec::with_capacity(4 << 10);
    for block in bytes.chunks(3 << 10) {
        line.clear();
        for three in block.chunks(3) {
            let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
            for place in 0..4 {
                let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
                line.push(if place > three.len() { b'=' } else { letter });
            }
        }
        out.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hardly compressible bytes: 300 kB for the whole trace, and one byte per nanosecond for a range.
    fn noise(range: Option<TimeRange>, out: &mut dyn Write) -> Result<()> {
        let length = range.map_or(300_000, |range| range.to_ns().unwrap_or(0) - range.from_ns().unwrap_or(0));
        let mut state = 7_u64;
        for _ in 0..length {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            out.write_all(&[(state >> 56) as u8])?;
        }
        Ok(())
    }

    fn trace() -> Packable<'static> {
        Packable { name: "a\"<b>.prof".into(), bytes: 300_000, extent: Some((0, 300_000)), write: &noise }
    }

    #[test]
    fn base64_is_as_others_write_it() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            let mut out = Vec::new();
            write_base64(bytes.as_bytes(), &mut out).unwrap();
            assert_eq!(out, text.as_bytes());
        }
    }

    #[test]
    fn a_trace_that_is_too_large_is_cut_and_keeps_its_start() {
        let whole = Packed::new(&trace(), 1 << 20).unwrap();
        assert_eq!(whole.kept, None);
        let cut = Packed::new(&trace(), 200_000).unwrap();
        let kept = cut.kept.unwrap();
        assert_eq!(kept.from_ns(), Some(0));
        assert!((60_000..150_000).contains(&kept.to_ns().unwrap()), "{kept:?}");
        assert!(cut.gzip.len() <= 150_000);
        let timeless = Packable { extent: None, ..trace() };
        assert!(Packed::new(&timeless, 200_000).is_err());
    }

    #[test]
    fn names_and_notices_are_texts() {
        let packed = Packed::new(&trace(), 1 << 20).unwrap();
        let mut out = Vec::new();
        write_interactive("<html><!--trace--></html>", &[packed], "</script><b>", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("<html><script type=\"text/plain\" class=\"trace\" data-name=\"a&quot;&lt;b&gt;.prof\"")
        );
        assert_eq!((text.matches("</script>").count(), text.matches("<b>").count()), (1, 0));
        assert!(text.ends_with("</script>\n</html>"));
        assert!(write_interactive("<html></html>", &[], "", &mut Vec::new()).is_err());
    }
}
