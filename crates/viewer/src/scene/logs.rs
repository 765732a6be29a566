//! Log lines of all traces; data shared by the lines of a site is stored once, and texts are compressed.

use traceloom_analysis::lod::Window;
use traceloom_core::TimeRange;

use super::{
    points::each_pixel,
    texts::{TextReader, Texts},
};

/// The time of a line without a time; such lines come before all others.
const NEVER: i64 = i64::MIN;

/// Lines, in the order of reading.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    times: Vec<i64>,
    /// The site of each line.
    sites: Vec<u32>,
    known: Vec<LogSite>,
    texts: Texts,
    ticks: Vec<Ticks>,
}

/// The data shared by all lines of a log site.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct LogSite {
    pub(crate) trace: u32,
    pub(crate) level_name: u32,
    pub(crate) file: Option<u32>,
    pub(crate) line: Option<u32>,
    pub(crate) definition_id: Option<i64>,
}

/// Lines of one trace and level that have a time, sorted by time.
#[derive(Debug)]
struct Ticks {
    trace: u32,
    level_name: u32,
    lines: Vec<u32>,
    is_unsorted: bool,
}

impl Logs {
    /// Adds a site; returns its number.
    pub(crate) fn add_site(&mut self, site: LogSite) -> u32 {
        self.known.push(site);
        self.known.len() as u32 - 1
    }

    pub(crate) fn push(&mut self, ts_ns: Option<i64>, site: u32, text: &str) {
        if let Some(ts_ns) = ts_ns {
            self.tick(ts_ns, site);
        }
        self.times.push(ts_ns.unwrap_or(NEVER));
        self.sites.push(site);
        self.texts.push(text);
    }

    fn tick(&mut self, ts_ns: i64, site: u32) {
        let LogSite { trace, level_name, .. } = self.known[site as usize];
        // There are few levels, so a list is the fastest way to find one.
        let is_own = |ticks: &Ticks| ticks.level_name == level_name && ticks.trace == trace;
        let number = self.ticks.iter().position(is_own).unwrap_or(self.ticks.len());
        if number == self.ticks.len() {
            self.ticks.push(Ticks { trace, level_name, lines: Vec::new(), is_unsorted: false });
        }
        let ticks = &mut self.ticks[number];
        ticks.is_unsorted |= ticks.lines.last().is_some_and(|last| ts_ns < self.times[*last as usize]);
        ticks.lines.push(self.times.len() as u32);
    }

    /// Sorts lines and frees reserved memory; call after the last push.
    pub(crate) fn close(&mut self) {
        let Self { times, sites, texts, ticks, .. } = self;
        for ticks in ticks {
            if ticks.is_unsorted {
                ticks.lines.sort_by_key(|line| times[*line as usize]);
                ticks.is_unsorted = false;
            }
            ticks.lines.shrink_to_fit();
        }
        times.shrink_to_fit();
        sites.shrink_to_fit();
        texts.close();
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Number of lines of a trace that have a time.
    pub(crate) fn timed(&self, trace: u32) -> usize {
        self.ticks.iter().filter(|ticks| ticks.trace == trace).map(|ticks| ticks.lines.len()).sum()
    }

    /// The site of a line.
    #[inline]
    pub(crate) fn site(&self, number: usize) -> Option<&LogSite> {
        self.sites.get(number).map(|site| &self.known[*site as usize])
    }

    /// A copy without some lines. Sites keep their numbers, because the builder refers to them.
    pub(crate) fn kept(&self, mut is_kept: impl FnMut(&LogSite, Option<i64>) -> bool) -> Self {
        let mut rest = Self { known: self.known.clone(), ..Self::default() };
        let mut texts = self.texts();
        for (number, site) in self.sites.iter().enumerate() {
            if is_kept(&self.known[*site as usize], self.ts_ns(number)) {
                rest.push(self.ts_ns(number), *site, texts.get(number));
            }
        }
        rest.close();
        rest
    }

    /// Approximate bytes of lines.
    pub(crate) fn resident_bytes(&self) -> usize {
        self.times.capacity() * 16 + self.texts.resident_bytes()
    }

    /// Whether a trace has any lines.
    pub(crate) fn has_trace(&self, trace: u32) -> bool {
        self.known.iter().any(|site| site.trace == trace)
    }

    /// A site by number.
    pub(crate) fn known_site(&self, number: u32) -> Option<&LogSite> {
        self.known.get(number as usize)
    }

    /// The time of a line, in its trace.
    #[inline]
    pub(crate) fn ts_ns(&self, number: usize) -> Option<i64> {
        self.times.get(number).copied().filter(|ts_ns| *ts_ns != NEVER)
    }

    pub(crate) fn texts(&self) -> TextReader<'_> {
        self.texts.reader()
    }

    /// The lines of each trace and level in a time range of the trace, in order.
    pub(crate) fn between(&self, range: impl Fn(u32) -> TimeRange) -> impl Iterator<Item = (u32, &[u32])> {
        self.ticks.iter().map(move |ticks| {
            let range = range(ticks.trace);
            let time = |line: &u32| self.times[*line as usize];
            let is_before = |line: &u32| range.is_before_end(time(line)) && !range.contains(time(line));
            let first = ticks.lines.partition_point(is_before);
            let last = ticks.lines.partition_point(|line| range.is_before_end(time(line)));
            (ticks.level_name, ticks.lines.get(first..last).unwrap_or_default())
        })
    }

    /// Calls back with the first line of each pixel for each trace and level, with its time and the number of lines in
    /// the pixel.
    pub(crate) fn draw(&self, window: impl Fn(u32) -> Window, draw: &mut impl FnMut(&Tick, usize)) {
        for ticks in &self.ticks {
            let time = |at: usize| self.times[ticks.lines[at] as usize];
            each_pixel(ticks.lines.len(), time, &window(ticks.trace), &mut |at, shared| {
                let number = ticks.lines[at];
                let tick = Tick { trace: ticks.trace, level_name: ticks.level_name, ts_ns: time(at), number };
                draw(&tick, shared);
            });
        }
    }
}

/// A line to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) trace: u32,
    pub(crate) level_name: u32,
    pub(crate) ts_ns: i64,
    pub(crate) number: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_out_of_order_are_drawn_in_order_and_none_is_lost() {
        let mut logs = Logs::default();
        let site = |level_name| LogSite { trace: 0, level_name, file: None, line: None, definition_id: Some(3) };
        let sites = [1, 2].map(|level| logs.add_site(site(level)));
        for number in 0..1_000_i64 {
            logs.push(Some((number * 37) % 1_000), sites[(number % 2) as usize], "line");
        }
        logs.push(None, sites[0], "no time");
        logs.close();
        assert_eq!((logs.len(), logs.timed(0), logs.timed(1)), (1_001, 1_000, 0));
        assert_eq!((logs.ts_ns(1), logs.ts_ns(1_000), logs.ts_ns(1_001)), (Some(37), None, None));
        let (mut drawn, mut times) = (0, Vec::new());
        logs.draw(|_| Window::new(0, 1_000, 10), &mut |tick, shared| {
            drawn += shared;
            times.push((tick.level_name, tick.ts_ns));
            assert_eq!(logs.ts_ns(tick.number as usize), Some(tick.ts_ns));
        });
        assert_eq!((drawn, times.len()), (1_000, 20));
        assert!(times.is_sorted());
    }
}
