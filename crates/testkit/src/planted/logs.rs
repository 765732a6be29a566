//! Logs with bursts and storms.

use super::{Dice, LogRow, Planted, Scene};

const SECOND: f64 = 1e9;

/// Ordinary lines: sites with their rates.
pub(super) fn background(dice: &mut Dice, seconds: f64) -> Vec<LogRow> {
    let texts =
        ["request handled", "cache hit", "session opened", "session closed", "heartbeat", "job queued", "sent reply"];
    let mut lines = Vec::new();
    let sites = dice.whole(4, 7) as usize;
    for (number, text) in dice.words(sites, &texts).into_iter().enumerate() {
        let rate = dice.between(2.0, 30.0);
        let place = (format!("src/{}.c", dice.one(&["net", "db", "main", "pool"])), 10 + 17 * number as u32);
        let level = dice.one(&["INFO", "DEBUG"]);
        let mut now = dice.share() / rate;
        while now < seconds {
            lines.push(LogRow { ts_ns: (now * SECOND) as i64, level, place: place.clone(), text: text.clone() });
            now += dice.between(0.5, 1.5) / rate;
        }
    }
    lines
}

/// Lines of a site in a range of seconds.
pub(super) fn lines(
    dice: &mut Dice,
    (level, file, line, text): (&'static str, &str, u32, &str),
    count: i64,
    (from, to): (f64, f64),
) -> Vec<LogRow> {
    let all = (0..count).map(|_| LogRow {
        ts_ns: (dice.between(from, to) * SECOND) as i64,
        level,
        place: (file.to_owned(), line),
        text: text.to_owned(),
    });
    all.collect()
}

pub(super) fn in_order(mut logs: Vec<LogRow>) -> Scene {
    logs.sort_by_key(|line| line.ts_ns);
    Scene { logs, ..Scene::new(&["main"]) }
}

/// Errors that come together, after warnings.
pub(super) fn errors(dice: &mut Dice) -> Planted {
    let seconds = dice.between(20.0, 200.0);
    let mut all = background(dice, seconds);
    let from = seconds * dice.between(0.2, 0.7);
    let length = seconds * dice.between(0.02, 0.12);
    let text = dice.one(&["query failed", "connection reset by peer", "disk full", "lost quorum"]);
    let count = dice.whole(8, 80);
    all.extend(lines(dice, ("ERROR", "src/store.c", 310, text), count, (from, from + length)));
    let warnings = dice.whole(0, 60);
    all.extend(lines(dice, ("WARN", "src/store.c", 288, "slow reply"), warnings, (from - length, from + length)));
    let stray = dice.whole(0, 3);
    all.extend(lines(dice, ("ERROR", "src/net.c", 77, "bad request"), stray, (0.0, seconds)));
    Planted { scene: in_order(all), format: "cnanolog", blamed: vec![text.to_owned(), "src/store.c:310".to_owned()] }
}

/// A site that logs very often for a short time.
pub(super) fn storm(dice: &mut Dice) -> Planted {
    let seconds = dice.between(20.0, 120.0);
    let mut all = background(dice, seconds);
    let from = seconds * dice.between(0.1, 0.8);
    let length = seconds * dice.between(0.02, 0.1);
    let text = dice.one(&["retrying", "buffer not ready", "ignoring packet"]);
    let level = dice.one(&["INFO", "DEBUG", "WARN"]);
    let count = (length * dice.between(400.0, 1500.0)) as i64 + 400;
    all.extend(lines(dice, (level, "src/retry.c", 42, text), count, (from, from + length)));
    Planted { scene: in_order(all), format: "cnanolog", blamed: vec![text.to_owned(), "src/retry.c:42".to_owned()] }
}

/// A site that logs very often all the time.
pub(super) fn flood(dice: &mut Dice) -> Planted {
    let seconds = dice.between(10.0, 60.0);
    let mut all = background(dice, seconds);
    let text = dice.one(&["enter loop", "tick", "value is 0"]);
    let count = all.len() as i64 * dice.whole(4, 9);
    all.extend(lines(dice, ("DEBUG", "src/loop.c", 9, text), count, (0.0, seconds)));
    Planted { scene: in_order(all), format: "cnanolog", blamed: vec![text.to_owned(), "src/loop.c:9".to_owned()] }
}
