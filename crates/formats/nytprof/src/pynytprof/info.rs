//! The summary of a file.

use std::{cmp::Reverse, collections::HashMap};

use crate::pynytprof::{Edge, Line, Process, Record, raw::TICKS_PER_SEC};
use traceloom_core::{
    Amount, Error, Fact, Findings, Hertz, Info, Listing, Options, Records, Result, Source, Text, date_time,
};

/// Summarizes a file.
pub(crate) fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
    let mut reader = super::open(source.clone(), options)?;
    let mut survey = Survey::default();
    reader.walk(|located| {
        survey.take(&located.record);
        Ok::<_, Error>(())
    })?;
    let info = survey.info(reader.header().dialect.as_str());
    Ok((info, reader.into_findings()))
}

/// Maximum number of rows shown per table.
const SHOWN: usize = 10;
/// Maximum number of chunks whose tags are shown; the documentation has four.
const SHOWN_CHUNKS: usize = 40;
/// Maximum number of subs and files whose names are kept, and the maximum length of each.
const NAMED: usize = 1 << 16;
const NAME_BYTES: usize = 200;

#[derive(Default)]
struct Survey {
    comment: Option<String>,
    application: Option<String>,
    compressed: bool,
    process: Option<Process>,
    chunks: String,
    lines: u64,
    visits: u64,
    line_calls: u64,
    exc_ticks: u128,
    subs: u64,
    edges: u64,
    edge_calls: u64,
    sites: u64,
    files: u64,
    unexplained_bytes: u64,
    sub_names: HashMap<u32, String>,
    file_names: HashMap<u32, String>,
    /// The most expensive lines so far, sorted.
    top_lines: Vec<Line>,
    top_edges: Vec<Edge>,
}

impl Survey {
    fn take(&mut self, record: &Record<'_>) {
        match record {
            Record::Comment(text) if self.comment.is_none() => self.comment = Some(shown(text)),
            Record::Attribute(pair) if pair.key == b"application" => self.application = pair.value.map(shown),
            Record::StartDeflate(_) => self.compressed = true,
            Record::Process(process) => self.process = Some(*process),
            Record::Chunk(chunk) if self.chunks.len() < SHOWN_CHUNKS => self.chunks.push(char::from(chunk.tag.0)),
            Record::Line(line) => self.take_line(line),
            Record::Visit(_) => self.visits += 1,
            Record::Sub(sub) => self.take_sub(sub.sid, sub.name),
            Record::Range(sub) => self.take_sub(sub.sid, sub.name),
            Record::Edge(edge) => self.take_edge(edge),
            Record::SiteCalls(_) => self.sites += 1,
            Record::File(file) => self.take_file(file.fid, file.path),
            Record::IndexedFile(..) => self.files += 1,
            Record::Token(crate::Record::PidStart(start)) => self.process = Some(Process::from(start)),
            Record::Token(crate::Record::NewFid(file)) => self.take_file(file.fid, file.name.bytes),
            Record::Payload(bytes) | Record::Residue(bytes) => self.unexplained_bytes += bytes.len() as u64,
            _ => {}
        }
    }

    fn take_line(&mut self, line: &Line) {
        self.lines += 1;
        self.line_calls += u64::from(line.calls);
        self.exc_ticks += u128::from(line.exc_ticks);
        keep_top(&mut self.top_lines, *line, |line| line.exc_ticks);
    }

    fn take_edge(&mut self, edge: &Edge) {
        self.edges += 1;
        self.edge_calls += u64::from(edge.calls);
        keep_top(&mut self.top_edges, *edge, |edge| edge.ticks);
    }

    fn take_sub(&mut self, sid: u32, name: &[u8]) {
        self.subs += 1;
        if self.sub_names.len() < NAMED {
            self.sub_names.insert(sid, shown(name));
        }
    }

    fn take_file(&mut self, fid: u32, path: &[u8]) {
        self.files += 1;
        if self.file_names.len() < NAMED {
            self.file_names.insert(fid, shown(path));
        }
    }

