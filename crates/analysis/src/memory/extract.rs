//! A report as JSON, for the program and for the viewer.

use serde_json::{Value, json};

use super::{Lifetimes, Moment, Report, Site, SiteFrame};

/// What of a report is written.
#[derive(Clone, Debug)]
pub struct Extract {
    /// Added to every time.
    pub offset_ns: i64,
    /// Which sites, by their index.
    pub sites: Vec<usize>,
    /// Most sites of one moment.
    pub most_alive: usize,
    /// Most frames of one stack; what is further out is counted.
    pub most_frames: usize,
}

impl Extract {
    /// All of it.
    pub fn whole(report: &Report) -> Self {
        Self { offset_ns: 0, sites: (0..report.sites.len()).collect(), most_alive: usize::MAX, most_frames: usize::MAX }
    }
}

impl Report {
    /// The report as JSON.
    pub fn to_json(&self, extract: &Extract) -> Value {
        let totals = &self.totals;
        let moved = |ts_ns: i64| ts_ns.saturating_add(extract.offset_ns);
        let curve = self.curve.iter().map(|point| json!([moved(point.ts_ns), point.used_bytes, point.most_bytes]));
        let sites = extract.sites.iter().filter_map(|number| Some((*number, self.sites.get(*number)?)));
        json!({
            "allocations": totals.allocations,
            "allocated_bytes": totals.allocated_bytes,
            "frees": totals.frees,
            "freed_bytes": totals.freed_bytes,
            "live": totals.live,
            "live_bytes": totals.live_bytes,
            "reused": totals.reused,
            "double_frees": totals.double_frees,
            "unknown_frees": totals.unknown_frees,
            "temporary": totals.temporary,
            "collections": totals.collections,
            "first_ns": moved(totals.first_ns),
            "last_ns": moved(totals.last_ns),
            "churn_bytes_per_second": totals.churn_bytes_per_second(),
            "is_growth_only": self.is_growth_only,
            "is_coarse": self.is_coarse,
            "peak": self.peak.to_json(extract),
            "at": self.at.as_ref().map(|at| at.to_json(extract)),
            "curve": curve.collect::<Vec<_>>(),
            "all_sites": self.sites.len(),
            "sites": sites.map(|(number, site)| site.to_json(number, extract)).collect::<Vec<_>>(),
            "lifetimes": self.lifetimes.iter().copied().map(Lifetimes::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Moment {
    fn to_json(&self, extract: &Extract) -> Value {
        let sites = self.sites.iter().take(extract.most_alive);
        let sites = sites.map(|(site, bytes, count)| json!({ "site": site, "bytes": bytes, "count": count }));
        json!({
            "ts_ns": self.ts_ns.saturating_add(extract.offset_ns),
            "bytes": self.bytes,
            "count": self.count,
            "all_sites": self.sites.len(),
            "sites": sites.collect::<Vec<_>>(),
        })
    }
}

impl Site {
    fn to_json(&self, number: usize, extract: &Extract) -> Value {
        let frames = self.stack.iter().take(extract.most_frames);
        json!({
            "number": number,
            "stack": frames.map(SiteFrame::to_json).collect::<Vec<_>>(),
            "more_frames": self.stack.len().saturating_sub(extract.most_frames),
            "count": self.count,
            "bytes": self.bytes,
            "live": self.live,
            "live_bytes": self.live_bytes,
            "oldest_live_ns": self.oldest_live_ns.map(|ts_ns| ts_ns.saturating_add(extract.offset_ns)),
            "freed": self.freed,
            "lifetime_ns": self.lifetime_ns,
            "temporary": self.temporary,
            "quarters": self.quarters,
        })
    }
}

impl SiteFrame {
    fn to_json(&self) -> Value {
        json!({ "function": self.function, "file": self.file, "line": self.line })
    }
}

impl Lifetimes {
    fn to_json(self) -> Value {
        json!({
            "below_ns": (self.below_ns != u64::MAX).then_some(self.below_ns),
            "count": self.count,
            "bytes": self.bytes,
        })
    }
}
