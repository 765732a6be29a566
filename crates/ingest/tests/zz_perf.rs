use std::path::Path;
use traceloom_bytes::Source;
use traceloom_ingest::{Options, Trace, ingest};
use traceloom_model::*;
use traceloom_nytprof::*;
struct Sink(Wanted, usize);
impl TableSink for Sink {
    fn wants(&self, t: Table) -> Columns { self.0.columns(t) }
    fn batch(&mut self, _: Table, b: arrow_array::RecordBatch) -> Flow { self.1 += b.num_rows(); Flow::Continue }
}
fn cpu() -> f64 { std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9 }
#[test]
fn perf() {
    let mut w = create(Vec::new(), &Header::default()).unwrap();
    let nv = |v: f64| Nv::new(v, NvLayout::COMMON);
    w.write(&Record::Attribute(Pair::new(b"ticks_per_sec", b"10000000"))).unwrap();
    w.write(&Record::PidStart(PidStart { pid: 7, ppid: 1, time: nv(1e9), odd_bytes: None })).unwrap();
    for fid in 1..20 { w.write(&Record::NewFid(NewFid { fid, eval_fid: 0, eval_line: 0, flags: raw::FidFlags(0), size: 0, mtime: 0, name: Str::new(b"a.pl"), odd_bytes: None })).unwrap(); }
    let names: Vec<String> = (0..50).map(|n| format!("Some::Package::function_{n}")).collect();
    let mut n = 0u32;
    while n < 12_000_000 {
        for d in 0..8 { w.write(&Record::TimeLine(TimeLine { ticks: 3, fid: 1 + n % 19, line: (n * 7 + d) % 900, odd_bytes: None })).unwrap(); n += 1; }
        let depth = 1 + (n / 8) % 6; let depth = 7 - depth;
        w.write(&Record::SubReturn(SubReturn { depth, incl_ticks: nv(f64::from(7 - depth) * 24.0), excl_ticks: nv(24.0), name: Str::new(names[(n % 50) as usize].as_bytes()), odd_bytes: None })).unwrap();
    }
    let bytes = w.finish().unwrap();
    let len = bytes.len();
    let trace = Trace::new(Path::new("x"), Source::bytes(bytes), Some("nytprof"), &Options::default()).unwrap();
    let cases: Vec<(&str, Wanted)> = vec![
        ("trace head", Wanted::nothing().and(Table::Traces, Columns::named(Table::Traces, &["clock"]))),
        ("processes", Wanted::nothing().and(Table::Processes, Columns::ALL)),
        ("spans name dur", Wanted::nothing().and(Table::Spans, Columns::named(Table::Spans, &["name", "dur_ns"]))),
        ("spans", Wanted::nothing().and(Table::Spans, Columns::ALL)),
        ("stacks", Wanted::nothing().and(Table::Stacks, Columns::ALL)),
        ("line_times", Wanted::nothing().and(Table::LineTimes, Columns::ALL)),
        ("everything", Wanted::everything()),
    ];
    struct Nothing(u64);
    impl Visit for Nothing { fn visit(&mut self, l: traceloom_bytes::Located<Record<'_>>) -> traceloom_bytes::Result<()> { self.0 += l.len; Ok(()) } }
    let t = cpu();
    let mut reader = open(trace.opened.source.clone(), &Default::default()).unwrap();
    println!("open {:.3}", cpu() - t);
    let t = cpu();
    let mut v = Nothing(0);
    reader.walk(&mut v).unwrap();
    println!("bare walk {:.3} s, {}", cpu() - t, v.0);
    let t = cpu();
    aggregate::load(trace.opened.source.clone(), &Default::default()).unwrap();
    println!("load {:.3} s, ", cpu() - t);
    for (name, wanted) in cases {
        let mut s = Sink(wanted, 0);
        let t = cpu();
        ingest(&trace, &Options::default(), &mut s).unwrap();
        let e = cpu() - t;
        println!("{name}: {e:.3} s, {:.0} MB/s, {} rows of {} MB", len as f64 / 1e6 / e, s.1, len / 1_000_000);
    }
}
