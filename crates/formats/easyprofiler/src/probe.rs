//! Detects a file, reads its header, and determines its layout.

use traceloom_core::{ByteOrder, Cursor, Error, Mode, Options, Position, Records, Result, Sniff, Source};

use crate::{
    Header, Reader, Record, Switch,
    findings::{
        BLOCK_SHORT, BLOCK_SIZE_ZERO, BOOKMARK_SHORT, BOOKMARKS_MARK, COUNT_MISMATCH, DESCRIPTOR_MISSING,
        DESCRIPTOR_NAME, DESCRIPTOR_SHORT, HEADER_CUT, NO_DESCRIPTORS, RECORDS_MISSING, RESYNCED, SWITCH_SHORT,
        SWITCH_SIZE_ZERO, THREADS_MARK, THREADS_MARK_EARLY, THREADS_MISSING, TRUNCATED,
    },
    raw::{EASY_PROFILER_SIGNATURE, Layout, SizeRule, SwitchOrder, Version, Width},
};

/// A walk of this length through plausible records is not a coincidence.
const PROBE_BYTES: u64 = 1 << 20;

const LONGEST_HEADER: usize = 72;

pub(crate) fn sniff(prefix: &[u8]) -> Sniff {
    let Some(signature) = prefix.first_chunk::<4>() else { return Sniff::No };
    if ![signature, &reversed(signature)].contains(&&EASY_PROFILER_SIGNATURE.to_le_bytes()) {
        return Sniff::No;
    }
    // "Easy" can also be the start of English text, where the next byte would be a version above 8.
    let likely = stamps(prefix).iter().any(|(layout, version)| !layout.swapped_or_big() || version.0 >> 24 <= 8);
    if likely { Sniff::Yes } else { Sniff::Maybe }
}

fn reversed(bytes: &[u8; 4]) -> [u8; 4] {
    let mut bytes = *bytes;
    bytes.reverse();
    bytes
}

impl Layout {
    fn swapped_or_big(&self) -> bool {
        self.swapped_signature || self.order == ByteOrder::Big
    }
}

/// The possible readings of the first eight bytes, the most likely first: a real layout and its version.
fn stamps(prefix: &[u8]) -> Vec<(Layout, Version)> {
    let mut cursor = Cursor::new(prefix, 0, ByteOrder::Little);
    let (Ok(signature), Ok(stamp)) = (cursor.array::<4>("signature"), cursor.array::<4>("version")) else {
        return Vec::new();
    };
    let real = ByteOrder::Little.u32(*signature) == EASY_PROFILER_SIGNATURE;
    let orders: &[ByteOrder] = if real { &[ByteOrder::Little] } else { &[ByteOrder::Big, ByteOrder::Little] };
    let stamps = orders.iter().map(|order| {
        let version = Version(order.u32(*stamp));
        let swapped_signature = !real && *order == ByteOrder::Little;
        (Layout { swapped_signature, ..Layout::real(version, *order) }, version)
    });
    stamps.filter(|(_, version)| *version >= Version::V0_1_0).collect()
}

/// Reads the header in the layout that fits the file.
pub(crate) fn header(source: &Source, options: &Options) -> Result<Header> {
    let prefix = source.prefix(LONGEST_HEADER)?;
    if sniff(&prefix) == Sniff::No {
        let message = "this is not an EasyProfiler file: it does not start with 79 73 61 45";
        return Err(Error::unrecognized(message).at(Position::at(0).field("signature")));
    }
    let stamps = stamps(&prefix);
    let Some((real, version)) = stamps.first().copied() else {
        let message = "the version stamp is missing or older than 0.1.0, the first version";
        return Err(Error::unrecognized(message).at(Position::at(4).field("version")));
    };
    let first = parse_header(&prefix, real, version);
    // Strict mode follows easy_profiler, which knows only the real layout.
    if options.mode == Mode::Strict {
        return Ok(first);
    }
    let mut best = (walk(source, &first, options)?, first);
    for (layout, version) in stamps.into_iter().flat_map(layouts).skip(1) {
        if best.0.fit == Fit::Whole {
            break;
        }
        let candidate = parse_header(&prefix, layout, version);
        let found = walk(source, &candidate, options)?;
        if found.fit > best.0.fit {
            best = (found, candidate);
        }
    }
    with_switch_order(source, best, options)
}

