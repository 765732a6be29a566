//! One signature per name.
//!
//! Readers of the format identify a type by its name, so all rows with a name must have the same arguments. The
//! signature is the arguments that all of these rows start with. Other arguments of a row are stored differently:
//! scopes have data appended, other events have one JSON argument.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};
use traceloom_wtf::raw::ArgumentType;

use super::value::{Item, Items};
use traceloom_passes::{NameId, NamePool};

/// Whether events of a type open scopes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Class {
    Instance,
    Scope,
}

/// The arguments of a name.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) args: Vec<(NameId, ArgumentType)>,
    /// Whether rows have more than these.
    pub(super) has_rest: bool,
}

/// Maximum number of names whose signatures are kept; the format has no room for more types.
const MAX_NAMES: usize = 1 << 17;

/// Signatures by name.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    by_name: HashMap<(Class, NameId), Signature>,
}

impl Signatures {
    /// Records the arguments of a row.
    pub(super) fn learn(&mut self, class: Class, name: NameId, items: &Items) {
        let list = items.list.as_slice();
        if self.by_name.len() >= MAX_NAMES && !self.by_name.contains_key(&(class, name)) {
            return;
        }
        let signature = self.by_name.entry((class, name)).or_insert_with(|| Signature {
            args: list.iter().map(|item| (item.key, item.kind)).collect(),
            has_rest: false,
        });
        let same = signature.args.iter().zip(list).take_while(|(arg, item)| **arg == (item.key, item.kind)).count();
        signature.has_rest |= same < list.len() || same < signature.args.len();
        signature.args.truncate(same);
    }

    /// The signature of a name: the learned arguments whose names the format accepts.
    pub(super) fn get(&self, class: Class, name: NameId, names: &mut NamePool) -> Result<Signature> {
        let unknown = || Signature { args: Vec::new(), has_rest: true };
        let mut signature = self.by_name.get(&(class, name)).cloned().unwrap_or_else(unknown);
        let mut good = 0;
        for (place, (key, _)) in signature.args.iter().enumerate() {
            let is_new = signature.args.iter().take(place).all(|(other, _)| other != key);
            let key = names.get(*key)?;
            let is_word = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            // The last argument of an instance with additional arguments has this name.
            if !is_word || !is_new || class == Class::Instance && key == REST {
                break;
            }
            good += 1;
        }
        signature.has_rest |= good < signature.args.len();
        signature.args.truncate(good);
        Ok(signature)
    }
}

/// The argument that holds everything that is not in the signature.
pub(super) const REST: &str = "args";

impl Signature {
    /// The signature as written in a definition.
    pub(super) fn text(&self, class: Class, names: &mut NamePool, loss: &mut Loss) -> Result<String> {
        let mut text = String::new();
        for (key, kind) in &self.args {
            if !text.is_empty() {
                text.push_str(", ");
            }
            let key = names.get(*key)?;
            // WTF makes a variable of it.
            let mark = if key.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            if !mark.is_empty() {
                loss.lose("names of arguments that start with a digit", || format!("{key} is now {mark}{key}"));
            }
            text.push_str(&format!("{kind} {mark}{key}"));
        }
        if self.has_rest && class == Class::Instance {
            text.push_str(if text.is_empty() { "any " } else { ", any " });
            text.push_str(REST);
        }
        Ok(text)
    }

    /// The arguments of a row that are in the signature, and the others.
    pub(super) fn split<'i>(&self, items: &'i [Item]) -> (&'i [Item], &'i [Item]) {
        items.split_at_checked(self.args.len()).unwrap_or((&[], items))
    }
}
