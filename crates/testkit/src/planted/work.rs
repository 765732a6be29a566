//! Ordinary work, as a background for problems.

use super::{Dice, Scene};

pub(super) const MS: f64 = 1e6;

const NAMES: &[&str] = &[
    "Update",
    "Physics",
    "Collide",
    "Scripts",
    "Animate",
    "Cull",
    "Draw",
    "Shadows",
    "Particles",
    "Audio",
    "Network",
    "parse",
    "encode",
    "query_db",
    "serialize",
    "compress",
    "route",
    "layout",
    "style",
    "paint",
    "composite",
    "game.World#update",
    "ai::plan",
    "Path::find",
    "Mesh::skin",
    "std::sort",
    "hash_rows",
    "join_tables",
    "tokenize",
];

/// The steps of a frame: names with their usual time, and the names inside them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) frame: String,
    pub(super) steps: Vec<Step>,
}

/// One step of a frame.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) mean_ns: f64,
    /// Names inside, with count and duration.
    pub(super) inner: Vec<(String, usize, f64)>,
}

impl Plan {
    /// Some steps that take about `total_ns` together.
    pub(super) fn new(dice: &mut Dice, total_ns: f64) -> Self {
        let count = dice.whole(3, 6) as usize;
        let names = dice.words(count * 2, NAMES);
        let weights: Vec<f64> = (0..count).map(|_| dice.between(0.6, 1.6)).collect();
        let sum: f64 = weights.iter().sum();
        let mut names = names.into_iter();
        let steps = weights.iter().map(|weight| {
            let name = names.next().unwrap_or_default();
            let mean_ns = total_ns * weight / sum;
            let inner = if dice.chance(0.5) {
                let calls = dice.whole(1, 4) as usize;
                names.next().map(|name| (name, calls, mean_ns * 0.7 / calls as f64)).into_iter().collect()
            } else {
                Vec::new()
            };
            Step { name, mean_ns, inner }
        });
        let steps = steps.collect();
        let frame = dice.one(&["Frame", "frame", "Tick", "RenderFrame", "MainLoop"]).to_owned();
        Self { frame, steps }
    }

    /// Adds a frame; `extra` is called for each step and returns additional time for it. Returns the end.
    pub(super) fn play(
        &self,
        scene: &mut Scene,
        dice: &mut Dice,
        (thread, start_ns): (usize, i64),
        mut extra: impl FnMut(&mut Scene, usize, i64) -> i64,
    ) -> i64 {
        let mut now = start_ns + dice.around(4000.0);
        for (number, step) in self.steps.iter().enumerate() {
            let begin = now;
            now += dice.around(1000.0);
            let inside: f64 = step.inner.iter().map(|(_, calls, mean_ns)| *calls as f64 * mean_ns).sum();
            for (name, calls, mean_ns) in &step.inner {
                for _ in 0..*calls {
                    let dur_ns = dice.around(*mean_ns);
                    now = scene.span(thread, name, now, dur_ns) + dice.around(500.0);
                }
            }
            now += dice.around((step.mean_ns - inside).max(1000.0));
            now += extra(scene, number, now);
            scene.span(thread, &step.name, begin, now - begin);
            now += dice.around(500.0);
        }
        now += dice.around(2000.0);
        scene.span(thread, &self.frame, start_ns, now - start_ns);
        now
    }
}

/// Adds ordinary frames; returns the end of the last.
pub(super) fn frames(scene: &mut Scene, dice: &mut Dice, plan: &Plan, count: usize, period_ns: f64) -> i64 {
    let mut now = 0;
    for number in 0..count as i64 {
        let start = now.max((number as f64 * period_ns) as i64);
        now = plan.play(scene, dice, (0, start), |_, _, _| 0) + 1000;
    }
    now
}

/// A few threads with other work, until a time.
pub(super) fn bystanders(scene: &mut Scene, dice: &mut Dice, until_ns: i64) {
    let roles = [("Audio", "mix", 1.2, 10.0), ("Loader", "load_chunk", 6.0, 70.0), ("Network", "receive", 0.4, 25.0)];
    for (thread, name, busy_ms, every_ms) in roles.into_iter().take(dice.whole(0, 3) as usize) {
        scene.threads.push(thread.to_owned());
        let thread = scene.threads.len() - 1;
        let mut now = dice.around(3.0 * MS);
        while now < until_ns {
            let dur_ns = dice.around(busy_ms * MS);
            scene.span(thread, name, now, dur_ns);
            now += dur_ns.max(dice.around(every_ms * MS));
        }
    }
}

/// A format that holds spans of several threads.
pub(super) fn span_format(dice: &mut Dice) -> &'static str {
    dice.one(&["easyprofiler", "easyprofiler", "wtf"])
}
