//! The serialized part of a report, for the program and the viewer: some of its sites, with shifted times.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Curve, Lifetimes, Moment, Report, Site, SiteFrame, Totals};

/// The part of a report to write.
#[derive(Clone, Debug)]
pub struct Extract {
    /// Added to every time.
    pub offset_ns: i64,
    /// Indexes of the sites to write.
    pub sites: Vec<usize>,
    /// Max number of sites per moment.
    pub most_alive: usize,
    /// Max number of frames per stack; outer frames are only counted.
    pub most_frames: usize,
}

impl Extract {
    /// The whole report.
    pub fn whole(report: &Report) -> Self {
        Self { offset_ns: 0, sites: (0..report.sites.len()).collect(), most_alive: usize::MAX, most_frames: usize::MAX }
    }

    fn moved(&self, ts_ns: i64) -> i64 {
        ts_ns.saturating_add(self.offset_ns)
    }
}

/// A serialized report.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemoryReport {
    #[serde(flatten)]
    totals: Totals,
    churn_bytes_per_second: f64,
    is_growth_only: bool,
    is_coarse: bool,
    peak: MemoryMoment,
    at: Option<MemoryMoment>,
    /// Times, with the bytes in use at each time and the maximum until the next one.
    curve: Vec<(i64, u64, u64)>,
    all_sites: usize,
    sites: Vec<MemorySite>,
    lifetimes: Vec<MemoryLifetimes>,
}

/// A serialized moment.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemoryMoment {
    ts_ns: i64,
    bytes: u64,
    count: u64,
    all_sites: usize,
    sites: Vec<AliveSite>,
}

/// A site by its index, with its live bytes and allocations.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AliveSite {
    site: usize,
    bytes: u64,
    count: u64,
}

/// A serialized site.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemorySite {
    number: usize,
    /// Frames, innermost first.
    stack: Vec<SiteFrame>,
    /// Number of outer frames that are left out.
    more_frames: usize,
    count: u64,
    bytes: u64,
    live: u64,
    live_bytes: u64,
    oldest_live_ns: Option<i64>,
    freed: u64,
    lifetime_ns: u64,
    temporary: u64,
    quarters: [u64; 4],
}

/// Serialized lifetimes; the longest have no bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemoryLifetimes {
    below_ns: Option<u64>,
    count: u64,
    bytes: u64,
}

impl Report {
    /// The report as JSON, with the unit in the name of every field; the viewer reads points without names.
    pub fn to_json(&self, extract: &Extract) -> Value {
        let mut object = serde_json::to_value(self.extract(extract)).unwrap_or_default();
        let moved = |point: &Curve| Curve { ts_ns: extract.moved(point.ts_ns), ..*point };
        object["curve"] = self.curve.iter().map(|point| json!(moved(point))).collect();
        for site in object["sites"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            let quarters = site.shift_remove("quarters");
            site.extend(quarters.map(|quarters| ("quarters_bytes".to_owned(), quarters)));
        }
        object
    }

    /// The serialized report.
    pub fn extract(&self, extract: &Extract) -> MemoryReport {
        let totals = Totals {
            first_ns: extract.moved(self.totals.first_ns),
            last_ns: extract.moved(self.totals.last_ns),
            ..self.totals
        };
        let sites = extract.sites.iter().filter_map(|number| Some((*number, self.sites.get(*number)?)));
        let curve = self.curve.iter().map(|point| (extract.moved(point.ts_ns), point.used_bytes, point.max_bytes));
        MemoryReport {
            totals,
            churn_bytes_per_second: self.totals.churn_bytes_per_second(),
            is_growth_only: self.is_growth_only,
            is_coarse: self.is_coarse,
            peak: self.peak.extract(extract),
            at: self.at.as_ref().map(|at| at.extract(extract)),
            curve: curve.collect(),
            all_sites: self.sites.len(),
            sites: sites.map(|(number, site)| site.extract(number, extract)).collect(),
            lifetimes: self.lifetimes.iter().copied().map(Lifetimes::extract).collect(),
        }
    }
}

impl Moment {
    fn extract(&self, extract: &Extract) -> MemoryMoment {
        let sites = self.sites.iter().take(extract.most_alive);
        MemoryMoment {
            ts_ns: extract.moved(self.ts_ns),
            bytes: self.bytes,
            count: self.count,
            all_sites: self.sites.len(),
            sites: sites.map(|(site, bytes, count)| AliveSite { site: *site, bytes: *bytes, count: *count }).collect(),
        }
    }
}

impl Site {
    fn extract(&self, number: usize, extract: &Extract) -> MemorySite {
        MemorySite {
            number,
            stack: self.stack.iter().take(extract.most_frames).cloned().collect(),
            more_frames: self.stack.len().saturating_sub(extract.most_frames),
            count: self.count,
            bytes: self.bytes,
            live: self.live,
            live_bytes: self.live_bytes,
            oldest_live_ns: self.oldest_live_ns.map(|ts_ns| extract.moved(ts_ns)),
            freed: self.freed,
            lifetime_ns: self.lifetime_ns,
            temporary: self.temporary,
            quarters: self.quarters,
        }
    }
}

impl Lifetimes {
    fn extract(self) -> MemoryLifetimes {
        let below_ns = (self.below_ns != u64::MAX).then_some(self.below_ns);
        MemoryLifetimes { below_ns, count: self.count, bytes: self.bytes }
    }
}
