//! Lines of text: log entries as CNanoLog's text mode prints them.

use std::{collections::HashMap, fs::File};

use traceloom_cnanolog::{
    Moment,
    text::{Pattern, Stamp, Token},
};
use traceloom_core::Result;

use super::{Rec, Sink, file::Output, text::Messages};
use crate::{
    LogLines,
    clock::{Timeline, tick},
    hub::ThreadInfo,
    record::Kind,
    stats::COUNTERS,
};

/// Bytes gathered before they go to the file.
const GATHERED: usize = 64 << 10;

pub(crate) struct Lines {
    output: Output,
    gathered: Vec<u8>,
    pattern: Pattern,
    /// Patterns of sites that do not use the default pattern.
    own: HashMap<u32, Pattern>,
    stamp: Stamp,
    messages: Messages,
    timeline: Timeline,
    /// Entries that were lost while the file could not be written.
    lost: u64,
}

impl Lines {
    pub(crate) fn create(lines: &LogLines, timeline: &Timeline) -> Result<Self> {
        let file = File::options().create(true).append(true).open(&lines.path)?;
        Ok(Self::with_output(Output::new(Box::new(file)).at(&lines.path), lines, timeline))
    }

    pub(super) fn with_output(output: Output, lines: &LogLines, timeline: &Timeline) -> Self {
        Self {
            output,
            gathered: Vec::new(),
            pattern: Pattern::library(lines.pattern.as_bytes()),
            own: HashMap::new(),
            stamp: Stamp::new(lines.zone),
            messages: Messages::default(),
            timeline: *timeline,
            lost: 0,
        }
    }

    fn moment(&self, tick: u64) -> Moment {
        let ns = self.timeline.first.wall_ns.saturating_add(self.timeline.ns(tick) as i64);
        Moment { sec: ns.div_euclid(1_000_000_000), nsec: ns.rem_euclid(1_000_000_000) as u32 }
    }

    fn say(&mut self, tick: u64, text: &str) {
        self.stamp.put_date_time(self.moment(tick), &mut self.gathered);
        self.gathered.extend_from_slice(text.as_bytes());
        self.gathered.push(b'\n');
    }
}

impl Sink for Lines {
    fn put(&mut self, rec: &Rec<'_>) {
        if rec.kind != Kind::Log {
            return;
        }
        if self.output.is_full() {
            COUNTERS.lost.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.lost += 1;
            return;
        }
        let moment = self.moment(rec.tick);
        let level = rec.site.level.as_ref().map_or("", |(_, name)| name);
        let pattern = if rec.site.pattern.is_empty() {
            &self.pattern
        } else {
            self.own.entry(rec.id).or_insert_with(|| Pattern::library(rec.site.pattern.as_bytes()))
        };
        let out = &mut self.gathered;
        for token in pattern.tokens() {
            match token {
                Token::Literal(text) => out.extend_from_slice(text),
                Token::Message => out.extend_from_slice(self.messages.render(rec)),
                Token::DateTime => self.stamp.put_date_time(moment, out),
                Token::ShortTime => self.stamp.put_short_time(moment, out),
                Token::Date => self.stamp.put_date(moment, out),
                Token::Time => self.stamp.put_time(moment, out),
                Token::Level => out.extend_from_slice(level.as_bytes()),
                Token::LevelLetter => out.extend(level.bytes().next()),
                Token::File => out.extend_from_slice(rec.site.file.as_bytes()),
                Token::Line => out.extend_from_slice(rec.site.line.to_string().as_bytes()),
                Token::Relative => {
                    let seconds = self.timeline.ns(rec.tick) / 1e9;
                    out.extend_from_slice(format!("{seconds:.9}").as_bytes());
                }
                Token::Ticks => out.extend_from_slice(rec.tick.to_string().as_bytes()),
            }
        }
        out.push(b'\n');
        if self.gathered.len() >= GATHERED {
            // The output keeps the bytes and counts the error.
            let _ = self.flush();
        }
    }

    fn dropped(&mut self, thread: &ThreadInfo, count: u64, tick: u64) {
        self.say(tick, &format!(" {count} records dropped on thread {}", thread.name()));
    }

    fn clock_stepped(&mut self, step_ns: i64, tick: u64) {
        self.say(tick, &format!(" the time of day jumped by {} s", step_ns as f64 / 1e9));
    }

    fn tick(&mut self, timeline: &Timeline) {
        self.timeline = *timeline;
        // A writer that is never idle would otherwise not try again; the output keeps the bytes and counts the error.
        let _ = self.flush();
    }

    fn flush(&mut self) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        let refused = self.output.refuses.clone();
        self.output.write(&gathered)?;
        if let (Some(reason), 1..) = (refused, self.lost) {
            let lost = std::mem::take(&mut self.lost);
            self.say(tick(), &format!(" {lost} entries lost: {reason}"));
            let gathered = std::mem::take(&mut self.gathered);
            self.output.write(&gathered)?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        Ok(self.output.sync()?)
    }

    fn close(mut self: Box<Self>, _: &Timeline) -> Result<()> {
        self.flush()
    }
}
