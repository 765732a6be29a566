//! Pools that do not share the work, and threads that block each other.

use super::{
    Dice, Planted, Scene,
    work::{MS, span_format},
};

struct Pool {
    names: Vec<String>,
    first: usize,
}

fn pool(scene: &mut Scene, dice: &mut Dice) -> Pool {
    let (base, count) = (dice.one(&["Worker ", "pool-1-thread-", "JobThread#", "tokio-worker-"]), dice.whole(3, 8));
    let names: Vec<String> = (1..=count).map(|number| format!("{base}{number}")).collect();
    let first = scene.threads.len();
    scene.threads.extend(names.iter().cloned());
    Pool { names, first }
}

/// Jobs on a thread that is busy for a share of the time.
fn jobs(scene: &mut Scene, dice: &mut Dice, thread: usize, load: f64, until_ns: i64) {
    let mut now = dice.around(0.5 * MS);
    let has_waits = thread.is_multiple_of(2) && dice.chance(0.7);
    while now < until_ns {
        let dur_ns = dice.around(2.0 * MS);
        let start = now;
        now = scene.span(thread, "compress_block", start + 2000, dur_ns * 2 / 3);
        now = scene.span(thread, "job", start, now - start + dur_ns / 3);
        let idle_ns = dice.around(2.0 * MS * (1.0 - load) / load.max(0.001));
        if has_waits && idle_ns > 10_000 {
            scene.span(thread, "wait_for_job", now + 1000, idle_ns - 2000);
        }
        now += idle_ns;
    }
}

/// One thread has far more work than the others.
pub(super) fn uneven(dice: &mut Dice) -> Planted {
    lopsided(dice, [0.15, 0.4], |dice, load| (load * dice.between(2.3, 4.0)).min(0.97))
}

/// One thread has almost no work.
pub(super) fn idle(dice: &mut Dice) -> Planted {
    lopsided(dice, [0.5, 0.9], |dice, load| load * dice.between(0.01, 0.12))
}

/// A pool in which one thread has a different load than the rest.
fn lopsided(dice: &mut Dice, [least, most]: [f64; 2], other_load: fn(&mut Dice, f64) -> f64) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let pool = pool(&mut scene, dice);
    let until_ns = (dice.between(0.4, 1.2) * 1e9) as i64;
    let culprit = dice.whole(0, pool.names.len() as i64 - 1) as usize;
    let load = dice.between(least, most);
    for number in 0..pool.names.len() {
        let own = if number == culprit { other_load(dice, load) } else { load };
        jobs(&mut scene, dice, pool.first + number, own, until_ns);
    }
    scene.span(0, "schedule", 0, until_ns / 20);
    Planted { scene, format: span_format(dice), blamed: vec![pool.names[culprit].clone()] }
}

/// Only one thread makes progress at a time.
pub(super) fn convoy(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let pool = pool(&mut scene, dice);
    let has_waits = dice.chance(0.5);
    let lock = dice.one(&["lock(queue)", "Mutex::acquire", "wait for table lock"]);
    let held = dice.one(&["update_table", "append_row", "transaction"]);
    let count = pool.names.len();
    let until_ns = (dice.between(0.3, 0.9) * 1e9) as i64;
    let mut free_at = vec![0_i64; count];
    let mut lock_at = 0;
    while lock_at < until_ns {
        // The thread that has waited longest is next.
        let next = (0..count).min_by_key(|number| free_at[*number]).unwrap_or(0);
        let thread = pool.first + next;
        let asked = free_at[next];
        let start = asked.max(lock_at);
        if has_waits && start > asked {
            scene.span(thread, lock, asked, start - asked);
        }
        lock_at = scene.span(thread, held, start, dice.around(1.0 * MS)) + 500;
        free_at[next] = scene.span(thread, "prepare", lock_at, dice.around(0.3 * MS)) + 1000;
    }
    let blamed = if has_waits { vec![lock.to_owned(), held.to_owned()] } else { vec![held.to_owned()] };
    Planted { scene, format: span_format(dice), blamed }
}

/// Threads wait for a lock during much of their time.
pub(super) fn contention(dice: &mut Dice) -> Planted {
    let mut scene = Scene::new(&["Main"]);
    let pool = pool(&mut scene, dice);
    let lock = dice.one(&["lock(cache)", "Mutex::lock", "acquire_semaphore"]);
    let until_ns = (dice.between(0.3, 0.9) * 1e9) as i64;
    let part = dice.between(0.4, 0.75);
    for number in 0..pool.names.len() {
        let thread = pool.first + number;
        let mut now = dice.around(0.4 * MS);
        while now < until_ns {
            now = scene.span(thread, "handle", now, dice.around(1.0 * MS)) + 500;
            now = scene.span(thread, lock, now, dice.around(1.0 * MS * part / (1.0 - part))) + 500;
        }
    }
    Planted { scene, format: span_format(dice), blamed: vec![lock.to_owned()] }
}
