//! The arguments of an event type, as spelled in a recording.

use crate::raw::ArgumentType;

/// One argument of an event type.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Argument {
    /// Its type.
    pub kind: ArgumentType,
    /// Its name.
    pub name: Box<str>,
}

/// Parses a list like `uint32 n, ascii name`; `Err` is the argument that cannot be parsed.
pub(crate) fn parse_arguments(text: &str) -> Result<Box<[Argument]>, &str> {
    if text.is_empty() {
        return Ok(Box::default());
    }
    text.split(',').map(|argument| parse_argument(argument).ok_or(argument.trim())).collect()
}

/// The first occurrence of a type, one space and a name; the text around it is ignored, as in WTF.
fn parse_argument(text: &str) -> Option<Argument> {
    let places = text.char_indices().map(|(at, _)| at);
    let (kind, name) = places.filter_map(|at| text.get(at..)).find_map(split_argument)?;
    Some(Argument { kind: ArgumentType::parse(kind)?, name: name.into() })
}

fn split_argument(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let is_type = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '[' | ']' | '<' | '>');
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let run = text.find(|c| !is_type(c)).unwrap_or(text.len());
    let spaces = text.get(..run)?.rmatch_indices(' ').map(|(at, _)| at);
    spaces.filter(|at| *at > 0).find_map(|at| {
        let name = text.get(at + 1..)?;
        let name = name.get(..name.find(|c| !is_name(c)).unwrap_or(name.len()))?;
        (!name.is_empty()).then_some((text.get(..at)?, name))
    })
}

/// Whether WTF fails on a generic scope or time stamp with this name: it parses the name as a signature, and while it
/// replaces a bad name, it does not replace a bad list of arguments.
pub(crate) fn is_fatal_name(name: &str) -> bool {
    let Some((name, args)) = name.trim().split_once('(') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.#:$[]\"'-".contains(c);
    let name = name.replace(' ', "");
    let Some(args) = args.strip_suffix(')') else { return false };
    !name.is_empty() && name.chars().all(is_name) && !args.contains('\n') && parse_arguments(args).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_taken_apart() {
        let shown = |text: &'static str| {
            let args = parse_arguments(text)?;
            Ok::<_, &str>(
                args.iter().map(|argument| format!("{} {}", argument.kind, argument.name)).collect::<Vec<_>>(),
            )
        };
        let good = shown("unsigned short a, uint8[] b_1,  sequence<float> c").unwrap();
        assert_eq!(good, ["uint16 a", "uint8[] b_1", "float32[] c"]);
        assert_eq!(shown("@uint8 a@1").unwrap(), ["uint8 a"]);
        assert!(shown("").unwrap().is_empty());
        for bad in ["uint64 a", "uint8", "uint8 a b", "uint8  a", "bool[] a", "uint8 a,"] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_with_bad_arguments_are_fatal() {
        for fatal in ["f(bad)", " f g (x, y) ", "load(uint64 n)"] {
            assert!(is_fatal_name(fatal), "{fatal}");
        }
        for fine in ["f", "f()", "f(uint8 a)", "f(bad", "f{(bad)", "(bad)", "f(bad) g"] {
            assert!(!is_fatal_name(fine), "{fine}");
        }
    }
}
