//! Finds the name that was probably meant.

/// The name that needs the fewest changes, if any is close enough.
pub fn nearest<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    // Leaving out a letter is a more likely mistake than adding one.
    let rank = |other: &'a str| (distance(&name, &other.to_lowercase()), other.len() < name.len(), other);
    let near = all.map(rank).filter(|(distance, _, other)| *distance <= 1 + other.len() / 3);
    near.min().map(|(_, _, other)| other)
}

fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, x) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, y) in other.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[column] + 1).min(row[column + 1] + 1);
            diagonal = std::mem::replace(&mut row[column + 1], next);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_wins_if_it_is_near() {
        let tables = ["spans", "stacks", "logs"];
        assert_eq!(nearest("span", tables.into_iter()), Some("spans"));
        assert_eq!(nearest("LOGS", tables.into_iter()), Some("logs"));
        assert_eq!(nearest("allocations", tables.into_iter()), None);
        assert_eq!(nearest("cont", ["cot", "count"].into_iter()), Some("count"));
    }
}
