//! Leaks, churn and double frees, by site.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::Case;
use crate::advise::{
    measure::{Measured, Place, clock::CELLS, memory::SiteUse},
    report::{Advice, Evidence, Rule, Unit, Weight},
    words::{bytes, counted, percent, quoted, time},
};

/// All allocations of one place, from any caller.
struct Site {
    place: Place,
    used: SiteUse,
}

/// Minimum number of blocks of a leak, spread over the whole trace.
const MIN_BLOCKS: u64 = 8;
/// Minimum share of the leaked blocks that each quarter of the trace allocates.
const MIN_QUARTER: f64 = 0.08;
const MAX_LEAKS: usize = 3;

pub(in crate::advise) fn leaks_and_churn(case: &Case<'_>) -> Vec<Advice> {
    let sites = sites(case.measured);
    let live: f64 = sites.iter().map(|site| site.used.live_bytes as f64).sum();
    let mut leaks: Vec<Advice> = sites.iter().filter_map(|site| leak(case, site, live)).collect();
    leaks.sort_by(|one, other| other.saved.total_cmp(&one.saved).then_with(|| one.subject.cmp(&other.subject)));
    leaks.truncate(MAX_LEAKS);
    leaks.extend(churn(case, &sites));
    leaks
}

/// The innermost frame that is not the allocator itself.
fn place_of(measured: &Measured, stack: Option<i64>) -> Place {
    let is_allocator = |place: &&Place| {
        matches!(place.function.as_str(), "malloc" | "calloc" | "realloc" | "operator new" | "operator new[]" | "free")
    };
    let mut frames = measured.stacks.path(measured.stack_trace, stack).peekable();
    let innermost = frames.peek().copied();
    let place = frames.find(|place| !is_allocator(place)).or(innermost).cloned();
    place.unwrap_or(Place { function: "(unknown site)".to_owned(), source: None })
}

fn sites(measured: &Measured) -> Vec<Site> {
    let mut by_place: BTreeMap<Place, SiteUse> = BTreeMap::new();
    let mut stacks: Vec<_> = measured.memory.sites.iter().collect();
    stacks.sort_by_key(|(stack, _)| **stack);
    for (stack, used) in stacks {
        let place = place_of(measured, *stack);
        by_place.entry(place).and_modify(|sum| sum.add(used)).or_insert_with(|| used.clone());
    }
    by_place.into_iter().map(|(place, used)| Site { place, used }).collect()
}

impl Site {
    fn label(&self) -> String {
        match &self.place.source {
            Some(source) => format!("{} {source}", self.place.function),
            None => self.place.function.clone(),
        }
    }

    fn query(&self, fate: &str) -> String {
        format!(
            "SELECT a.ts_ns, a.size_bytes, a.lifetime_ns FROM allocations a JOIN stacks s ON s.trace_id = a.trace_id AND s.id = \
             a.stack_id JOIN frames f ON f.trace_id = s.trace_id AND f.id = s.frame_id WHERE f.function = {} AND a.fate = '{fate}' \
             ORDER BY a.ts_ns",
            quoted(&self.place.function)
        )
    }
}

fn leak(case: &Case<'_>, site: &Site, all_live: f64) -> Option<Advice> {
    let memory = &case.measured.memory;
    let used = &site.used;
    let reached = memory.clock.reached();
    if used.live < MIN_BLOCKS || reached < 8 {
        return None;
    }
    let edge = |quarter: usize| reached * quarter / 4;
    let live = used.live_bytes.max(1) as f64;
    let quarter = |number: usize| used.live_cells[edge(number)..edge(number + 1)].iter().sum::<u64>() as f64 / live;
    let quarters = [0, 1, 2, 3].map(quarter);
    // Memory that is allocated once, fills up to a plateau, or is only in use at the end is not a leak.
    if quarters.iter().any(|share| *share < MIN_QUARTER) {
        return None;
    }
    let steadiness = steadiness(&used.live_cells, reached);
    let seconds = reached as f64 * memory.clock.cell_ns() as f64 / 1e9;
    let rate = live / seconds.max(1e-9);
    let share = live / all_live.max(1.0);
    let label = site.label();
    Some(Advice {
        rule: Rule::Leak,
        weight: match share {
            _ if memory.freed == 0 => Weight::Low,
            0.2.. => Weight::High,
            0.02.. => Weight::Medium,
            _ => Weight::Low,
        },
        subject: site.place.function.clone(),
        place: site.place.source.clone(),
        cause: format!("{} of {} are never freed", counted(used.live, "block"), used.count),
        message: format!(
            "{label} leaks: {} ({}) are never freed, {}/s throughout the trace",
            counted(used.live, "block"),
            bytes(live),
            bytes(rate)
        ),
        saved: share.min(1.0),
        count: used.live,
        evidence: vec![
            Evidence::new("never freed, the first", live, Unit::Bytes).at(used.first_ns),
            Evidence::count("blocks never freed", used.live),
            Evidence::count("blocks allocated there", used.count),
            Evidence::new("per second", rate, Unit::Bytes),
            Evidence::new("of the trace shows growth", steadiness, Unit::Part),
            Evidence::new("of all memory in use at the end", share.min(1.0), Unit::Part),
        ],
        query: site.query("live"),
    })
}

