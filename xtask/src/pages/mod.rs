//! Markdown pages: links, prose, and tests.

#[cfg(test)]
mod tests;
#[cfg(test)]
mod words;

/// The targets of the links of a page, except in code.
pub(crate) fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let starts = prose.match_indices("](").map(|(at, _)| at + 2);
    starts.filter_map(|at| Some(prose[at..].split_once(')')?.0.to_owned())).collect()
}

/// The page with its code blanked out; line numbers stay the same.
pub(crate) fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(page.len());
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            // Every second part is between backticks.
            line.split('`').step_by(2).for_each(|part| {
                out.push_str(part);
                out.push(' ');
            });
        }
        out.push('\n');
    }
    out
}