    fn info(self, dialect: &str) -> Info {
        // The name of the format already precedes it.
        let form = dialect.strip_prefix("Pynytprof").unwrap_or(dialect).trim_start_matches([',', ' ']);
        let form = if form.is_empty() { "by its document" } else { form };
        let mut info = Info { version: format!("({form})"), ..Info::default() };
        info.fact("devel_nytprof", "cannot load it; `convert --to nytprof` makes a file that it can");
        let words = [("comment", &self.comment), ("application", &self.application)];
        words.into_iter().for_each(|(name, text)| text.iter().for_each(|text| info.fact(name, text.as_str())));
        info.fact("compression", if self.compressed { "zlib" } else { "none" });
        if let Some(process) = self.process {
            info.fact("pid", u64::from(process.pid));
            info.fact("parent_pid", u64::from(process.ppid));
            info.fact("started", date_time((process.time * 1e6) as u64));
        }
        info.fact("clock", Hertz(TICKS_PER_SEC.into()).to_string());
        if !self.chunks.is_empty() {
            info.fact("chunks", self.chunks.as_str());
        }
        info.fact("lines", self.lines);
        info.fact("line_calls", self.line_calls);
        info.facts.push(Fact { name: "line_time", amount: time(self.exc_ticks) });
        info.fact("subs", self.subs);
        info.fact("edges", self.edges);
        info.fact("edge_calls", self.edge_calls);
        // Undocumented forms.
        let others = [("files", self.files), ("visits", self.visits), ("call_places", self.sites)];
        let others = others.into_iter().chain([("unexplained_bytes", self.unexplained_bytes)]);
        others.filter(|(_, count)| *count > 0).for_each(|(name, count)| info.fact(name, count));
        info.tables.extend([self.line_table(), self.edge_table()]);
        info
    }

    fn line_table(&self) -> Listing {
        let rows = self.top_lines.iter().map(|line| {
            let file = self.file_names.get(&line.fid).cloned().unwrap_or_else(|| format!("file {}", line.fid));
            let times = [line.exc_ticks, line.inc_ticks].map(|ticks| time(ticks.into()));
            let [exclusive, inclusive] = times;
            vec![u64::from(line.calls).into(), exclusive, inclusive, format!("{file}:{}", line.line).into()]
        });
        let columns = &["calls", "exclusive", "inclusive", "place"];
        Listing { name: "hottest_lines", columns, rows: rows.collect() }
    }

    fn edge_table(&self) -> Listing {
        let name = |sid: u32| self.sub_names.get(&sid).cloned().unwrap_or_else(|| format!("sub {sid}"));
        let rows = self.top_edges.iter().map(|edge| {
            let (caller, callee) = (name(edge.caller_sid), name(edge.callee_sid));
            vec![u64::from(edge.calls).into(), time(edge.ticks.into()), caller.into(), callee.into()]
        });
        Listing { name: "hottest_calls", columns: &["calls", "time", "caller", "callee"], rows: rows.collect() }
    }
}

/// Adds an item to the few most expensive ones; of equal ones, the first stays in front.
fn keep_top<T>(top: &mut Vec<T>, item: T, cost: impl Fn(&T) -> u64) {
    let at = top.partition_point(|other| Reverse(cost(other)) <= Reverse(cost(&item)));
    if at < SHOWN {
        top.insert(at, item);
        top.truncate(SHOWN);
    }
}

fn time(ticks: u128) -> Amount {
    const NS_PER_TICK: u128 = 1_000_000_000 / TICKS_PER_SEC as u128;
    Amount::Nanoseconds(u64::try_from(ticks.saturating_mul(NS_PER_TICK)).unwrap_or(u64::MAX))
}

fn shown(text: &[u8]) -> String {
    Text(text.get(..NAME_BYTES).unwrap_or(text)).to_string()
}
