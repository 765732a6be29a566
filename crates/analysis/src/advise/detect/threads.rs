//! Thread pools that should share their work, and threads that exclude each other.

use hashbrown::{HashMap, HashSet};

use super::Case;
use crate::advise::{
    look::{Intervals, MAX_INTERVALS},
    measure::Measured,
    report::{Advice, EVIDENCE, Evidence, Rule, Unit, Weight},
    robust::median,
    words::{Role, percent, pool_of, quoted, time, times},
};

/// Minimum ratio between the work of a thread and the work of the others, in either direction.
const UNEVEN: f64 = 1.7;
const IDLE: f64 = 3.0;
/// Minimum share of the trace that the busiest thread of a pool is busy.
const MIN_LOAD: f64 = 0.1;
/// Minimum share for a problem.
const MIN_PROBLEM: f64 = 0.35;
const MIN_JOBS: u64 = 8;
const MAX_POOLS: usize = 3;

pub(in crate::advise) fn pools(case: &Case<'_>) -> Vec<Advice> {
    groups(case.measured).iter().filter_map(|group| pool(case, group)).take(MAX_POOLS).collect()
}

/// Groups of threads whose names differ only in their numbers and that run the same spans. Threads without names are
/// grouped by their spans. Threads that run different spans have different roles.
fn groups(measured: &Measured) -> Vec<Vec<usize>> {
    let mut works: Vec<HashMap<u32, u64>> = vec![HashMap::new(); measured.threads.list.len()];
    for series in &measured.spans.series {
        let is_waiting = measured.spans.names.get(series.name as usize).is_none_or(|name| name.role.is_waiting());
        if let Some(works) = works.get_mut(series.thread as usize).filter(|_| !is_waiting) {
            *works.entry(series.name).or_default() += series.self_ns;
        }
    }
    let main_work = |thread: usize| works[thread].iter().max_by_key(|(name, ns)| (**ns, **name)).map(|(name, _)| *name);
    let list = &measured.threads.list;
    let pools: Vec<String> =
        list.iter().map(|thread| thread.name.as_deref().map(pool_of).unwrap_or_default()).collect();
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    pools.iter().for_each(|pool| *sizes.entry(pool.as_str()).or_default() += 1);
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, pool) in pools.iter().enumerate() {
        let is_shared = !pool.is_empty() && sizes[pool.as_str()] > 1;
        let work = main_work(number).filter(|_| list[number].others == 0).map(|name| format!(" {name}"));
        if let Some(key) = if is_shared { Some(pool.clone()) } else { work } {
            groups.entry(key).or_default().push(number);
        }
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    for group in &mut groups {
        // The spans that most threads run are the work of the pool; a thread with other spans has another role.
        let mut votes: HashMap<u32, usize> = HashMap::new();
        let names: Vec<HashSet<u32>> = group.iter().map(|thread| works[*thread].keys().copied().collect()).collect();
        names.iter().flatten().for_each(|name| *votes.entry(*name).or_default() += 1);
        let shared: HashSet<u32> = votes.iter().filter(|(_, votes)| **votes >= 2).map(|(name, _)| *name).collect();
        group.retain(|thread| works[*thread].is_empty() || works[*thread].keys().any(|name| shared.contains(name)));
    }
    groups.retain(|group| group.len() >= 2);
    groups.sort();
    groups
}

