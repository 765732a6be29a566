//! Traces without a problem, but with patterns that look like one.

use super::{
    Block, Dice, Planted, Scene, logs,
    memory::{self, SITES},
    work::{self, MS, Plan, bystanders, span_format},
};

const SECOND: f64 = 1e9;

fn fine(scene: Scene, format: &'static str) -> Planted {
    Planted { scene, format, blamed: Vec::new() }
}

fn game(dice: &mut Dice) -> (Scene, Plan, usize) {
    let total_ns = dice.between(2.0, 11.0) * MS;
    let plan = Plan::new(dice, total_ns);
    (Scene::new(&["Main"]), plan, dice.whole(60, 500) as usize)
}

/// Similar frames.
pub(super) fn frames(dice: &mut Dice) -> Planted {
    let (mut scene, plan, count) = game(dice);
    let end = work::frames(&mut scene, dice, &plan, count, 16.667 * MS);
    bystanders(&mut scene, dice, end);
    fine(scene, span_format(dice))
}

/// The first frames take longer.
pub(super) fn warm_up(dice: &mut Dice) -> Planted {
    let (mut scene, plan, count) = game(dice);
    let cold = dice.whole(1, 3) as usize;
    let mut now = 0;
    for number in 0..count {
        let extra_ns = if number < cold { dice.around(40.0 * MS) } else { 0 };
        let start = now.max((number as f64 * 16.667 * MS) as i64);
        now = plan.play(&mut scene, dice, (0, start), |_, step, _| if step == 0 { extra_ns } else { 0 }) + 1000;
    }
    bystanders(&mut scene, dice, now);
    fine(scene, span_format(dice))
}

/// Threads with different kinds of work.
pub(super) fn roles(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main", "Render", "Audio", "Loader", "Logger"]);
    let until_ns = (dice.between(0.5, 2.0) * SECOND) as i64;
    let works = [
        ("simulate", 9.0, 16.667),
        ("submit", 4.0, 16.667),
        ("mix", 0.8, 10.0),
        ("read_chunk", 12.0, 90.0),
        ("write_log", 0.1, 50.0),
    ];
    for (thread, (name, busy_ms, every_ms)) in works.into_iter().enumerate() {
        let mut now = dice.around(2.0 * MS);
        while now < until_ns {
            let dur_ns = dice.around(busy_ms * MS);
            scene.span(thread, name, now, dur_ns);
            now += dur_ns.max(dice.around(every_ms * MS)) + 100;
        }
    }
    fine(scene, span_format(dice))
}

/// Frames that wait for the screen.
pub(super) fn vsync(dice: &mut Dice) -> Planted {
    let (mut scene, plan, count) = game(dice);
    let wait = dice.one(&["WaitForVsync", "vsync", "Present", "wait_for_frame"]);
    let period = dice.one(&[16.667, 33.333]) * MS;
    for number in 0..count {
        let start = (number as f64 * period) as i64;
        let inner = Plan { frame: "work".to_owned(), ..plan.clone() };
        let end = inner.play(&mut scene, dice, (0, start + 1000), |_, _, _| 0);
        let next = ((number + 1) as f64 * period) as i64;
        if next - 3000 > end + 1000 {
            scene.span(0, wait, end + 500, next - 2000 - end);
        }
        let end = end.max(next - 1000);
        scene.span(0, &plan.frame, start, end - start);
    }
    fine(scene, span_format(dice))
}

/// Workers that share the work.
pub(super) fn pool(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let count = dice.whole(2, 8) as usize;
    let until_ns = (dice.between(0.4, 1.0) * SECOND) as i64;
    let load = dice.between(0.2, 0.95);
    for number in 0..count {
        scene.threads.push(format!("Worker {number}"));
        let mut now = dice.around(0.7 * MS);
        while now < until_ns {
            let dur_ns = dice.around(1.5 * MS);
            now = scene.span(number + 1, "job", now, dur_ns) + dice.around(1.5 * MS * (1.0 - load) / load);
        }
    }
    scene.span(0, "run", 0, until_ns);
    fine(scene, span_format(dice))
}

