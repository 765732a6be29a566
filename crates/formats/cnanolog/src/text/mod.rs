//! Entries as text: lines by a pattern, JSON objects, and the exact output of CNanoLog's decompressor.

mod compat;
mod date;
mod json;
mod pattern;

use traceloom_core::text::push_hex;

use crate::{Clock, Entry, Program, Site, printf};

pub use self::{
    compat::{Compat, Step},
    date::{Stamp, Zone, utc},
    json::Json,
    pattern::{Pattern, Token},
};

/// Replaces the time of an entry that has none, as in the decompressor's text.
pub const NO_TIMESTAMP: &str = "NO-TIMESTAMP";

/// Bytes that all messages of a log may have in addition to what it stores: wide fields can turn an entry of 16 bytes
/// into megabytes.
const MAX_SPARE_BYTES: usize = 64 << 20;
/// Bytes that each message may always have in addition to its format and arguments.
const MODEST_BYTES: usize = 1 << 10;

/// Renders messages; formats are parsed once per site.
#[derive(Debug)]
pub struct Messages {
    programs: Vec<Option<Box<Program>>>,
    spare_bytes: usize,
    cut: u64,
    is_shared: bool,
}

impl Default for Messages {
    fn default() -> Self {
        Self::shared(1)
    }
}

impl Messages {
    /// One of several renderers for the messages of one log; each may use its share of the total.
    pub fn shared(among: usize) -> Self {
        let spare_bytes = MAX_SPARE_BYTES / among.max(1);
        Self { programs: Vec::new(), spare_bytes, cut: 0, is_shared: among > 1 }
    }

    /// Whether the last message could differ if one renderer had rendered all messages before it.
    #[inline]
    pub fn depends_on_others(&self) -> bool {
        self.is_shared && (self.cut > 0 || self.spare_bytes == 0)
    }

    /// Number of messages that were cut, because the log's messages would take many times the bytes that it stores.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Appends the message of an entry, formatted by printf.
    ///
    /// If arguments cannot be decoded, shows the format with the bytes; if the site is unknown, shows its id.
    pub fn put(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) {
        self.put_of(entry, entry.site(), out);
    }

    #[inline]
    fn put_of(&mut self, entry: &Entry<'_>, site: Option<Site<'_>>, out: &mut Vec<u8>) {
        let (Some(site), Some(index)) = (site, entry.site_index()) else {
            out.extend_from_slice(b"id ");
            printf::put_decimal(entry.id.into(), false, out);
            return put_data(entry.data, out);
        };
        let Some(args) = entry.args() else {
            out.extend_from_slice(site.format);
            return put_data(entry.data, out);
        };
        if self.programs.len() <= index {
            self.programs.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.programs.get_mut(index) {
            let program = slot.get_or_insert_with(|| Box::new(Program::parse(site.format)));
            let start = out.len();
            let modest = MODEST_BYTES + site.format.len() + entry.data.len();
            let most = (modest + self.spare_bytes).min(printf::MAX_BYTES);
            self.cut += u64::from(!program.render_within(site.format, args, most, out));
            self.spare_bytes -= (out.len() - start).saturating_sub(modest).min(self.spare_bytes);
        }
    }
}

fn put_data(data: &[u8], out: &mut Vec<u8>) {
    if data.is_empty() {
        return;
    }
    out.extend_from_slice(b" [");
    printf::put_decimal(data.len() as u64, false, out);
    out.extend_from_slice(b" argument bytes: ");
    push_hex(out, data);
    out.push(b']');
}

/// Appends the name of an entry's level; `LEVEL_n` if it has none, `-` if the site is unknown.
#[inline]
pub(crate) fn put_level(entry: &Entry<'_>, site: Option<Site<'_>>, out: &mut Vec<u8>) {
    let Some((dictionary, site)) = entry.dictionary().zip(site) else { return out.push(b'-') };
    match dictionary.level_name(site.level) {
        Some(name) => out.extend_from_slice(name),
        None => {
            out.extend_from_slice(b"LEVEL_");
            printf::put_decimal(site.level.into(), false, out);
        }
    }
}

/// Writes lines by a pattern.
#[derive(Debug)]
pub struct Lines {
    pattern: Pattern,
    clock: Clock,
    stamp: Stamp,
    /// Renders the messages; see [`Messages::shared`] if several threads render one log.
    pub messages: Messages,
    /// The pattern with the level, file and line of each site filled in.
    prepared: Vec<Option<Box<[Token]>>>,
}

impl Lines {
    /// Lines of one file.
    pub fn new(pattern: Pattern, clock: Clock, zone: Zone) -> Self {
        let (stamp, messages) = (Stamp::new(zone), Messages::default());
        Self { pattern, clock, stamp, messages, prepared: Vec::new() }
    }

