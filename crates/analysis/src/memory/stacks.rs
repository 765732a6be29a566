//! The stacks of a report, weighted by the fate of their memory.

use super::{Moment, Report, Site};
use crate::flame::{Stack, Tree};

/// The bytes of a stack that count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Held {
    /// In use at the requested time.
    Alive,
    /// Never freed.
    Leaked,
    /// In use at the peak.
    Peak,
    /// Freed by the next event.
    Temporary,
}

/// The stacks of several reports together.
pub fn stacks(reports: &[Report], held: Held) -> Tree {
    Tree::of_stacks(reports.iter().flat_map(|report| report.held(held)))
}

impl Report {
    fn held(&self, held: Held) -> Vec<Stack<'_>> {
        let alive = |moment: &Moment| {
            let sites = moment.sites.iter().map(|(site, bytes, count)| self.sites[*site].weighing(*bytes, *count));
            sites.collect()
        };
        let some = |weight: fn(&Site) -> (u64, u64)| {
            let weighed = self.sites.iter().map(|site| (site, weight(site)));
            weighed
                .filter(|(_, (_, count))| *count > 0)
                .map(|(site, (bytes, count))| site.weighing(bytes, count))
                .collect()
        };
        match held {
            Held::Alive => self.at.as_ref().map(alive).unwrap_or_default(),
            Held::Leaked => some(|site| (site.live_bytes, site.live)),
            Held::Peak => alive(&self.peak),
            Held::Temporary => some(|site| (site.temporary_bytes, site.temporary)),
        }
    }
}

impl Site {
    fn weighing(&self, own: u64, count: u64) -> Stack<'_> {
        let mut frames: Vec<&str> = self.stack.iter().rev().map(|frame| frame.function.as_str()).collect();
        if frames.is_empty() {
            frames.push(crate::flame::UNKNOWN);
        }
        Stack { frames, own, count }
    }
}