/// Workers that wait for work most of the time.
pub(super) fn waiting(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let count = dice.whole(2, 6) as usize;
    let until_ns = (dice.between(0.4, 1.0) * SECOND) as i64;
    let wait = dice.one(&["wait_for_job", "idle", "Sleep", "poll"]);
    for number in 0..count {
        scene.threads.push(format!("Worker {number}"));
        let mut now = dice.around(0.7 * MS);
        while now < until_ns {
            now = scene.span(number + 1, "job", now, dice.around(0.5 * MS)) + 500;
            let wait_ns = (-dice.share().max(1e-6).ln() * 6.0 * MS) as i64 + 1000;
            now = scene.span(number + 1, wait, now, wait_ns) + 500;
        }
    }
    scene.span(0, "run", 0, until_ns);
    fine(scene, span_format(dice))
}

/// Two kinds of frames that alternate.
pub(super) fn bimodal(dice: &mut Dice) -> Planted {
    let (mut scene, plan, count) = game(dice);
    let every = dice.whole(2, 4) as usize;
    let extra_ns = dice.between(0.3, 1.0) * 4.0 * MS;
    let mut now = 0;
    for number in 0..count {
        let start = now.max((number as f64 * 16.667 * MS) as i64);
        let mut own = Dice::new(dice.whole(0, i64::from(i32::MAX)) as u64);
        now = plan.play(&mut scene, dice, (0, start), |scene, step, at_ns| {
            let is_turn = step == 0 && number.is_multiple_of(every);
            if is_turn { scene.span(0, "ai_turn", at_ns, own.around(extra_ns)) - at_ns } else { 0 }
        }) + 1000;
    }
    fine(scene, span_format(dice))
}

/// A program that starts, runs, and ends.
pub(super) fn phases(dice: &mut Dice) -> Planted {
    let (mut scene, plan, count) = game(dice);
    let mut now = 0;
    for name in ["read_config", "load_assets", "compile_shaders"] {
        now = scene.span(0, name, now, dice.around(dice_ms(name) * MS)) + 2000;
    }
    for _ in 0..count {
        now = plan.play(&mut scene, dice, (0, now), |_, _, _| 0) + dice.around(5.0 * MS);
    }
    for name in ["save", "free_assets"] {
        now = scene.span(0, name, now, dice.around(30.0 * MS)) + 2000;
    }
    bystanders(&mut scene, dice, now);
    fine(scene, span_format(dice))
}

fn dice_ms(name: &str) -> f64 {
    name.len() as f64 * 6.0
}

/// Requests whose durations have a long tail.
pub(super) fn tails(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let sigma = dice.between(0.3, 0.8);
    let mut now = 0;
    for _ in 0..dice.whole(100, 800) {
        let start = now;
        for (name, ms) in [("parse", 0.3), ("query", 1.0), ("reply", 0.5)] {
            let dur_ns = (ms * MS * (dice.normal() * sigma).exp()) as i64;
            now = scene.span(0, name, now + 1000, dur_ns);
        }
        scene.span(0, "request", start, now + 1000 - start);
        now += dice.around(0.5 * MS);
    }
    fine(scene, span_format(dice))
}

/// Too short for any conclusion.
pub(super) fn short(dice: &mut Dice) -> Planted {
    let (mut scene, plan, _) = game(dice);
    let count = dice.whole(1, 12) as usize;
    let mut now = 0;
    for _ in 0..count {
        now = plan.play(&mut scene, dice, (0, now), |_, _, _| 0) + 1000;
    }
    fine(scene, span_format(dice))
}

/// A trace with only one name.
pub(super) fn lone(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let mean_ns = dice.between(0.001, 5.0) * MS;
    let mut now = 0;
    for _ in 0..dice.whole(50, 5000) {
        now = scene.span(0, "step", now, dice.around(mean_ns)) + dice.around(mean_ns / 10.0);
    }
    fine(scene, dice.one(&["easyprofiler", "wtf", "nytprof"]))
}

/// Functions that share the time equally.
pub(super) fn profile(dice: &mut Dice) -> Planted {
    let (mut scene, plan, count) = game(dice);
    work::frames(&mut scene, dice, &plan, count.min(200), 1.0);
    fine(scene, dice.one(&["nytprof", "pynytprof"]))
}

/// Threads that pass work on, one after the other.
pub(super) fn pipeline(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Read", "Transform", "Write"]);
    let mut now = 0;
    for _ in 0..dice.whole(60, 300) {
        let mut at = now;
        for (thread, name) in ["read_block", "transform_block", "write_block"].into_iter().enumerate() {
            at = scene.span(thread, name, at, dice.around(1.5 * MS)) + 1000;
        }
        now = at + 1000;
    }
    fine(scene, span_format(dice))
}

