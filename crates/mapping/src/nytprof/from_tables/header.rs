//! What stands before the profile: attributes and options, and the length of a tick.

use std::io::Write;

use traceloom_core::{Limits, Loss, Result};
use traceloom_model::{Table, TableSource, attributes};
use traceloom_nytprof::{Pair, Record, Writer, edit::compression_comment, leading_number};

use super::Ticks;
use traceloom_passes::{Gathered, Timeline};

/// Attributes and options of the first trace, and what the file needs of its own.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) comments: Vec<String>,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) options: Vec<(String, String)>,
    /// Ticks per second of each trace that says so.
    ticks: Vec<(usize, u32)>,
    /// Profiles that tell of calls when they return only.
    without_entries: Vec<usize>,
}

/// Written from what is known, whatever the trace said.
const OWN: [&str; 4] = ["basetime", "cumulative_overhead_ticks", "nv_size", "ticks_per_sec"];

impl Facts {
    /// Reads the attributes. Those of a profile go back to where they were, others have the name of their format before
    /// theirs.
    pub(crate) fn read(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        limits: &Limits,
        loss: &mut Loss,
    ) -> Result<Self> {
        let mut facts = Self::default();
        if gathered.rows(Table::Attributes) == 0 {
            return Ok(facts);
        }
        let mut count = 0;
        let rest = gathered.rest();
        let roster = &mut gathered.roster;
        rest.pour(source, &[Table::Attributes], |_, batch| {
            let view = attributes::View::of(batch);
            for row in 0..view.rows {
                count += 1;
                limits.check_entries("attributes", count)?;
                let trace = roster.trace_number(view.trace_id.get(row))?;
                let (key, value) = (view.key.get(row), view.value.get(row));
                let is_profile = matches!(&*roster.traces[trace].format, "nytprof" | "pynytprof");
                facts.take(trace, is_profile, &roster.traces[trace].format, (key, value), loss);
            }
            Ok(())
        })?;
        Ok(facts)
    }

    fn take(&mut self, trace: usize, is_profile: bool, format: &str, pair: (&str, Option<&str>), loss: &mut Loss) {
        let (key, value) = (pair.0, pair.1.unwrap_or_default());
        if is_profile && key == "ticks_per_sec" {
            self.ticks.push((trace, leading_number(value.as_bytes())));
        }
        if is_profile && key == "option.calls" && leading_number(value.as_bytes()) < 2 {
            self.without_entries.push(trace);
        }
        if trace != 0 {
            return loss.lose("attributes of further traces", || key.to_owned());
        }
        if is_profile && key == "comment" {
            if !value.starts_with("Compressed at level ") {
                self.comments.push(line(value, loss));
            }
        } else if let Some(option) = key.strip_prefix("option.").filter(|_| is_profile) {
            self.options.push((word(option, loss), line(value, loss)));
        } else if is_profile {
            self.attributes.push((word(key, loss), line(value, loss)));
        } else {
            self.attributes.push((word(&format!("{format}.{key}"), loss), line(value, loss)));
        }
    }

    /// The value of an attribute; of a repeated one the last.
    pub(crate) fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Whether calls of a trace are told when they begin, too.
    pub(super) fn tells_entries(&self, trace: usize) -> bool {
        !self.without_entries.contains(&trace)
    }

    /// The length of a tick: that of the profiles, where they agree; else as short as the length of the trace allows.
    pub(super) fn ticks(&self, gathered: &Gathered) -> Ticks {
        let roster = &gathered.roster;
        if let Some((_, first)) = self.ticks.first()
            && *first > 0
            && self.ticks.iter().all(|(_, ticks)| ticks == first)
            && (0..roster.traces.len()).all(|trace| self.ticks.iter().any(|(own, _)| *own == trace))
        {
            return Ticks { per_sec: *first, is_own: true };
        }
        let lasts = |trace: usize| {
            let last = roster.traces[trace].last_ts_ns.unwrap_or(0);
            i128::from(last).saturating_sub(roster.earliest(trace).into()).max(0).unsigned_abs()
        };
        let lasting_ns = roster.threads().iter().map(|thread| lasts(thread.trace)).sum();
        Ticks { per_sec: ticks_for(lasting_ns), is_own: false }
    }

