//! Lines and subs for programs.

use serde_json::{Value as Json, json};
use traceloom_analysis::lines::{Cost, Figures, Index, Level, Profile, Sub, packages};

use super::text;
use crate::args::answers::Lines as Arguments;

/// Everything, or the list that was asked for.
pub(super) fn profile(profile: &Profile, files: &[i64], arguments: &Arguments) -> Json {
    let all = !arguments.subs && !arguments.packages;
    let mut object = json!({ "file": profile.path, "format": profile.format });
    if all {
        object["attributes"] = json!(profile.attributes);
        let index = profile.index();
        object["files"] = files.iter().map(|id| file(profile, &index, *id)).collect();
    }
    if all || arguments.subs {
        object["subs"] = text::subs_by_time(profile).into_iter().map(|(name, one)| sub(profile, name, one)).collect();
    }
    if all || arguments.packages {
        let rows = packages(profile).into_iter().map(|package| {
            json!({
                "name": package.name,
                "subs": package.subs,
                "calls": package.calls,
                "calls_from_outside": package.calls_from_outside,
                "incl_ns": package.incl_ns,
                "excl_ns": package.excl_ns,
            })
        });
        object["packages"] = rows.collect();
    }
    object
}

fn file(profile: &Profile, index: &Index<'_>, id: i64) -> Json {
    let file = &profile.files[&id];
    let (total, calls) = (file.total(), index.calls_in(id));
    let costs = |level: Level| -> Json { file.costs(level).iter().map(|(line, one)| cost(*line, one)).collect() };
    let calls = calls.iter().flat_map(|(line, called)| {
        called.iter().map(move |(name, figures)| {
            let mut object = json!({ "line": line, "sub": name });
            add_figures(&mut object, figures);
            object
        })
    });
    let mut object = json!({
        "id": id,
        "name": file.name,
        "parent": file.parent.map(|(file, line)| json!({ "file": file, "line": line })),
        "flags": file.flags,
        "evals": file.evals,
        "merged": file.merged,
        "statements": total.count,
        "time_ns": total.own_ns(),
        "lines": costs(Level::Line),
        "calls": calls.collect::<Vec<_>>(),
        "source": file.source.iter().map(|(line, text)| json!([line, text])).collect::<Vec<_>>(),
    });
    for level in [Level::Block, Level::Sub].into_iter().filter(|level| !file.costs(*level).is_empty()) {
        object[format!("{}_lines", level.as_str())] = costs(level);
    }
    object
}

fn cost(line: u32, cost: &Cost) -> Json {
    json!({ "line": line, "statements": cost.count, "incl_ns": cost.incl_ns, "excl_ns": cost.excl_ns })
}

fn sub(profile: &Profile, name: &str, sub: &Sub) -> Json {
    let file_name = |id: Option<i64>| id.and_then(|id| profile.files.get(&id)).map(|file| file.name.as_str());
    let callers = sub.callers.iter().map(|caller| {
        let mut object = json!({ "by": caller.by, "file": file_name(caller.file), "line": caller.line });
        add_figures(&mut object, &caller.figures);
        object
    });
    let mut object = json!({
        "name": name,
        "kind": sub.kind.as_str(),
        "file": file_name(sub.file),
        "first_line": sub.first_line,
        "last_line": sub.last_line,
        "merged": sub.merged,
        "callers": callers.collect::<Vec<_>>(),
    });
    add_figures(&mut object, &sub.total);
    object
}

fn add_figures(object: &mut Json, figures: &Figures) {
    object["calls"] = figures.count.into();
    object["incl_ns"] = figures.incl_ns.into();
    object["excl_ns"] = figures.excl_ns.into();
    object["recursive_ns"] = figures.recursive_ns.into();
    object["depth"] = figures.depth.into();
}