fn pool(case: &Case<'_>, group: &[usize]) -> Option<Advice> {
    let measured = case.measured;
    let list = &measured.threads.list;
    let mut order: Vec<usize> = group.to_vec();
    order.sort_by_key(|thread| (std::cmp::Reverse(list[*thread].busy_ns), *thread));
    let busy: Vec<f64> = order.iter().map(|thread| list[*thread].busy_ns as f64).collect();
    let jobs: u64 = order.iter().map(|thread| list[*thread].spans).sum();
    let (most, least) = (busy[0], busy[busy.len() - 1]);
    if most < measured.extent() * MIN_LOAD || jobs < MIN_JOBS * order.len() as u64 {
        return None;
    }
    let (above, below) = (most / median(&busy[1..]).max(1.0), median(&busy[..busy.len() - 1]) / least.max(1.0));
    let is_idle = below >= IDLE && (below >= above || order.len() == 2);
    if !is_idle && above < UNEVEN {
        return None;
    }
    let mean = busy.iter().sum::<f64>() / busy.len() as f64;
    let label = |at: usize| case.thread(order[at] as u32);
    let of = format!("{} threads", order.len());
    let (rule, at, message, cause) = if is_idle {
        let at = order.len() - 1;
        let message = format!(
            "{} has little to do: busy for {}, versus {} for the other threads in its pool",
            label(at),
            time(least),
            time(median(&busy[..at]))
        );
        (
            Rule::IdleWorker,
            at,
            message,
            format!("it does {} of the work of {of}", percent(least / busy.iter().sum::<f64>().max(1.0))),
        )
    } else {
        let message = format!(
            "{} does {} of the work of {of}: {}, {} as much as the others",
            label(0),
            percent(most / busy.iter().sum::<f64>()),
            time(most),
            times(above)
        );
        (Rule::UnevenPool, 0, message, "uneven distribution of work".to_owned())
    };
    let saved = if is_idle { (median(&busy[..at]) - least) / order.len() as f64 } else { most - mean };
    Some(Advice {
        rule,
        // If no thread is busy most of the time, no work is delayed.
        weight: match (median(&busy).max(if is_idle { 0.0 } else { most })) / measured.extent() {
            load if load < MIN_PROBLEM => Weight::Low,
            _ if saved / measured.extent() > 0.3 => Weight::High,
            _ => Weight::Medium,
        },
        subject: label(at),
        place: None,
        cause,
        message,
        saved: (saved / measured.extent()).clamp(0.0, 1.0),
        count: order.len() as u64,
        evidence: evidence(case, &order, at),
        query: "SELECT t.tid, t.name, COUNT(*) AS spans, SUM(s.self_ns) AS busy_ns FROM spans s JOIN threads t ON t.trace_id = \
                s.trace_id AND t.id = s.thread_id GROUP BY t.tid, t.name ORDER BY busy_ns DESC"
            .to_owned(),
    })
}

/// The thread in question and the busiest thread.
fn evidence(case: &Case<'_>, order: &[usize], at: usize) -> Vec<Evidence> {
    let busiest = order.iter().take(EVIDENCE).copied();
    let shown = busiest.chain((at >= EVIDENCE).then(|| order[at]));
    shown.map(|thread| Evidence::ns(case.thread(thread as u32), case.measured.threads.list[thread].busy_ns)).collect()
}

/// Names that take a large share of the trace on several threads, to check whether they ever run concurrently.
pub(in crate::advise) fn candidates(measured: &Measured) -> Vec<Intervals> {
    let mut threads: HashMap<u32, (u64, u64, Vec<f64>)> = HashMap::new();
    for series in &measured.spans.series {
        let is_waiting = measured.spans.names.get(series.name as usize).is_none_or(|name| name.role.is_waiting());
        if !is_waiting && !series.is_call {
            let (count, total_ns, loads) = threads.entry(series.name).or_default();
            *count += series.count;
            *total_ns = total_ns.saturating_add(series.total_ns);
            loads.push(series.total_ns as f64 / measured.extent());
        }
    }
    let mut found: Vec<(u64, u32, u64)> = threads
        .into_iter()
        .filter(|(_, (count, total_ns, loads))| {
            let load = *total_ns as f64 / measured.extent();
            let several = loads.iter().filter(|one| **one > 0.05).count() >= 2;
            several && *count >= 20 && (0.4..1.05).contains(&load)
        })
        .map(|(name, (count, total_ns, _))| (total_ns, name, count))
        .collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.truncate(MAX_CANDIDATES);
    let clock = &measured.spans.clock;
    let (first_ns, last_ns) = (clock.start_ns(0), clock.start_ns(clock.reached()));
    let intervals = found.into_iter().map(|(_, name, count)| {
        let share = (MAX_INTERVALS as f64 / 2.0 / count as f64).min(1.0);
        let margin = ((last_ns.saturating_sub(first_ns)) as f64 * (1.0 - share) / 2.0) as i64;
        Intervals {
            name,
            from_ns: first_ns.saturating_add(margin),
            to_ns: last_ns.saturating_sub(margin).saturating_add(1),
            list: Vec::new(),
        }
    });
    intervals.collect()
}

const MAX_CANDIDATES: usize = 4;

pub(in crate::advise) fn convoys(case: &Case<'_>) -> Option<Advice> {
    case.questions.intervals.iter().filter_map(|intervals| convoy(case, intervals)).next()
}

