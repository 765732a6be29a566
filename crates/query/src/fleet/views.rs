//! Views of a fleet store: SQL over its tables, which any engine session can plan.

/// Names and definitions; a view may use earlier views.
pub static VIEWS: &[(&str, &str)] = &[
    // A duration of a histogram represents all durations within 0.8 % of it, and is the same in all traces.
    (
        "trend",
        "with single as (select day, build, name, trace_id, unnest(durations) as dur_ns, unnest(counts) as calls from sums), \
         added as (select day, build, name, dur_ns, cast(sum(calls) as bigint) as calls from single group by day, build, name, dur_ns), \
         ranked as (select day, build, name, dur_ns, calls, \
           sum(calls) over (partition by day, build, name order by dur_ns) as upto, \
           sum(calls) over (partition by day, build, name) as whole from added) \
         select day, build, name, sum(calls) as calls, \
           min(case when upto >= 0.50 * whole then dur_ns end) as p50_ns, \
           min(case when upto >= 0.95 * whole then dur_ns end) as p95_ns, \
           min(case when upto >= 0.99 * whole then dur_ns end) as p99_ns \
         from ranked group by day, build, name",
    ),
    (
        "leaks",
        "select a.day, a.host, a.build, f.function, f.file, f.line, count(distinct a.trace_id) as traces, \
           count(*) as allocations, sum(a.size_bytes) as bytes \
         from (select k.trace_id, k.id as stack_key, g.function, g.file, g.line \
               from stacks k join frames g on g.trace_id = k.trace_id and g.id = k.frame_id) f \
         right join (select * from allocations where fate = 'live') a on a.trace_id = f.trace_id and a.stack_id = f.stack_key \
         group by a.day, a.host, a.build, f.function, f.file, f.line",
    ),
    (
        "error_rates",
        "select day, host, build, file, line, format, count(*) as entries, \
           sum(case when upper(level_name) in ('ERROR', 'FATAL', 'CRITICAL') then 1 else 0 end) as errors, \
           sum(case when upper(level_name) in ('ERROR', 'FATAL', 'CRITICAL') then 1.0 else 0.0 end) / count(*) as error_rate \
         from logs group by day, host, build, file, line, format",
    ),
    // The time of a host for its calls, compared with the fleet's average time for the same calls.
    (
        "hosts",
        "with fleet as (select build, name, sum(cast(total_ns as double)) / sum(calls) as mean_ns from sums \
           where calls > 0 group by build, name) \
         select s.host, s.build, count(distinct s.trace_id) as traces, sum(s.calls) as calls, \
           sum(cast(s.total_ns as double)) as total_ns, sum(s.calls * f.mean_ns) as expected_ns, \
           sum(cast(s.total_ns as double)) / nullif(sum(s.calls * f.mean_ns), 0) as slowdown \
         from fleet f join sums s on s.build = f.build and s.name = f.name group by s.host, s.build",
    ),
];