    /// Appends the line of an entry, with its newline.
    pub fn put(&mut self, entry: &Entry<'_>, out: &mut Vec<u8>) {
        let site = entry.site();
        let moment = entry.timestamp.map(|ticks| self.clock.moment(ticks));
        let unknown;
        let tokens = match entry.site_index() {
            Some(index) => {
                if self.prepared.len() <= index {
                    self.prepared.resize_with(index + 1, || None);
                }
                match self.prepared.get_mut(index) {
                    Some(slot) => &**slot.get_or_insert_with(|| prepare(&self.pattern, entry, site)),
                    None => return,
                }
            }
            None => {
                unknown = prepare(&self.pattern, entry, None);
                &unknown
            }
        };
        for token in tokens {
            match (token, moment) {
                (Token::Literal(text), _) => out.extend_from_slice(text),
                (Token::Message, _) => self.messages.put_of(entry, site, out),
                (Token::DateTime, Some(moment)) => self.stamp.put_date_time(moment, out),
                (Token::ShortTime, Some(moment)) => self.stamp.put_short_time(moment, out),
                (Token::Date, Some(moment)) => self.stamp.put_date(moment, out),
                (Token::Time, Some(moment)) => self.stamp.put_time(moment, out),
                (Token::Relative, Some(_)) => put_relative(self.clock.since_start(entry.timestamp.unwrap_or(0)), out),
                (Token::Ticks, Some(_)) => printf::put_decimal(entry.timestamp.unwrap_or(0), false, out),
                (_, _) => out.extend_from_slice(NO_TIMESTAMP.as_bytes()),
            }
        }
    }
}

/// Fills in the parts that are the same for all entries of a site.
fn prepare(pattern: &Pattern, entry: &Entry<'_>, site: Option<Site<'_>>) -> Box<[Token]> {
    let mut tokens = Vec::new();
    let mut text = Vec::new();
    for token in pattern.tokens() {
        match token {
            Token::Literal(literal) => text.extend_from_slice(literal),
            Token::Level => put_level(entry, site, &mut text),
            Token::LevelLetter => {
                let start = text.len();
                put_level(entry, site, &mut text);
                text.truncate(start + 1);
            }
            Token::File => text.extend_from_slice(site.map_or(b"-", |site| site.file)),
            Token::Line => printf::put_decimal(site.map_or(0, |site| site.line).into(), false, &mut text),
            token => {
                if !text.is_empty() {
                    tokens.push(Token::Literal(std::mem::take(&mut text)));
                }
                tokens.push(token.clone());
            }
        }
    }
    text.push(b'\n');
    tokens.push(Token::Literal(text));
    tokens.into_boxed_slice()
}

/// Seconds since the start with nine digits; negative before the start.
fn put_relative((sec, nsec): (i64, u32), out: &mut Vec<u8>) {
    let (is_negative, whole, nanos) = match (sec < 0, nsec) {
        (false, _) => (false, sec.unsigned_abs(), nsec),
        (true, 0) => (true, sec.unsigned_abs(), 0),
        (true, _) => (true, sec.unsigned_abs() - 1, 1_000_000_000 - nsec),
    };
    if is_negative {
        out.push(b'-');
    }
    printf::put_decimal(whole, false, out);
    date::put_fraction::<10>(nanos, out);
}
