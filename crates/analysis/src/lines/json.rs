//! Lines and subs as JSON.

use serde_json::{Value as Json, json};

use super::{Cost, Figures, Index, Level, Profile, Sub, packages};

/// The lists to write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lists {
    /// The files, the subs and the packages.
    All,
    /// The packages alone.
    Packages,
    /// The subs alone.
    Subs,
}

impl Profile {
    /// The profile as JSON, with only these files.
    pub fn to_json(&self, lists: Lists, files: &[i64]) -> Json {
        let all = lists == Lists::All;
        let mut object = json!({ "file": self.path, "format": self.format });
        if all {
            object["attributes"] = json!(self.attributes);
            let index = self.index();
            object["files"] = files.iter().map(|id| file(self, &index, *id)).collect();
        }
        if all || lists == Lists::Subs {
            object["subs"] = self.subs_by_time().into_iter().map(|(name, one)| sub(self, name, one)).collect();
        }
        if all || lists == Lists::Packages {
            let rows = packages(self).into_iter().map(|package| {
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
        "time_ns": total.self_ns(),
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
