//! The output of nytprofcalls, which the goldens of NYTProf's call stacks hold.

/// A name as nytprofcalls prints it: evals without their numbers, and no separators. A space inside the name of an eval
/// is part of the name.
pub fn nytprofcalls_name(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("eval ") {
        let (before, after) = rest.split_at(at + "eval ".len());
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(before);
        out.push_str(if digits > 0 && after[digits..].starts_with(")[") { "0" } else { &after[..digits] });
        rest = &after[digits..];
    }
    out.push_str(rest);
    out.replace(';', "?")
}
