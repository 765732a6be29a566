//! Frames that are slow, sometimes or always.

use super::{
    Dice, Planted, Scene,
    work::{MS, Plan, bystanders, frames, span_format},
};

/// Why frames are slow.
struct Slow {
    /// Which frames.
    at: Vec<usize>,
    frames: usize,
    period_ns: f64,
}

fn some_slow(dice: &mut Dice) -> Slow {
    let frames = dice.whole(100, 500) as usize;
    let count = dice.whole(1, 5).min(frames as i64 / 30) as usize;
    let at = (0..count).map(|_| dice.whole(frames as i64 / 10, frames as i64 * 9 / 10) as usize).collect();
    Slow { at, frames, period_ns: 16.667 * MS }
}

fn played(
    dice: &mut Dice,
    slow: &Slow,
    mut extra: impl FnMut(&mut Scene, &mut Dice, &Plan, i64) -> i64,
) -> (Scene, Plan) {
    let total_ns = dice.between(2.0, 10.0) * MS;
    let plan = Plan::new(dice, total_ns);
    let mut scene = Scene::new(&["Main"]);
    let at_step = dice.whole(0, plan.steps.len() as i64 - 1) as usize;
    let mut now = 0;
    for number in 0..slow.frames {
        let start = now.max((number as f64 * slow.period_ns) as i64);
        let is_slow = slow.at.contains(&number);
        let mut own = Dice::new(dice.whole(0, i64::from(i32::MAX)) as u64);
        now = plan.play(&mut scene, dice, (0, start), |scene, step, at_ns| {
            if is_slow && step == at_step { extra(scene, &mut own, &plan, at_ns) } else { 0 }
        }) + 1000;
    }
    bystanders(&mut scene, dice, now);
    (scene, plan)
}

fn usual_ns(plan: &Plan) -> f64 {
    plan.steps.iter().map(|step| step.mean_ns).sum()
}

/// A child of a frame is slow.
pub(super) fn by_child(dice: &mut Dice) -> Planted {
    let slow = some_slow(dice);
    let child = dice.one(&["LoadTexture", "save_game", "Shader::compile", "resolve_dns", "rebuild_index"]);
    let times = dice.between(1.0, 5.0);
    let (scene, _) = played(dice, &slow, |scene, dice, plan, at_ns| {
        let dur_ns = dice.around(usual_ns(plan) * times);
        scene.span(0, child, at_ns, dur_ns) - at_ns
    });
    Planted { scene, format: span_format(dice), blamed: vec![child.to_owned()] }
}

/// A child of a frame is called very often.
pub(super) fn by_calls(dice: &mut Dice) -> Planted {
    let slow = some_slow(dice);
    let child = dice.one(&["spawn_entity", "lookup", "decode_tile"]);
    let times = dice.between(1.5, 4.0);
    let (scene, _) = played(dice, &slow, |scene, dice, plan, at_ns| {
        let calls = dice.whole(10, 60);
        let mut now = at_ns;
        for _ in 0..calls {
            now = scene.span(0, child, now, dice.around(usual_ns(plan) * times / calls as f64)) + 200;
        }
        now - at_ns
    });
    Planted { scene, format: span_format(dice), blamed: vec![child.to_owned()] }
}

/// The garbage collector stops frames.
pub(super) fn by_gc(dice: &mut Dice) -> Planted {
    let slow = some_slow(dice);
    let name = dice.one(&["javascript#gc", "GC", "gc_collect", "GarbageCollector::sweep"]);
    let gc_ns = dice.between(10.0, 60.0) * MS;
    let (scene, _) =
        played(dice, &slow, |scene, dice, _, at_ns| scene.span(0, name, at_ns, dice.around(gc_ns)) - at_ns);
    Planted { scene, format: span_format(dice), blamed: vec![name.to_owned()] }
}

/// The thread does not run in some frames.
pub(super) fn by_waiting(dice: &mut Dice) -> Planted {
    let slow = some_slow(dice);
    let has_span = dice.chance(0.6);
    let name = dice.one(&["ReadFile", "flush", "send_packet"]);
    let other = dice.one(&["backup.exe", "7 compositor", "indexer"]);
    let times = dice.between(1.5, 5.0);
    let mut steps = Vec::new();
    let (scene, plan) = played(dice, &slow, |scene, dice, plan, at_ns| {
        let off_ns = dice.around(usual_ns(plan) * times);
        scene.switches.push((0, at_ns + 10, off_ns - 20, other.to_owned()));
        if has_span {
            scene.span(0, name, at_ns, off_ns);
        }
        steps.push(());
        off_ns
    });
    let blamed = if has_span {
        vec![name.to_owned()]
    } else {
        plan.steps.iter().map(|step| step.name.clone()).chain([plan.frame.clone()]).collect()
    };
    Planted { scene, format: "easyprofiler", blamed }
}

/// Extra work every so many frames.
pub(super) fn periodic(dice: &mut Dice) -> Planted {
    let frames = dice.whole(200, 600) as usize;
    let every = dice.whole(20, 60) as usize;
    let slow = Slow { at: (every..frames).step_by(every).collect(), frames, period_ns: 16.667 * MS };
    let child = dice.one(&["autosave", "stats_flush", "defragment"]);
    let times = dice.between(1.0, 4.0);
    let (scene, _) = played(dice, &slow, |scene, dice, plan, at_ns| {
        scene.span(0, child, at_ns, dice.around(usual_ns(plan) * times)) - at_ns
    });
    Planted { scene, format: span_format(dice), blamed: vec![child.to_owned()] }
}

/// Every frame takes too long, most of it in one step.
pub(super) fn over_budget(dice: &mut Dice) -> Planted {
    let total_ns = dice.between(19.0, 45.0) * MS;
    let mut plan = Plan::new(dice, total_ns * 0.35);
    let step = dice.whole(0, plan.steps.len() as i64 - 1) as usize;
    plan.steps[step].mean_ns = total_ns * 0.65;
    plan.steps[step].inner.clear();
    plan.frame = dice.one(&["Frame", "frame", "Tick"]).to_owned();
    let count = dice.whole(60, 300) as usize;
    let mut scene = Scene::new(&["Main"]);
    let end = frames(&mut scene, dice, &plan, count, 16.667 * MS);
    bystanders(&mut scene, dice, end);
    Planted { scene, format: span_format(dice), blamed: vec![plan.steps[step].name.clone()] }
}

/// A step becomes slower at some time.
pub(super) fn change(dice: &mut Dice) -> Planted {
    let total_ns = dice.between(3.0, 8.0) * MS;
    let plan = Plan::new(dice, total_ns);
    let count = dice.whole(150, 500) as usize;
    let at = dice.whole(count as i64 * 3 / 10, count as i64 * 7 / 10) as usize;
    let child = dice.one(&["filter", "simulate_water", "check_rules"]);
    let usual = total_ns * dice.between(0.1, 0.3);
    let times = dice.between(1.6, 3.0);
    let mut scene = Scene::new(&["Main"]);
    let mut now = 0;
    for number in 0..count {
        let start = now.max((number as f64 * 16.667 * MS) as i64);
        let mut own = Dice::new(dice.whole(0, i64::from(i32::MAX)) as u64);
        now = plan.play(&mut scene, dice, (0, start), |scene, step, at_ns| {
            let mean = if number < at { usual } else { usual * times };
            if step == 0 { scene.span(0, child, at_ns, own.around(mean)) - at_ns } else { 0 }
        }) + 1000;
    }
    bystanders(&mut scene, dice, now);
    Planted { scene, format: span_format(dice), blamed: vec![child.to_owned()] }
}
