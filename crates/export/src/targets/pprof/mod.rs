//! pprof: stacks with their costs, as compressed protobuf.

mod profile;

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use traceloom_core::Result;
use traceloom_model::Table;

use self::profile::Profile;
use super::shows_time;
use traceloom_passes::{
    CallTree, Calls, Frames, HEAP, Heap, MAX_DEPTH, NameId, Need, Pass, Site, SpanRows, SpanSites, Target, Variant,
    Writer, lose_outer_frames,
};

pub(super) static TARGET: Target = Target {
    id: "pprof",
    name: "pprof",
    about: "go tool pprof and other tools that read its files: time or allocations by call stack",
    extensions: &["pb.gz", "pprof"],
    variants: &[
        Variant::new("best", "time if the trace has spans, otherwise allocations"),
        Variant::new("allocations", "objects and bytes, allocated and in use"),
        Variant::new("time", "calls and time of spans"),
    ],
    needs: &[
        &[Need::shown(Table::Traces), Need::shown(Table::Threads), Need::shown(Table::Files)],
        &[Need::of::<SpanRows<'_>>(), Need::of::<SpanSites<'_>>()],
        HEAP,
    ],
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::new(6));
    if shows_time(pass) {
        write_time(pass, &mut encoder)?;
    } else {
        write_allocations(pass, &mut encoder)?;
    }
    encoder.finish()?;
    Ok(())
}

fn write_time(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let tree = CallTree::new(pass, Frames::new(pass.options.limits.entries), |_| true)?;
    let Pass { roster, names, timeline, loss, .. } = pass;
    let labels: Vec<NameId> =
        roster.threads().iter().map(|thread| names.intern(&thread.label())).collect::<Result<_>>()?;
    let mut profile = Profile::new(out, names)?;
    profile.head(&[("calls", "count"), ("time", "nanoseconds")], "time")?;
    profile.when(roster, timeline)?;
    let mut path = Vec::new();
    for (node, number) in tree.stacks.nodes().iter().zip(0..) {
        if tree.stacks.path(number, MAX_DEPTH, &mut path) {
            lose_outer_frames(loss);
        }
        let Calls { count, self_ns } = node.weight;
        profile.sample(&path, &[count, self_ns], Some(labels[node.root as usize]), loss)?;
    }
    profile.finish(&tree.frames)
}

fn write_allocations(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut frames = Frames::new(pass.options.limits.entries);
    let heap = Heap::new(pass, &mut frames)?;
    let Pass { roster, names, timeline, loss, .. } = pass;
    let mut profile = Profile::new(out, names)?;
    let kinds =
        [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")];
    profile.head(&kinds, "alloc_space")?;
    profile.when(roster, timeline)?;
    let mut path = Vec::new();
    let stacks = heap.stacks.nodes().iter().zip(0..);
    for (stack, number) in stacks.filter(|(stack, _)| stack.weight.allocated.objects > 0) {
        if heap.stacks.path(number, MAX_DEPTH, &mut path) {
            lose_outer_frames(loss);
        }
        let Site { allocated, live } = stack.weight;
        let values = [allocated.objects, allocated.bytes, live.objects, live.bytes];
        profile.sample(&path, &values, None, loss)?;
    }
    profile.finish(&frames)
}

#[cfg(test)]
mod tests {
    use flate2::write::GzDecoder;

    use super::*;
    use traceloom_passes::fixture::{Synthetic, written};

    /// The fields of a message: field number, value, bytes.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
            let (number, rest) = bytes.split_at(end + 1);
            *bytes = rest;
            number.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
        }
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let number = varint(&mut bytes);
            let mut part = Vec::new();
            if tag & 7 == 2 {
                let (head, rest) = bytes.split_at(number as usize);
                (part, bytes) = (head.to_vec(), rest);
            }
            fields.push((tag >> 3, number, part));
        }
        fields
    }

    #[test]
    fn stacks_have_calls_and_self_times() {
        let trace = Synthetic::spans(&[
            ("b", 1, 1, Some(0), 10, Some(5)),
            ("b", 2, 1, Some(0), 20, Some(300)),
            ("a", 0, 0, None, 0, Some(1000)),
        ]);
        let (bytes, loss) = written(&TARGET, &trace);
        let mut decoder = GzDecoder::new(Vec::new());
        decoder.write_all(&bytes).unwrap();
        let message = decoder.finish().unwrap();
        let fields = fields(&message);
        let parts = |field| fields.iter().filter(move |(number, ..)| *number == field).map(|(_, _, part)| part);
        let texts: Vec<&str> = parts(6).map(|text| std::str::from_utf8(text).unwrap()).collect();
        assert_eq!(texts[0], "");
        for text in ["calls", "count", "time", "nanoseconds", "a", "b", "main", "thread"] {
            assert_eq!(texts.iter().filter(|other| **other == text).count(), 1, "{text} in {texts:?}");
        }
        let samples: Vec<_> = parts(2).map(|sample| super::tests::fields(sample)).collect();
        // Locations are innermost first; 695 and 305 take two bytes each.
        assert_eq!((&samples[0][0].2, &samples[0][1].2), (&vec![1], &vec![1, 0xb7, 5]));
        assert_eq!((&samples[1][0].2, &samples[1][1].2), (&vec![2, 1], &vec![2, 0xb1, 2]));
        assert_eq!((parts(4).count(), parts(5).count()), (2, 2));
        assert!(loss.is_empty(), "{loss:?}");
    }
}
