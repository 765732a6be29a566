//! Traces with a planted problem, and clean ones: what `advise` has to find, and what it must not report.
//!
//! Each family is a function of random numbers, which vary names, sizes, noise, threads and formats.

mod clean;
mod dice;
mod fleet;
mod growth;
mod held_back;
mod logs;
mod made;
mod memory;
mod profile;
mod scene;
mod score;
mod shapes;
mod slow;
mod threads;
mod work;

pub use self::{
    dice::Dice,
    fleet::{FLEET_TEMPLATE, write_fleet, write_run},
    growth::{Verb, assert_linear, assert_program_is_linear, is_complete},
    made::Made,
    scene::{Block, LogRow, Scene, SpanRow},
    score::{Blame, FamilyScore, Score},
    shapes::{SHAPES, Shape, evals},
};
use traceloom_core::Result;
use traceloom_mapping::Trace;

/// A family of traces.
pub struct Family {
    /// The problem that is planted.
    pub name: &'static str,
    /// Makes a trace of the family.
    pub plant: fn(&mut Dice) -> Planted,
}

/// A trace and its problem.
#[derive(Debug)]
pub struct Planted {
    /// The rows.
    pub scene: Scene,
    /// The format of the file.
    pub format: &'static str,
    /// Names that may be blamed; empty if there is no problem.
    pub blamed: Vec<String>,
}

impl Planted {
    /// Writes the trace as a file of its format and opens it.
    pub fn trace(&self) -> Result<Trace> {
        self.scene.written(self.format)
    }
}

/// Families with a problem.
pub static PROBLEMS: &[Family] = &[
    Family { name: "slow frames by a child", plant: slow::by_child },
    Family { name: "slow frames by more calls", plant: slow::by_calls },
    Family { name: "slow frames by GC", plant: slow::by_gc },
    Family { name: "slow frames by waiting off CPU", plant: slow::by_waiting },
    Family { name: "outliers with a period", plant: slow::periodic },
    Family { name: "missed budget", plant: slow::over_budget },
    Family { name: "change in mid-trace", plant: slow::change },
    Family { name: "hot function", plant: profile::hot },
    Family { name: "hidden hot function", plant: profile::hidden },
    Family { name: "hot function in sums", plant: profile::sums },
    Family { name: "recursion explosion", plant: profile::recursion },
    Family { name: "deep recursion", plant: profile::deep },
    Family { name: "storm of tiny spans", plant: profile::tiny },
    Family { name: "uneven pool", plant: threads::uneven },
    Family { name: "idle worker", plant: threads::idle },
    Family { name: "threads in lock-step", plant: threads::convoy },
    Family { name: "lock contention", plant: threads::contention },
    Family { name: "error burst", plant: logs::errors },
    Family { name: "log storm", plant: logs::storm },
    Family { name: "log flood", plant: logs::flood },
    Family { name: "leak", plant: memory::leak },
    Family { name: "churn", plant: memory::churn },
    Family { name: "double frees", plant: memory::double_frees },
    Family { name: "growing value", plant: profile::growing_value },
    Family { name: "held back: slow under vsync", plant: held_back::slow_under_vsync },
    Family { name: "held back: new work", plant: held_back::new_work },
    Family { name: "held back: named pool", plant: held_back::named_pool },
    Family { name: "held back: two error sites", plant: held_back::two_error_sites },
    Family { name: "held back: leak by many ways", plant: held_back::leak_by_many_ways },
];

/// Families without a problem.
pub static CLEAN: &[Family] = &[
    Family { name: "steady frames", plant: clean::frames },
    Family { name: "warm-up", plant: clean::warm_up },
    Family { name: "roles", plant: clean::roles },
    Family { name: "vsync", plant: clean::vsync },
    Family { name: "even pool", plant: clean::pool },
    Family { name: "waiting for work", plant: clean::waiting },
    Family { name: "every second frame", plant: clean::bimodal },
    Family { name: "phases", plant: clean::phases },
    Family { name: "long tails", plant: clean::tails },
    Family { name: "short trace", plant: clean::short },
    Family { name: "one thread, one name", plant: clean::lone },
    Family { name: "even profile", plant: clean::profile },
    Family { name: "pipeline", plant: clean::pipeline },
    Family { name: "quiet log", plant: clean::log },
    Family { name: "log with a start", plant: clean::log_start },
    Family { name: "one big block", plant: clean::big_block },
    Family { name: "cache with a bound", plant: clean::cache },
    Family { name: "long-lived blocks", plant: clean::long_lived },
    Family { name: "index", plant: clean::index },
    Family { name: "values that come back", plant: clean::sawtooth },
    Family { name: "value with a plateau", plant: clean::plateau },
    Family { name: "held back: lazy pool", plant: held_back::lazy_pool },
    Family { name: "held back: sum of bytes", plant: held_back::sum_of_bytes },
    Family { name: "held back: event loop", plant: held_back::event_loop },
];
