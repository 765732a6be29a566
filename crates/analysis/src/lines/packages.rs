//! Subs added up by package.

use std::collections::BTreeMap;

use super::{Figures, Profile};

/// All subs of a package.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Package {
    /// Package name, such as `IO::File`; empty for subs without a package.
    pub name: String,
    /// Number of called subs.
    pub subs: u64,
    /// Calls.
    pub calls: u64,
    /// Calls from other packages.
    pub calls_from_outside: u64,
    /// Self time of the subs.
    pub excl_ns: i64,
    /// Total time of calls from other packages; calls within the package are already part of it.
    pub incl_ns: i64,
}

/// The package of a sub: its name without the last component. Text in brackets is not a component.
pub fn package_of(sub: &str) -> &str {
    let end = sub.find('[').unwrap_or(sub.len());
    sub.get(..end).and_then(|name| name.rfind("::")).and_then(|at| sub.get(..at)).unwrap_or("")
}

/// The packages of all called subs, most self time first.
pub fn packages(profile: &Profile) -> Vec<Package> {
    let mut packages: BTreeMap<&str, Package> = BTreeMap::new();
    for (name, sub) in profile.subs.iter().filter(|(_, sub)| sub.is_called()) {
        let own = package_of(name);
        let package = packages.entry(own).or_insert_with(|| Package { name: own.to_owned(), ..Package::default() });
        package.subs += 1;
        package.calls = package.calls.saturating_add(sub.total.count);
        package.excl_ns = package.excl_ns.saturating_add(sub.total.excl_ns);
        for caller in &sub.callers {
            if caller.by.as_deref().map(package_of) != Some(own) {
                let Figures { count, incl_ns, .. } = caller.figures;
                package.calls_from_outside = package.calls_from_outside.saturating_add(count);
                package.incl_ns = package.incl_ns.saturating_add(incl_ns);
            }
        }
    }
    let mut packages: Vec<_> = packages.into_values().collect();
    packages.sort_by(|one, other| other.excl_ns.cmp(&one.excl_ns).then_with(|| one.name.cmp(&other.name)));
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_all_but_the_last_part() {
        assert_eq!(package_of("IO::File::open"), "IO::File");
        assert_eq!(package_of("main::__ANON__[/a/b::c.pl:3]"), "main");
        assert_eq!(package_of("main::CORE:print"), "main");
        assert_eq!(package_of("sub 3"), "");
    }
}
