//! Families that were not used for choosing any threshold.

use super::{
    Block, Dice, LogRow, Planted, Scene, logs, memory,
    work::{MS, Plan, span_format},
};

const SECOND: f64 = 1e9;

/// Frames inside one span of the whole program that wait for the screen; some miss it because of a child.
pub(super) fn slow_under_vsync(dice: &mut Dice) -> Planted {
    let total_ns = dice.between(3.0, 9.0) * MS;
    let plan = Plan::new(dice, total_ns);
    let child = dice.one(&["StreamLevel", "json_parse", "upload_mesh"]);
    let count = dice.whole(80, 400);
    let slow: Vec<i64> = (0..dice.whole(2, 4)).map(|_| dice.whole(count / 8, count * 7 / 8)).collect();
    let mut scene = Scene::new(&["Main"]);
    let period_ns = 16_666_667;
    let mut start = 10_000;
    for number in 0..count {
        let mut own = Dice::new(dice.whole(0, i64::from(i32::MAX)) as u64);
        let inner = Plan { frame: "work".to_owned(), ..plan.clone() };
        let end = inner.play(&mut scene, dice, (0, start + 500), |scene, step, at_ns| {
            let is_slow = step == 0 && slow.contains(&number);
            if is_slow { scene.span(0, child, at_ns, own.around(25.0 * MS)) - at_ns } else { 0 }
        });
        let next = (end + 2000 - start).div_euclid(period_ns) * period_ns + period_ns + start;
        scene.span(0, "WaitForVsync", end + 200, next - end - 1200);
        scene.span(0, "Frame", start, next - start - 500);
        start = next;
    }
    scene.span(0, "main", 0, start + 10_000);
    Planted { scene, format: span_format(dice), blamed: vec![child.to_owned()] }
}

/// From some time on, each frame does something that no earlier frame did.
pub(super) fn new_work(dice: &mut Dice) -> Planted {
    let plan = Plan::new(dice, 5.0 * MS);
    let child = dice.one(&["DebugOverlay", "replay_record", "telemetry"]);
    let count = dice.whole(200, 500) as usize;
    let at = dice.whole(count as i64 * 3 / 10, count as i64 * 7 / 10) as usize;
    let mean_ns = dice.between(2.0, 5.0) * MS;
    let mut scene = Scene::new(&["Main"]);
    for number in 0..count {
        let mut own = Dice::new(dice.whole(0, i64::from(i32::MAX)) as u64);
        plan.play(&mut scene, dice, (0, (number as f64 * 16.667 * MS) as i64), |scene, step, at_ns| {
            let is_new = step == 0 && number >= at;
            if is_new { scene.span(0, child, at_ns, own.around(mean_ns)) - at_ns } else { 0 }
        });
    }
    Planted { scene, format: span_format(dice), blamed: vec![child.to_owned()] }
}

/// A pool whose threads have individual names.
pub(super) fn named_pool(dice: &mut Dice) -> Planted {
    let count = dice.whole(3, 6) as usize;
    let names = dice.words(count, &["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]);
    let culprit = dice.whole(0, names.len() as i64 - 1) as usize;
    let until_ns = (dice.between(0.3, 1.0) * SECOND) as i64;
    let mut scene = Scene::default();
    scene.threads.clone_from(&names);
    for thread in 0..names.len() {
        let load = if thread == culprit { 0.9 } else { 0.3 };
        let mut now = dice.around(0.3 * MS);
        while now < until_ns {
            now = scene.span(thread, "tile", now, dice.around(1.0 * MS)) + dice.around(1.0 * MS * (1.0 - load) / load);
        }
    }
    Planted { scene, format: span_format(dice), blamed: vec![names[culprit].clone()] }
}

/// Fatal errors of two sites at once.
pub(super) fn two_error_sites(dice: &mut Dice) -> Planted {
    let seconds = dice.between(30.0, 300.0);
    let mut all: Vec<LogRow> = logs::background(dice, seconds);
    let from = seconds * dice.between(0.3, 0.9);
    let length = seconds * 0.03;
    let count = dice.whole(12, 40);
    all.extend(logs::lines(dice, ("FATAL", "lib/raft.cc", 51, "no leader"), count, (from, from + length)));
    all.extend(logs::lines(dice, ("ERROR", "lib/rpc.cc", 90, "call timed out"), count / 3, (from, from + length)));
    Planted { scene: logs::in_order(all), format: "cnanolog", blamed: vec!["no leader".to_owned()] }
}

/// A leak that is reached through many call paths.
pub(super) fn leak_by_many_ways(dice: &mut Dice) -> Planted {
    let seconds = dice.between(5.0, 12.0);
    let mut blocks = memory::busy(dice, seconds);
    for number in 0..dice.whole(80, 200) {
        let ts_ns = (dice.share() * seconds * SECOND) as i64;
        let frame = |name: &str, file: &str, line: u32| (name.to_owned(), file.to_owned(), line);
        let caller = frame("handler", "src/api.cc", 100 + (number % 20) as u32);
        let stack = vec![frame("intern", "src/names.cc", 33), caller, frame("main", "src/main.cc", 7)];
        blocks.push(Block { ts_ns, freed_ns: None, bytes: dice.around(400.0) as u64, stack });
    }
    Planted { scene: memory::scene(blocks), format: "memlyze", blamed: vec!["intern".to_owned()] }
}

/// Clean: a pool with little work, so that its first thread does most of it.
pub(super) fn lazy_pool(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["pool-1", "pool-2", "pool-3", "pool-4"]);
    let until_ns = (dice.between(0.5, 1.5) * SECOND) as i64;
    for (thread, load) in [0.3, 0.12, 0.05, 0.02].into_iter().enumerate() {
        let mut now = dice.around(1.0 * MS);
        while now < until_ns {
            now = scene.span(thread, "task", now, dice.around(1.0 * MS)) + dice.around(1.0 * MS * (1.0 - load) / load);
        }
    }
    Planted { scene, format: span_format(dice), blamed: Vec::new() }
}

/// Clean: a sum of bytes, which grows by design.
pub(super) fn sum_of_bytes(dice: &mut Dice) -> Planted {
    let plan = Plan::new(dice, 4.0 * MS);
    let mut scene = Scene::new(&["Main"]);
    let mut sum = 0.0;
    for number in 0..dice.whole(100, 300) {
        let start = (number as f64 * 16.667 * MS) as i64;
        plan.play(&mut scene, dice, (0, start), |_, _, _| 0);
        sum += dice.between(100.0, 2000.0).round();
        scene.values.push(("bytes sent".to_owned(), start, sum));
    }
    Planted { scene, format: "easyprofiler", blamed: Vec::new() }
}

/// Clean: an event loop that waits for input for arbitrary times.
pub(super) fn event_loop(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let mut now = 0;
    for _ in 0..dice.whole(100, 600) {
        let start = now;
        let waited = (-dice.share().max(1e-6).ln() * 8.0 * MS) as i64 + 1000;
        now = scene.span(0, "epoll_wait", now + 200, waited) + 300;
        now = scene.span(0, "dispatch", now, dice.around(0.6 * MS)) + 300;
        scene.span(0, "EventLoop", start, now - start);
        now += 400;
    }
    Planted { scene, format: span_format(dice), blamed: Vec::new() }
}
