//! Hot spots, recursion, and values that grow.

use super::{
    Dice, Planted, Scene,
    work::{MS, Plan, bystanders, frames, span_format},
};

/// One step takes most of the time.
pub(super) fn hot(dice: &mut Dice) -> Planted {
    let total_ns = dice.between(3.0, 9.0) * MS;
    let share = dice.between(0.4, 0.8);
    let mut plan = Plan::new(dice, total_ns * (1.0 - share));
    let step = dice.whole(0, plan.steps.len() as i64 - 1) as usize;
    plan.steps[step].mean_ns = total_ns * share;
    plan.steps[step].inner.clear();
    let count = dice.whole(60, 300) as usize;
    let mut scene = Scene::new(&["Main"]);
    frames(&mut scene, dice, &plan, count, 16.667 * MS);
    let format = dice.one(&["easyprofiler", "wtf", "nytprof"]);
    Planted { scene, format, blamed: vec![plan.steps[step].name.clone()] }
}

/// A function that many others call, each for a little of the time.
pub(super) fn hidden(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let name = dice.one(&["memcpy", "hash", "String::clone", "utf8_decode"]);
    let callers: Vec<String> = (0..dice.whole(12, 40)).map(|number| format!("handler_{number}")).collect();
    let part = dice.between(0.35, 0.6);
    let mut now = 0;
    for _ in 0..dice.whole(30, 80) {
        let start = now;
        now += 2000;
        for caller in &callers {
            let begin = now;
            let total = dice.around(0.2 * MS);
            now += (total as f64 * (1.0 - part)) as i64;
            now = scene.span(0, name, now, (total as f64 * part) as i64);
            scene.span(0, caller, begin, now - begin + 500);
            now += 1500;
        }
        scene.span(0, "request", start, now - start);
        now += 10_000;
    }
    let format = dice.one(&["easyprofiler", "wtf", "nytprof", "pynytprof"]);
    Planted { scene, format, blamed: vec![name.to_owned()] }
}

/// The same in a profile that only has sums.
pub(super) fn sums(dice: &mut Dice) -> Planted {
    let planted = if dice.chance(0.5) { hot(dice) } else { hidden(dice) };
    Planted { format: "pynytprof", ..planted }
}

/// A function that calls itself twice each time.
pub(super) fn recursion(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let name = dice.one(&["fib", "solve", "expand_macro"]);
    let levels = dice.whole(11, 13);
    let mut now = dice.around(5.0 * MS);
    scene.span(0, "load", 0, now);
    let start = now;
    calls_itself(&mut scene, dice, name, levels, &mut now);
    scene.span(0, "evaluate", start - 500, now - start + 1000);
    let dur_ns = dice.around(2.0 * MS);
    scene.span(0, "print", now + 2000, dur_ns);
    Planted { scene, format: dice.one(&["easyprofiler", "wtf", "nytprof"]), blamed: vec![name.to_owned()] }
}

fn calls_itself(scene: &mut Scene, dice: &mut Dice, name: &str, levels: i64, now: &mut i64) {
    let start = *now;
    *now += dice.around(4000.0);
    if levels > 0 {
        calls_itself(scene, dice, name, levels - 1, now);
        *now += 300;
        calls_itself(scene, dice, name, levels - 1, now);
    }
    *now += dice.around(2000.0);
    scene.span(0, name, start, *now - start);
}

/// A function that calls itself very deeply.
pub(super) fn deep(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let name = dice.one(&["walk_tree", "resolve", "visit"]);
    let mut now = 0;
    for _ in 0..dice.whole(3, 12) {
        let levels = dice.whole(80, 220);
        let start = now;
        let mut starts = Vec::new();
        for _ in 0..levels {
            starts.push(now);
            now += dice.around(8000.0);
        }
        for begin in starts.into_iter().rev() {
            now += dice.around(1500.0);
            scene.span(0, name, begin, now - begin);
        }
        scene.span(0, "evaluate", start - 200, now - start + 400);
        now += 5000;
        now = scene.span(0, "print", now, dice.around(0.3 * MS)) + 5000;
    }
    Planted { scene, format: dice.one(&["easyprofiler", "wtf"]), blamed: vec![name.to_owned()] }
}

/// Very many very short spans of one name.
pub(super) fn tiny(dice: &mut Dice) -> Planted {
    let plan = Plan::new(dice, 4.0 * MS);
    let name = dice.one(&["get_pixel", "Vec::push", "is_visible"]);
    let calls = dice.whole(100, 300);
    let mut scene = Scene::new(&["Main"]);
    let mut now = 0;
    for _ in 0..dice.whole(60, 150) {
        let mut own = Dice::new(dice.whole(0, i64::from(i32::MAX)) as u64);
        now = plan.play(&mut scene, dice, (0, now), |scene, step, at_ns| {
            let mut at = at_ns;
            for _ in 0..if step == 0 { calls } else { 0 } {
                at = scene.span(0, name, at, own.around(800.0)) + 150;
            }
            at - at_ns
        }) + 1000;
    }
    Planted { scene, format: span_format(dice), blamed: vec![name.to_owned()] }
}

/// A value that fluctuates but grows overall.
pub(super) fn growing_value(dice: &mut Dice) -> Planted {
    let plan = Plan::new(dice, 5.0 * MS);
    let name = dice.one(&["queue length", "open handles", "heap MB"]);
    let count = dice.whole(100, 400) as usize;
    let mut scene = Scene::new(&["Main"]);
    let end = frames(&mut scene, dice, &plan, count, 16.667 * MS);
    let (base, slope, noise) = (dice.between(5.0, 100.0), dice.between(0.3, 3.0), dice.between(0.5, 8.0));
    for number in 0..count {
        let ts_ns = end * number as i64 / count as i64;
        let value = base + slope * number as f64 + noise * dice.normal();
        scene.values.push((name.to_owned(), ts_ns, value.round()));
        scene.values.push(("frame number".to_owned(), ts_ns + 100, number as f64));
        scene.values.push(("temperature".to_owned(), ts_ns + 200, 60.0 + dice.normal() * 2.0));
    }
    bystanders(&mut scene, dice, end);
    Planted { scene, format: "easyprofiler", blamed: vec![name.to_owned()] }
}
