//! Memory that leaks, churns, or is freed twice.

use super::{Block, Dice, Planted, Scene};

const SECOND: f64 = 1e9;

/// A site: function, file, line.
pub(super) type Site = (&'static str, &'static str, u32);

pub(super) const SITES: &[Site] = &[
    ("render", "shop/page.py", 31),
    ("parse", "shop/orders.py", 12),
    ("load", "shop/images.py", 77),
    ("encode", "shop/json.py", 5),
    ("compress", "shop/zip.py", 140),
    ("read_row", "shop/db.py", 63),
    ("split", "shop/text.py", 8),
    ("to_utf8", "shop/text.py", 21),
];

pub(super) fn stack(site: Site, dice: &mut Dice) -> Vec<(String, String, u32)> {
    let outer = [("handle", "shop/web.py", 40), ("batch", "shop/jobs.py", 18), ("main", "shop/app.py", 3)];
    let caller = dice.one(&outer[..2]);
    [site, caller, outer[2]].map(|(function, file, line)| (function.to_owned(), file.to_owned(), line)).to_vec()
}

/// Sites that allocate and free; the rates are blocks per second.
pub(super) fn busy(dice: &mut Dice, seconds: f64) -> Vec<Block> {
    let mut blocks = Vec::new();
    for site in &SITES[..dice.whole(4, SITES.len() as i64) as usize] {
        let (rate, size, life) =
            (dice.between(15.0, 50.0), dice.between(64.0, 8000.0), dice.between(0.001, 0.05) * seconds);
        let mut now = dice.share() / rate;
        while now < seconds {
            let freed = now - dice.share().max(1e-9).ln() * life;
            let bytes = dice.around(size) as u64;
            blocks.push(Block {
                ts_ns: (now * SECOND) as i64,
                freed_ns: (freed < seconds).then_some((freed * SECOND) as i64 + 1),
                bytes,
                stack: stack(*site, dice),
            });
            now += dice.between(0.3, 1.7) / rate;
        }
    }
    blocks
}

pub(super) fn scene(mut blocks: Vec<Block>) -> Scene {
    blocks.sort_by_key(|block| block.ts_ns);
    Scene { blocks, ..Scene::new(&["main"]) }
}

/// Some blocks of a site are never freed.
pub(super) fn leak(dice: &mut Dice) -> Planted {
    let seconds = dice.between(4.0, 20.0);
    let mut blocks = busy(dice, seconds);
    let site: Site = dice.one(&[
        ("remember", "shop/cache.py", 19),
        ("subscribe", "shop/events.py", 55),
        ("Session::new", "src/session.cc", 102),
    ]);
    let (rate, size) = (dice.between(8.0, 40.0), dice.between(200.0, 5000.0));
    let kept = dice.between(0.3, 1.0);
    let mut now = dice.share() / rate;
    while now < seconds {
        let freed_ns = (!dice.chance(kept)).then_some(((now + 0.002) * SECOND) as i64);
        let bytes = dice.around(size) as u64;
        blocks.push(Block { ts_ns: (now * SECOND) as i64, freed_ns, bytes, stack: stack(site, dice) });
        now += dice.between(0.3, 1.7) / rate;
    }
    Planted { scene: scene(blocks), format: "memlyze", blamed: vec![site.0.to_owned()] }
}

/// A site allocates and frees all the time.
pub(super) fn churn(dice: &mut Dice) -> Planted {
    let seconds = dice.between(3.0, 8.0);
    let mut blocks = busy(dice, seconds);
    let site: Site = dice.one(&[("format_price", "shop/price.py", 44), ("concat", "src/string.cc", 12)]);
    let count = blocks.len() * dice.whole(2, 5) as usize + 1000;
    for number in 0..count {
        let now = seconds * number as f64 / count as f64;
        let bytes = dice.around(150.0) as u64;
        let ts_ns = (now * SECOND) as i64;
        blocks.push(Block { ts_ns, freed_ns: Some(ts_ns + dice.around(20_000.0)), bytes, stack: stack(site, dice) });
    }
    Planted { scene: scene(blocks), format: "memlyze", blamed: vec![site.0.to_owned()] }
}

/// Some blocks are freed again.
pub(super) fn double_frees(dice: &mut Dice) -> Planted {
    let seconds = dice.between(3.0, 10.0);
    let mut scene = scene(busy(dice, seconds));
    let site: Site = ("close", "src/file.cc", 71);
    for _ in 0..dice.whole(1, 6) {
        let ts_ns = (dice.between(0.1, 0.7) * seconds * SECOND) as i64;
        scene.blocks.push(Block { ts_ns, freed_ns: Some(ts_ns + 50_000), bytes: 96, stack: stack(site, dice) });
        scene.double_frees.push((ts_ns + 200_000, scene.blocks.len() - 1));
    }
    Planted { scene, format: "memlyze", blamed: vec![site.0.to_owned()] }
}