/// The real layout, then those of the documentation.
fn layouts((real, version): (Layout, Version)) -> impl Iterator<Item = (Layout, Version)> {
    std::iter::once(real).chain(Layout::document(version, real)).map(move |layout| (layout, version))
}

/// The documentation puts a switch's target first. All widths have been the same since 1.3.0, so only the times decide:
/// read in the wrong order, no switch starts within the capture.
fn with_switch_order(source: &Source, (found, header): (Walk, Header), options: &Options) -> Result<Header> {
    let is_framed = is_real(&header) || found.fit >= Fit::Frame;
    if !is_framed || found.switches == 0 || found.switches_inside > 0 || header.begin_time == 0 {
        return Ok(header);
    }
    let layout = Layout { switch: SwitchOrder::TargetFirst, ..header.layout };
    let other = Header { layout, ..header.clone() };
    let turned = walk(source, &other, options)?;
    let fits = turned.fit >= found.fit && turned.switches_inside == turned.switches;
    Ok(if fits { other } else { header })
}

/// The result of a walk over the first part of a file.
struct Walk {
    fit: Fit,
    switches: u64,
    switches_inside: u64,
}

/// How well a layout explains a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Fit {
    /// The records run into nonsense.
    None,
    /// Every record fits, but some number disagrees.
    Frame,
    /// Everything makes sense.
    Whole,
}

fn walk(source: &Source, header: &Header, options: &Options) -> Result<Walk> {
    let options = options.clone().with_mode(Mode::Lenient);
    let mut reader = Reader::with_header(source.clone(), header.clone(), &options)?.without_resync();
    let mut found = Walk { fit: Fit::Whole, switches: 0, switches_inside: 0 };
    let (mut sized, mut odd) = (0, 0);
    while let Some(located) = reader.next()? {
        sized += u64::from(!matches!(located.record, Record::Thread(_) | Record::Blocks(_) | Record::Mark(_)));
        odd += u64::from(located.record.odd_size().is_some());
        if let Record::Switch(switch) = located.record {
            found.switches += 1;
            found.switches_inside += u64::from(is_inside(&switch, header));
        }
        let far = located.offset > PROBE_BYTES;
        if far || has_any(&reader, TELLING) {
            break;
        }
    }
    // If all records fit the real layout, it is real, however many were announced.
    let doubts_count = !is_real(header) && has_any(&reader, &[COUNT_MISMATCH.code]);
    // A file made from the documentation's examples disagrees in many places, a damaged real one in few.
    let few_disagree = header.layout.size == SizeRule::Unreliable && odd * 4 < sized;
    let is_doubtful = doubts_count || has_any(&reader, DOUBTFUL);
    if few_disagree && is_doubtful || has_any(&reader, TELLING) {
        found.fit = Fit::None;
    } else if is_doubtful {
        found.fit = Fit::Frame;
    }
    Ok(found)
}

/// Whether a switch is within the capture; a real one may extend beyond it, while the documented layout has to be
/// convincing.
pub(crate) fn is_inside(switch: &Switch<'_>, header: &Header) -> bool {
    let real = header.layout.switch == SwitchOrder::TimesFirst;
    let ends = real || header.end_time < header.begin_time || switch.end <= header.end_time;
    header.begin_time <= switch.begin && switch.begin <= switch.end && ends
}

/// Whether a switch would be within the capture if its target were stored first.
pub(crate) fn is_turned_inside(switch: &Switch<'_>, header: &Header) -> bool {
    let turned = Switch { target: switch.begin, begin: switch.end, end: switch.target, ..*switch };
    let layout = Layout { switch: SwitchOrder::TargetFirst, ..header.layout };
    is_inside(&turned, &Header { layout, ..header.clone() })
}

fn is_real(header: &Header) -> bool {
    header.layout == Layout::real(header.version, header.layout.order)
}

fn has_any(reader: &Reader, codes: &[&str]) -> bool {
    reader.findings().counts().keys().any(|code| codes.contains(code))
}