fn convoy(case: &Case<'_>, intervals: &Intervals) -> Option<Advice> {
    let measured = case.measured;
    let mut list = intervals.list.clone();
    list.sort_unstable();
    let range = (list.iter().map(|(_, end, _)| *end).max()?.saturating_sub(list.first()?.0)).max(1) as f64;
    let mut loads: HashMap<u32, f64> = HashMap::new();
    let (mut sum, mut union, mut until, mut turns) = (0.0, 0.0, i64::MIN, 0);
    let mut last = None;
    for (begin, end, thread) in &list {
        let dur = end.saturating_sub(*begin) as f64;
        sum += dur;
        union += end.saturating_sub((*begin).max(until)).max(0) as f64;
        until = until.max(*end);
        *loads.entry(*thread).or_default() += dur / range;
        turns += usize::from(last != Some(*thread));
        last = Some(*thread);
    }
    let independent = 1.0 - loads.values().map(|load| 1.0 - load.min(1.0)).product::<f64>();
    // The threads must alternate often; long phases, one thread after the other, are by design.
    let takes_turns = turns * 4 >= list.len() && turns >= 16;
    let is_serial = sum <= union * 1.03 && union / range >= independent * 1.15;
    if !is_serial || !takes_turns || loads.len() < 2 {
        return None;
    }
    let threads: HashSet<u32> = loads.keys().copied().collect();
    let held = measured.name(intervals.name);
    let wait = waiting_name(measured, &threads);
    let waited_ns = wait.map_or(0, |(_, ns)| ns);
    let blamed = wait.map_or(held, |(name, _)| measured.name(name));
    let count = loads.len() as u64;
    let waits = wait.map_or_else(String::new, |(name, ns)| {
        format!("; {} waits for {} in total", measured.name(name), time(ns as f64))
    });
    Some(Advice {
        rule: Rule::LockConvoy,
        weight: if union / range > 0.6 { Weight::High } else { Weight::Medium },
        subject: blamed.to_owned(),
        place: None,
        cause: format!("{count} threads run {held} one after the other, never concurrently"),
        message: format!(
            "{count} threads in lockstep: {held} never runs on two threads at once and takes {} of the time{waits}",
            percent(union / range)
        ),
        saved: ((sum - sum / count as f64) / range).clamp(0.0, 1.0),
        count,
        evidence: vec![
            Evidence::new(format!("of the time one thread is in {held}"), union / range, Unit::Part),
            Evidence::new("expected if they ran independently", independent, Unit::Part),
            Evidence::ns("of waiting", waited_ns),
        ],
        query: format!("SELECT thread_id, ts_ns, dur_ns FROM spans WHERE name = {} ORDER BY ts_ns", quoted(held)),
    })
}

/// The lock that the threads wait for longest.
fn waiting_name(measured: &Measured, threads: &HashSet<u32>) -> Option<(u32, u64)> {
    let mut waits: HashMap<u32, u64> = HashMap::new();
    for series in measured.spans.series.iter().filter(|series| threads.contains(&series.thread)) {
        if measured.spans.names.get(series.name as usize).is_some_and(|name| name.role == Role::Lock) {
            *waits.entry(series.name).or_default() += series.self_ns;
        }
    }
    waits.into_iter().max_by_key(|(name, ns)| (*ns, *name)).filter(|(_, ns)| *ns as f64 > measured.extent() * 0.05)
}

/// A lock that threads wait for during much of their time, regardless of the spans of its holders.
pub(in crate::advise) fn contention(case: &Case<'_>) -> Option<Advice> {
    let measured = case.measured;
    let mut waits: HashMap<u32, (u64, u64, u64)> = HashMap::new();
    for series in &measured.spans.series {
        let thread = &measured.threads.list[series.thread as usize];
        let is_lock = measured.spans.names.get(series.name as usize).is_some_and(|name| name.role == Role::Lock);
        if is_lock && series.self_ns as f64 > measured.extent() * 0.1 {
            let (waited_ns, busy_ns, threads) = waits.entry(series.name).or_default();
            *waited_ns += series.self_ns;
            *busy_ns += thread.busy_ns;
            *threads += 1;
        }
    }
    let (name, (waited_ns, busy_ns, threads)) = waits.into_iter().max_by_key(|(name, waits)| (waits.0, *name))?;
    let share = waited_ns as f64 / (waited_ns.saturating_add(busy_ns)).max(1) as f64;
    if threads < 2 || share < 0.25 {
        return None;
    }
    let name = measured.name(name);
    Some(Advice {
        rule: Rule::LockConvoy,
        weight: if share > 0.5 { Weight::High } else { Weight::Medium },
        subject: name.to_owned(),
        place: None,
        cause: "waiting for a lock".to_owned(),
        message: format!(
            "{threads} threads spend {} of their time in {name}: {} in total",
            percent(share),
            time(waited_ns as f64)
        ),
        saved: (waited_ns as f64 / threads as f64 / measured.extent()).clamp(0.0, 1.0),
        count: threads,
        evidence: vec![
            Evidence::ns("of waiting", waited_ns),
            Evidence::new("of the time of these threads", share, Unit::Part),
        ],
        query: format!(
            "SELECT thread_id, COUNT(*) AS waits, SUM(dur_ns) AS waited_ns FROM spans WHERE name = {} GROUP BY thread_id ORDER BY waited_ns DESC",
            quoted(name)
        ),
    })
}
