//! Converts the real stream to Pynytprof's dialect.

use std::{collections::HashMap, io::Write};

use traceloom_core::{Edited, Error, Options, Records, Result, Source};

use crate::{
    Nv, Record, SubCallers, aggregate, open,
    pynytprof::{
        edit::level_of,
        figures::{Figures, Sum},
        raw::TICKS_PER_SEC,
    },
    record::brief,
    text_of,
};

/// Writes a real profile in the documented layout of Pynytprof: lines, subs and calls between subs, in ticks of 100 ns.
pub fn to_pynytprof<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let level = variant.map(level_of).transpose()?.flatten();
    let mut reader = open(source.clone(), options)?;
    let mut figures = Figures::new(source.len()?);
    let mut loader = aggregate::Loader::new(source.len()?, &options.limits);
    let mut edges = Edges::default();
    reader.walk(|located| {
        loader.add(&located.record)?;
        match &located.record {
            Record::PidStart(start) if figures.process.is_none() => {
                figures.process = Some(start.into());
            }
            Record::SubCallers(calls) if calls.count > 0 => edges.add(&mut figures, calls)?,
            Record::SrcLine(_) => figures.loss.lose("source lines", String::new),
            Record::SubReturn(_) | Record::SubEntry(_) => figures.loss.lose("single calls", String::new),
            _ => {}
        }
        Ok::<_, Error>(())
    })?;
    let profile = loader.finish();
    fill(&mut figures, &mut edges, &profile)?;
    figures.write(out, level)?;
    Ok(Edited { findings: reader.into_findings(), loss: figures.loss })
}

/// Numbers for names.
#[derive(Default)]
struct Edges {
    sids: HashMap<Vec<u8>, u32>,
}

impl Edges {
    fn sid(&mut self, figures: &mut Figures, name: &[u8]) -> Result<u32> {
        if let Some(sid) = self.sids.get(name) {
            return Ok(*sid);
        }
        let sid = u32::try_from(self.sids.len()).map_err(|_| Error::limit("subs", 1 << 32, u32::MAX.into()))?;
        self.sids.insert(name.to_vec(), sid);
        // A name ends at a NUL here, and has to be UTF-8.
        let text = text_of(name).replace(char::is_control, "?");
        if text.as_bytes() != name {
            figures.loss.lose("names that are not UTF-8 or hold control characters", || brief(name));
        }
        figures.add_sub(sid, text.as_bytes(), 0, None)?;
        Ok(sid)
    }

    fn add(&mut self, figures: &mut Figures, calls: &SubCallers<'_>) -> Result<()> {
        let (caller, callee) = (self.sid(figures, calls.caller.bytes)?, self.sid(figures, calls.called.bytes)?);
        let ticks = |seconds: &Nv| (seconds.value() * f64::from(TICKS_PER_SEC)).round();
        let (incl, excl) = (ticks(&calls.incl_seconds), ticks(&calls.excl_seconds));
        if incl < 0.0 || excl < 0.0 {
            figures.loss.lose("negative times", || format!("{} seconds", calls.incl_seconds.value()));
        }
        let sum = Sum { calls: calls.count.into(), inc_ticks: incl as u64, exc_ticks: excl as u64 };
        figures.add_edge((caller, callee), sum)
    }
}

fn fill(figures: &mut Figures, edges: &mut Edges, profile: &aggregate::Profile) -> Result<()> {
    for name in profile.subs.keys() {
        edges.sid(figures, name)?;
    }
    for (fid, file) in &profile.files {
        if !file.name.is_empty() {
            figures.loss.lose("names of files", || format!("{fid}: {}", brief(&file.name)));
        }
        for (line, sum) in &file.lines {
            let ticks = (sum.seconds * f64::from(TICKS_PER_SEC)).round();
            if ticks < 0.0 || sum.count < 0 {
                figures.loss.lose("negative times", || format!("line {line} of file {fid}: {} seconds", sum.seconds));
            }
            let (ticks, calls) = (ticks as u64, u64::try_from(sum.count).unwrap_or(0));
            figures.add_line((*fid, *line), Sum { calls, inc_ticks: ticks, exc_ticks: ticks })?;
        }
    }
    if profile.has_blocks {
        figures.loss.lose("figures of blocks", String::new);
    }
    figures.attributes = profile.attributes.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    figures.options = profile.options.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    Ok(())
}