/// The share of the trace in which leaked blocks are allocated.
fn steadiness(cells: &[u64; CELLS], reached: usize) -> f64 {
    let parts = reached.min(16);
    let grows = (0..parts)
        .filter(|part| cells[reached * part / parts..reached * (part + 1) / parts].iter().any(|bytes| *bytes > 0));
    grows.count() as f64 / parts.max(1) as f64
}

/// Churn is at least this share of all allocations, with blocks that live for less than this share of the trace.
const CHURN_SHARE: f64 = 0.3;
const SHORT_LIFE: f64 = 0.01;
const MIN_CHURN: u64 = 1000;

fn churn(case: &Case<'_>, sites: &[Site]) -> Option<Advice> {
    let memory = &case.measured.memory;
    let mut order: Vec<&Site> = sites.iter().collect();
    order.sort_by_key(|site| std::cmp::Reverse(site.used.count));
    let site = *order.first()?;
    let next = order.get(1).map_or(0, |site| site.used.count);
    let used = &site.used;
    let freed = used.count - used.live;
    let share = used.count as f64 / memory.count.max(1) as f64;
    let life = used.lifetime_ns as f64 / freed.max(1) as f64;
    let is_short = freed * 20 >= used.count * 19 && life < case.measured.extent() * SHORT_LIFE;
    if !is_short || share < CHURN_SHARE || used.count < MIN_CHURN {
        return None;
    }
    let stands_out = share >= 0.5 && sites.len() >= 4 && used.count >= next * 4;
    let seconds = case.measured.extent() / 1e9;
    let label = site.label();
    Some(Advice {
        rule: Rule::Churn,
        weight: if stands_out { Weight::Medium } else { Weight::Low },
        subject: site.place.function.clone(),
        place: site.place.source.clone(),
        cause: format!("its blocks live for {} on average", time(life)),
        message: format!(
            "{label} makes {} of all allocations: {}, {} in total, {:.0}/s, freed after {} on average",
            percent(share),
            counted(used.count, "block"),
            bytes(used.bytes as f64),
            used.count as f64 / seconds,
            time(life)
        ),
        saved: share.min(1.0),
        count: used.count,
        evidence: vec![
            Evidence::count("allocations", used.count),
            Evidence::new("allocated", used.bytes as f64, Unit::Bytes),
            Evidence::new("average lifetime", life, Unit::Nanoseconds),
            Evidence::count("freed by the next event", used.temporary),
        ],
        query: site.query("freed"),
    })
}

pub(in crate::advise) fn double_frees(case: &Case<'_>, twice: &HashMap<Option<i64>, u64>) -> Option<Advice> {
    let mut by_place: BTreeMap<Place, u64> = BTreeMap::new();
    for (stack, count) in twice {
        *by_place.entry(place_of(case.measured, *stack)).or_default() += count;
    }
    let total: u64 = by_place.values().sum();
    let (place, count) = by_place.into_iter().max_by_key(|(_, count)| *count)?;
    let at = place.source.as_ref().map_or_else(String::new, |source| format!(" {source}"));
    let which = if count == total { String::new() } else { format!(", {count} of them") };
    Some(Advice {
        rule: Rule::DoubleFree,
        weight: Weight::High,
        message: format!(
            "{} freed twice{which} allocated by {}{at}",
            if total == 1 { "1 block is".to_owned() } else { format!("{total} blocks are") },
            place.function
        ),
        cause: "freed twice".to_owned(),
        subject: place.function,
        place: place.source,
        saved: 0.0,
        count: total,
        evidence: vec![Evidence::count("double frees", total), Evidence::count("of blocks from this site", count)],
        query: "SELECT ts_ns, address FROM frees WHERE allocation_id IS NULL ORDER BY ts_ns".to_owned(),
    })
}
