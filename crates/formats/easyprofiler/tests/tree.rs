//! Parents and depths: computed from times alone, with the same result in memory and in a file.

use traceloom_core::{Limits, Random, Result};
use traceloom_easyprofiler::{Node, RunNesting, Tree, TreeBuilder, TreeRun};

/// The nodes of one thread.
fn nodes_of(times: &[(u64, u64)]) -> Vec<Node> {
    let mut builder = TreeBuilder::new(&Limits::default());
    builder.thread(1).unwrap();
    times.iter().for_each(|(begin, end)| builder.push(*begin, *end).unwrap());
    builder.finish().unwrap().nodes().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_block_takes_the_blocks_inside_it() {
    let node = |parent, depth, children_ns| Node { parent, depth, children_ns };
    let frame = nodes_of(&[(10, 20), (30, 40), (5, 45), (50, 60), (0, 100), (110, 120)]);
    let expected = [
        node(Some(2), 2, 0),
        node(Some(2), 2, 0),
        node(Some(4), 1, 20),
        node(Some(4), 1, 0),
        node(None, 0, 50),
        node(None, 0, 0),
    ];
    assert_eq!(frame, expected);
    // A block that starts where the last one ends is next to it; one that starts with it is around it.
    assert_eq!(nodes_of(&[(10, 20), (20, 30)]).iter().map(|node| node.depth).collect::<Vec<_>>(), [0, 0]);
    assert_eq!(nodes_of(&[(10, 20), (10, 30)]).iter().map(|node| node.depth).collect::<Vec<_>>(), [1, 0]);
    // Blocks that overlap without nesting are treated as nested, as in easy_profiler.
    assert_eq!(nodes_of(&[(10, 20), (15, 25)])[0].parent, Some(1));
}

#[test]
fn a_spilled_tree_is_the_resident_one() {
    const COUNT: u64 = 25_000;
    let flat = |index: u64| (10 * index, 10 * index + 5);
    let deep = |index: u64| (COUNT - index, COUNT + index);
    let mut noise = Random(7);
    let mixed: Vec<_> =
        (0..COUNT).map(|index| (10 * index - noise.index(10 * index as usize + 1) as u64, 10 * index)).collect();
    for times in [(0..COUNT).map(flat).collect(), (0..COUNT).map(deep).collect(), mixed] {
        let (resident, spilled) = (nodes(&times, u64::MAX), nodes(&times, 0));
        assert_eq!(resident.len(), 2 * times.len());
        assert!(resident == spilled);
    }
    let chain = nodes(&(0..COUNT).map(deep).collect::<Vec<_>>(), 0);
    assert_eq!(chain.iter().map(|node| u64::from(node.depth)).max(), Some(COUNT - 1));
}

#[test]
fn how_often_threads_take_turns_makes_no_difference() {
    let mut noise = Random(3);
    let times: Vec<_> =
        (0..2_000).map(|index| (10 * index - noise.index(10 * index as usize + 1) as u64, 10 * index)).collect();
    let shape = |section: usize| {
        let nodes = in_turns(&times, section, u64::MAX);
        let first = nodes.chunks(2 * section).flat_map(|turn| turn.iter().take(turn.len() / 2));
        first.map(|node| (node.depth, node.children_ns)).collect::<Vec<_>>()
    };
    let whole = shape(times.len());
    assert!(whole.iter().any(|(depth, _)| *depth > 3));
    for section in [1, 7, 500] {
        assert_eq!(shape(section), whole, "{section} blocks at a time");
    }
}

fn nodes(times: &[(u64, u64)], tree_bytes: u64) -> Vec<Node> {
    in_turns(times, 9_000, tree_bytes)
}

/// The same blocks in two alternating threads.
fn in_turns(times: &[(u64, u64)], section: usize, tree_bytes: u64) -> Vec<Node> {
    let mut builder = TreeBuilder::new(&Limits::with(|limits| limits.tree_bytes = tree_bytes));
    for section in times.chunks(section) {
        for thread in [1, 2] {
            builder.thread(thread).unwrap();
            section.iter().for_each(|(begin, end)| builder.push(*begin, *end).unwrap());
        }
    }
    assert_eq!(builder.has_spilled(), tree_bytes == 0);
    builder.finish().unwrap().nodes().collect::<Result<_, _>>().unwrap()
}

#[test]
fn runs_that_are_tied_together_are_the_whole() {
    let mut noise = Random(11);
    let mixed = (0..3_000).map(|index| (10 * index - noise.index(10 * index as usize + 1) as u64, 10 * index));
    let shallow =
        (0..3_000).map(|index| (10 * index - if index % 7 == 0 { 45.min(10 * index) } else { 5 }, 10 * index));
    let flat = (0..3_000).map(|index| (10 * index, 10 * index + 5));
    let deep = (0..3_000).map(|index| (3_000 - index, 3_000 + index));
    let shapes: [Vec<(u64, u64)>; 4] =
        [mixed.collect(), shallow.map(|(begin, end)| (begin.min(end), end)).collect(), flat.collect(), deep.collect()];
    for times in &shapes {
        for (section, length) in [(40, 1), (40, 64), (700, 33), (3_000, 1_000), (1, 5)] {
            let whole = in_turns(times, section, u64::MAX);
            for tree_bytes in [0, u64::MAX] {
                let tree = in_runs(times, section, length, tree_bytes);
                assert!(tree.nodes().map(Result::unwrap).eq(whole.iter().copied()), "{section}, {length}");
                for run in [0, 1, 2 * times.len() / length / 2, 2 * times.len() / length + 1] {
                    let rest = whole.get(run * length..).unwrap_or_default().iter().copied();
                    assert!(
                        tree.nodes_from_run(run).unwrap().map(Result::unwrap).eq(rest),
                        "{section}, {length}, {run}"
                    );
                }
            }
        }
    }
}

/// The tree of [`in_turns`], made of runs of `length` blocks.
fn in_runs(times: &[(u64, u64)], section: usize, length: usize, tree_bytes: u64) -> Tree {
    let mut builder = TreeBuilder::new(&Limits::with(|limits| limits.tree_bytes = tree_bytes));
    let (mut run, mut nesting, mut count) = (TreeRun::default(), RunNesting::default(), 0);
    for section in times.chunks(section) {
        for thread in [1, 2] {
            run.thread(thread, &mut nesting).unwrap();
            for (begin, end) in section {
                run.push(*begin, *end, &mut nesting).unwrap();
                count += 1;
                if count % length == 0 {
                    run.end(&mut nesting).unwrap();
                    builder.push_run(&std::mem::take(&mut run)).unwrap();
                    run.thread(thread, &mut nesting).unwrap();
                }
            }
        }
    }
    run.end(&mut nesting).unwrap();
    builder.push_run(&run).unwrap();
    builder.finish().unwrap()
}