    /// Writes all text of the file.
    pub(super) fn write<W: Write>(
        &self,
        ticks: Ticks,
        level: Option<u8>,
        gathered: &Gathered,
        timeline: &Timeline,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<()> {
        match self.comments.as_slice() {
            [] => writer.write(&Record::Comment(b"Perl profile database. Generated by Traceloom"))?,
            all => all.iter().try_for_each(|comment| writer.write(&Record::Comment(comment.as_bytes())))?,
        }
        let process = gathered.roster.processes.iter().find_map(|process| process.name.as_deref());
        let is_wall = gathered.roster.traces.iter().any(|trace| trace.clock == "wall");
        let seconds = timeline.unix_origin_ns().unwrap_or(0).div_euclid(1_000_000_000);
        let overhead = self.attribute("cumulative_overhead_ticks").filter(|_| ticks.is_own);
        let mut put = |key: &str, value: &str| {
            let pair = Pair::new(key.as_bytes(), value.as_bytes());
            writer.write(&Record::Attribute(pair))
        };
        put("basetime", self.attribute("basetime").unwrap_or(&seconds.to_string()))?;
        for (key, value) in self.attributes.iter().filter(|(key, _)| !OWN.contains(&key.as_str())) {
            put(key, value)?;
        }
        for (key, value) in [("application", process.unwrap_or("-")), ("clock_id", if is_wall { "0" } else { "1" })] {
            if self.attribute(key).is_none() {
                put(key, &line(value, loss))?;
            }
        }
        put("nv_size", "8")?;
        put("ticks_per_sec", &ticks.per_sec.to_string())?;
        // Inside of the compressed part the original may lose a line.
        put("cumulative_overhead_ticks", overhead.unwrap_or("0"))?;
        self.write_options(level, writer)
    }

    fn write_options<W: Write>(&self, level: Option<u8>, writer: &mut Writer<W>) -> Result<()> {
        let compress = level.unwrap_or(0).to_string();
        let own = [("subs", "1"), ("blocks", "0"), ("stmts", "1"), ("calls", "2"), ("compress", &*compress)];
        let known: Vec<&str> = self.options.iter().map(|(key, _)| key.as_str()).collect();
        let kept = self.options.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let kept = kept.map(|(key, value)| (key, if key == "compress" { &*compress } else { value }));
        for (key, value) in kept.chain(own.into_iter().filter(|(key, _)| !known.contains(key))) {
            writer.write(&Record::Option(Pair::new(key.as_bytes(), value.as_bytes())))?;
        }
        match level {
            Some(level) => {
                writer.write(&Record::Comment(compression_comment(level).as_bytes()))?;
                writer.write(&Record::StartDeflate(level))
            }
            None => Ok(()),
        }
    }
}

/// A statement counts up to 2^31 ticks, and what lasts longer takes more of them; of these a file may have some.
const MOST_PARTS: u128 = 1 << 21;

/// As many ticks as keep the file short: nanoseconds for up to 52 days, 100 of them for 14 years.
fn ticks_for(lasting_ns: u128) -> u32 {
    let parts = |ticks: &u32| (lasting_ns / 1_000_000_000 * u128::from(*ticks)) >> 31;
    (0..=9).rev().map(|power| 10_u32.pow(power)).find(|ticks| parts(ticks) <= MOST_PARTS).unwrap_or(1)
}

/// A text without what would end its line, or spoil it.
pub(crate) fn line(text: &str, loss: &mut Loss) -> String {
    if !text.contains(['\n', '\0']) {
        return text.to_owned();
    }
    loss.lose("line ends and NULs in attributes", || text.escape_debug().to_string());
    text.replace('\n', " ").replace('\0', "\u{fffd}")
}

/// The same for a name, which ends at an equals sign.
fn word(text: &str, loss: &mut Loss) -> String {
    if text.contains('=') {
        loss.lose("equals signs in names of attributes", || text.to_owned());
    }
    line(text, loss).replace('=', "_")
}