/// Findings that a wrong layout produces.
static TELLING: &[&str] = &[
    BLOCK_SHORT.code,
    BLOCK_SIZE_ZERO.code,
    BOOKMARKS_MARK.code,
    BOOKMARK_SHORT.code,
    DESCRIPTOR_SHORT.code,
    HEADER_CUT.code,
    NO_DESCRIPTORS.code,
    RECORDS_MISSING.code,
    RESYNCED.code,
    SWITCH_SHORT.code,
    SWITCH_SIZE_ZERO.code,
    THREADS_MARK.code,
    THREADS_MARK_EARLY.code,
    THREADS_MISSING.code,
    TRUNCATED.code,
];

/// Findings that a wrong layout produces, but the documentation's examples do, too.
static DOUBTFUL: &[&str] = &[DESCRIPTOR_MISSING.code, DESCRIPTOR_NAME.code];

/// Parses the header; missing bytes count as zero, as in easy_profiler.
fn parse_header(prefix: &[u8], layout: Layout, version: Version) -> Header {
    let mut padded = [0; LONGEST_HEADER];
    for (to, from) in padded.iter_mut().zip(prefix) {
        *to = *from;
    }
    let mut cursor = Cursor::new(&padded, 0, layout.order);
    let mut header = Header::new(layout, version);
    // `padded` is as long as the longest header, so no read can fail.
    let _: Result<()> = read_fields(&mut cursor, &mut header);
    header.stored_bytes = prefix.len().min(layout.header_bytes());
    header
}

fn read_fields(cursor: &mut Cursor<'_>, header: &mut Header) -> Result<()> {
    cursor.take(8, "signature and version")?;
    header.pid = match header.layout.pid {
        Width::Absent => None,
        Width::U32 => Some(cursor.u32("pid")?.into()),
        Width::U64 => Some(cursor.u64("pid")?),
    };
    header.cpu_frequency = cursor.i64("cpu_frequency")?;
    header.begin_time = cursor.u64("begin_time")?;
    header.end_time = cursor.u64("end_time")?;
    if header.layout.sizes_first {
        header.memory_size = cursor.u64("memory_size")?;
        header.descriptors_memory_size = cursor.u64("descriptors_memory_size")?;
        header.blocks_count = cursor.u32("blocks_count")?;
        header.descriptors_count = cursor.u32("descriptors_count")?;
    } else {
        header.blocks_count = cursor.u32("blocks_count")?;
        header.memory_size = cursor.u64("memory_size")?;
        header.descriptors_count = cursor.u32("descriptors_count")?;
        header.descriptors_memory_size = cursor.u64("descriptors_memory_size")?;
    }
    if header.layout.marks {
        header.threads_count = Some(cursor.u32("threads_count")?);
        header.bookmarks_count = Some(cursor.u16("bookmarks_count")?);
        header.padding = Some(cursor.u16("padding")?);
    }
    Ok(())
}

/// The rules that the chosen layout breaks, with the offset where it shows.
pub(crate) fn layout_findings(header: &Header) -> Vec<traceloom_core::Finding> {
    use crate::findings::{
        BIG_ENDIAN, DOCUMENT_PID, DOCUMENT_SIGNATURE, DOCUMENT_SIZE, DOCUMENT_SWITCH, DOCUMENT_THREAD_ID,
        SIZE_DISAGREES,
    };
    let layout = &header.layout;
    let real = Layout::real(header.version, layout.order);
    let body = header.stored_bytes as u64;
    let broken = [
        (layout.order == ByteOrder::Big, &BIG_ENDIAN, 0),
        (layout.swapped_signature, &DOCUMENT_SIGNATURE, 0),
        (layout.pid != real.pid, &DOCUMENT_PID, 8),
        (layout.thread_id != real.thread_id, &DOCUMENT_THREAD_ID, body),
        (layout.switch != real.switch, &DOCUMENT_SWITCH, body),
        (layout.size == SizeRule::WithPrefix, &DOCUMENT_SIZE, body),
        (layout.size == SizeRule::Unreliable, &SIZE_DISAGREES, body),
    ];
    let broken = broken.into_iter().filter(|(is_broken, ..)| *is_broken);
    let version = header.version.to_string();
    broken
        .map(|(_, rule, offset)| {
            traceloom_core::Finding::new(rule, Position::at(offset)).with("version", version.as_str())
        })
        .collect()
}
