//! Which sites are on: a default level, and levels for modules.

use crate::Level;

/// Lowest rank that is recorded, and other ranks for modules.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    rank: u8,
    /// Path of a module and the lowest rank below it; `None` turns it off, spans included.
    modules: Vec<(String, Option<u8>)>,
}

impl Filter {
    /// Everything from this level on.
    pub fn at(level: Level) -> Self {
        Self { rank: level.rank, modules: Vec::new() }
    }

    /// This filter with another level for a module and everything below it; the longest matching path wins.
    #[must_use]
    pub fn with(mut self, module: &str, level: Level) -> Self {
        self.modules.push((module.to_owned(), Some(level.rank)));
        self
    }

    /// This filter with a module and everything below it turned off, including spans.
    #[must_use]
    pub fn without(mut self, module: &str) -> Self {
        self.modules.push((module.to_owned(), None));
        self
    }

    /// Reads `info,game::net=debug,game::audio=off`; `None` if a level has no such name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_with(text, &[])
    }

    /// Like [`parse`](Self::parse), with custom levels: `Filter::parse_with("audit,game::net=debug", &[AUDIT])`.
    pub fn parse_with(text: &str, levels: &[Level]) -> Option<Self> {
        let named = |name: &str| {
            let own = levels.iter().find(|level| level.name.eq_ignore_ascii_case(name));
            own.copied().or_else(|| Level::named(name))
        };
        let mut filter = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((module, "off")) => filter = filter.without(module),
                Some((module, level)) => filter = filter.with(module, named(level)?),
                None => filter.rank = named(part)?.rank,
            }
        }
        Some(filter)
    }

    pub(crate) fn allows(&self, level: Option<Level>, module: &str) -> bool {
        let is_below =
            |path: &str| module.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
        let own = self.modules.iter().filter(|(path, _)| is_below(path)).max_by_key(|(path, _)| path.len());
        match own.map_or(Some(self.rank), |(_, rank)| *rank) {
            Some(rank) => level.is_none_or(|level| level.rank >= rank),
            None => false,
        }
    }
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_longest_path_counts() {
        let filter = Filter::parse("warn, game=debug, game::net=error, game::audio=off").expect("all levels exist");
        let allows = |level, module| filter.allows(Some(level), module);
        assert!(!allows(Level::INFO, "tools") && allows(Level::WARN, "tools"));
        assert!(allows(Level::DEBUG, "game") && allows(Level::DEBUG, "game::draw") && !allows(Level::INFO, "gamer"));
        assert!(!allows(Level::WARN, "game::net::tcp") && allows(Level::ERROR, "game::net::tcp"));
        assert!(!allows(Level::ERROR, "game::audio") && !filter.allows(None, "game::audio::mix"));
        assert!(filter.allows(None, "tools"));
        assert_eq!(Filter::parse("loud"), None);
    }

    #[test]
    fn custom_levels_go_by_rank() {
        const AUDIT: Level = Level::custom(9, 35, "AUDIT");
        assert!(Filter::at(Level::WARN).allows(Some(AUDIT), "") && !Filter::at(Level::ERROR).allows(Some(AUDIT), ""));
        let filter = Filter::parse_with("audit,game=warn,game::net=error", &[AUDIT]).expect("all levels exist");
        let allows = |level, module| filter.allows(Some(level), module);
        assert!(!allows(Level::WARN, "tools") && allows(AUDIT, "tools") && allows(Level::ERROR, "tools"));
        assert!(allows(AUDIT, "game") && allows(Level::WARN, "game") && !allows(AUDIT, "game::net"));
        let by_module = Filter::parse_with("error,game=Audit", &[AUDIT]).expect("all levels exist");
        assert!(by_module.allows(Some(AUDIT), "game") && !by_module.allows(Some(Level::WARN), "game"));
        assert_eq!(Filter::parse("audit"), None);
    }
}
