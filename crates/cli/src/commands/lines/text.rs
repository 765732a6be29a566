//! Lines and subs as text.

use std::io::Write;

use traceloom_analysis::lines::{Profile, Sub, SubKind, packages};
use traceloom_core::Result;

use super::listing;
use crate::{
    args::answers::Lines as Arguments,
    output::{Styles, clean},
    table::{Rounded, TextTable, rest},
};

pub(super) fn write(out: &mut dyn Write, profile: &Profile, files: &[i64], arguments: &Arguments) -> Result<()> {
    if arguments.subs {
        return write_subs(out, profile, arguments.limit);
    }
    if arguments.packages {
        return write_packages(out, profile, arguments.limit);
    }
    if arguments.file.is_none() && !arguments.all {
        write_files(out, profile, arguments.limit)?;
    }
    let (index, level) = (profile.index(), super::level(arguments));
    files.iter().try_for_each(|id| listing::write(out, profile, &index, *id, level))
}

/// A count with its noun, such as `3 calls`.
pub(super) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

pub(super) fn heading(out: &mut dyn Write, name: &str, rest: &str) -> Result<()> {
    let bold = Styles::NAME;
    Ok(writeln!(out, "{bold}{}{bold:#}: {}", clean(name), clean(rest))?)
}

fn write_files(out: &mut dyn Write, profile: &Profile, limit: usize) -> Result<()> {
    let files = profile.files_by_time();
    let total: i64 = files.iter().fold(0, |sum, id| sum.saturating_add(profile.files[id].total().self_ns()));
    let mut table = TextTable::new().numbers(&["statements", "time", "share", "evals"]).text("file");
    for id in files.iter().take(limit) {
        let file = &profile.files[id];
        let cost = file.total();
        let merged =
            if file.merged.is_empty() { String::new() } else { format!(" and {} identical", file.merged.len()) };
        table.row(vec![
            cost.count.to_string(),
            Rounded(cost.self_ns() as f64).to_string(),
            share(cost.self_ns(), total),
            if file.evals.is_empty() { String::new() } else { file.evals.len().to_string() },
            format!("{}{merged}", file.name),
        ]);
    }
    let application = profile.attributes.get("application").map_or("files", String::as_str);
    heading(out, application, &format!("{} files, {} in statements", files.len(), Rounded(total as f64)))?;
    table.write(out)?;
    rest(out, files.len(), limit)?;
    Ok(writeln!(out)?)
}

fn share(part: i64, whole: i64) -> String {
    if whole > 0 { format!("{:.1} %", part as f64 / whole as f64 * 100.0) } else { String::new() }
}

fn write_subs(out: &mut dyn Write, profile: &Profile, limit: usize) -> Result<()> {
    let subs = profile.subs_by_time();
    let heads = ["calls", "sites", "self time", "total time", "recursive", "depth"];
    let mut table = TextTable::new().numbers(&heads).text("sub").text("location");
    for (name, sub) in subs.iter().take(limit) {
        let figures = &sub.total;
        let recursion = |text: String| if figures.depth > 0 { text } else { String::new() };
        table.row(vec![
            figures.count.to_string(),
            sub.places().count().to_string(),
            Rounded(figures.excl_ns as f64).to_string(),
            Rounded(figures.incl_ns as f64).to_string(),
            recursion(Rounded(figures.recursive_ns as f64).to_string()),
            recursion(figures.depth.to_string()),
            (*name).to_owned(),
            place(profile, sub),
        ]);
    }
    heading(out, "subs", &format!("{} called from {} call sites", subs.len(), places(&subs)))?;
    table.write(out)?;
    Ok(rest(out, subs.len(), limit)?)
}

fn places(subs: &[(&str, &Sub)]) -> usize {
    subs.iter().map(|(_, sub)| sub.places().count()).sum()
}

/// The location of a sub.
fn place(profile: &Profile, sub: &Sub) -> String {
    let file = sub.file.and_then(|file| profile.files.get(&file)).map_or("", |file| file.name.as_str());
    match (sub.first_line, sub.kind) {
        (Some(line), _) => format!("{file}:{line}"),
        (None, SubKind::Perl) => file.to_owned(),
        (None, kind) => kind.as_str().to_owned(),
    }
}

fn write_packages(out: &mut dyn Write, profile: &Profile, limit: usize) -> Result<()> {
    let packages = packages(profile);
    let total: i64 = packages.iter().fold(0, |sum, package| sum.saturating_add(package.excl_ns));
    let heads = ["subs", "calls", "from outside", "self time", "share", "total time"];
    let mut table = TextTable::new().numbers(&heads).text("package");
    for package in packages.iter().take(limit) {
        table.row(vec![
            package.subs.to_string(),
            package.calls.to_string(),
            package.calls_from_outside.to_string(),
            Rounded(package.excl_ns as f64).to_string(),
            share(package.excl_ns, total),
            Rounded(package.incl_ns as f64).to_string(),
            if package.name.is_empty() { "(none)".to_owned() } else { package.name.clone() },
        ]);
    }
    heading(out, "packages", &format!("{} with called subs", packages.len()))?;
    table.write(out)?;
    Ok(rest(out, packages.len(), limit)?)
}