/// A log with a warning now and then, and few errors.
pub(super) fn log(dice: &mut Dice) -> Planted {
    let seconds = dice.between(20.0, 200.0);
    let mut all = logs::background(dice, seconds);
    let warnings = dice.whole(0, 80);
    all.extend(logs::lines(dice, ("WARN", "src/net.c", 77, "slow client"), warnings, (0.0, seconds)));
    let errors = dice.whole(0, 20);
    all.extend(logs::lines(dice, ("ERROR", "src/net.c", 99, "bad request"), errors, (0.0, seconds)));
    fine(logs::in_order(all), "cnanolog")
}

/// A log that starts with the lines of a startup.
pub(super) fn log_start(dice: &mut Dice) -> Planted {
    let seconds = dice.between(20.0, 100.0);
    let mut all = logs::background(dice, seconds);
    let count = dice.whole(20, 100);
    all.extend(logs::lines(dice, ("INFO", "src/start.c", 12, "module loaded"), count, (0.0, seconds / 50.0)));
    fine(logs::in_order(all), "cnanolog")
}

/// One block that is larger than all others.
pub(super) fn big_block(dice: &mut Dice) -> Planted {
    let seconds = dice.between(4.0, 15.0);
    let mut blocks = memory::busy(dice, seconds);
    let ts_ns = (dice.between(0.05, 0.8) * seconds * SECOND) as i64;
    let stack = memory::stack(("load_model", "shop/model.py", 9), dice);
    blocks.push(Block { ts_ns, freed_ns: None, bytes: 200_000_000, stack });
    fine(memory::scene(blocks), "memlyze")
}

/// A cache that fills up and then replaces its contents.
pub(super) fn cache(dice: &mut Dice) -> Planted {
    let seconds = dice.between(4.0, 15.0);
    let mut blocks = memory::busy(dice, seconds);
    let (rate, room) = (dice.between(20.0, 60.0), dice.between(0.1, 0.45) * seconds);
    let mut now = 0.0;
    while now < seconds {
        let freed_ns = (now + room < seconds).then_some(((now + room) * SECOND) as i64);
        let stack = memory::stack(("cache_put", "shop/cache.py", 30), dice);
        blocks.push(Block { ts_ns: (now * SECOND) as i64, freed_ns, bytes: 2000, stack });
        now += dice.between(0.5, 1.5) / rate;
    }
    fine(memory::scene(blocks), "memlyze")
}

/// Blocks that are allocated at the start and kept.
pub(super) fn long_lived(dice: &mut Dice) -> Planted {
    let seconds = dice.between(4.0, 15.0);
    let mut blocks = memory::busy(dice, seconds);
    for number in 0..dice.whole(50, 500) {
        let ts_ns = (seconds * 0.05 * SECOND) as i64 * number / 500;
        let stack = memory::stack(SITES[0], dice);
        blocks.push(Block { ts_ns, freed_ns: None, bytes: 3000, stack });
    }
    fine(memory::scene(blocks), "memlyze")
}

fn with_value(dice: &mut Dice, name: &str, value: impl Fn(&mut Dice, f64) -> f64) -> Planted {
    let (mut scene, plan, count) = game(dice);
    let end = work::frames(&mut scene, dice, &plan, count, 16.667 * MS);
    for number in 0..count {
        let value = value(dice, number as f64);
        scene.values.push((name.to_owned(), end * number as i64 / count as i64, value));
    }
    fine(scene, "easyprofiler")
}

/// A value that counts.
pub(super) fn index(dice: &mut Dice) -> Planted {
    let name = dice.one(&["frame", "index", "requests"]);
    with_value(dice, name, |_, at| at)
}

/// A value that drops repeatedly.
pub(super) fn sawtooth(dice: &mut Dice) -> Planted {
    let length = dice.between(10.0, 30.0);
    with_value(dice, "queue", move |dice, at| (at % length) * 3.0 + dice.normal())
}

/// A value that rises and stays.
pub(super) fn plateau(dice: &mut Dice) -> Planted {
    let steepness = dice.between(6.0, 15.0);
    with_value(dice, "cache MB", move |dice, at| (at * steepness / 5.0).min(60.0) + dice.normal() * 0.5)
}
