//! Recovers a type table from the format string and the entries.
//!
//! Up to 1c2ce50, the library copied 16 bytes into a table of 4-byte numbers: slot j holds the type of argument 4j, and
//! the rest is whatever was in memory.

use traceloom_core::ByteOrder;

use crate::{
    Dictionary, Form, Site,
    args::{
        Types,
        packing::{is_packed_value, load, nibble, split_string, value_bytes},
    },
    printf::{Conversion, Count, Length, Program},
    raw::ArgType,
};

/// Maximum number of steps in the search for widths, for all sites of a file together; formats with many integers need
/// many.
pub(super) const MAX_STEPS: usize = 2_000_000;
/// Maximum number of arguments of a site: a format with more conversions is invalid.
const MAX_ARGUMENTS: usize = 255;

const SIGNED: [ArgType; 4] = [ArgType::INT32, ArgType::INT64, ArgType::UINT32, ArgType::UINT64];
const SIGNED_LONG: [ArgType; 4] = [ArgType::INT64, ArgType::INT32, ArgType::UINT64, ArgType::UINT32];
const UNSIGNED: [ArgType; 4] = [ArgType::UINT32, ArgType::UINT64, ArgType::INT32, ArgType::INT64];
const UNSIGNED_LONG: [ArgType; 4] = [ArgType::UINT64, ArgType::UINT32, ArgType::INT64, ArgType::INT32];
const CHARACTER: [ArgType; 2] = [ArgType::INT32, ArgType::CHAR];

/// Types with which every sample decodes; `None` if there are none.
pub(super) fn types(
    dictionary: &Dictionary,
    index: usize,
    samples: &[Vec<u8>],
    may_be_scrambled: bool,
    steps: &mut usize,
) -> Option<Vec<ArgType>> {
    let site = dictionary.site(index)?;
    let choices = choices(&site, may_be_scrambled);
    let order = dictionary.order();
    let packed = || packed(&choices, samples, order);
    let mut raw = || raw(&choices, samples, order, steps);
    let is_raw = dictionary.prefers() == Form::Raw;
    let found = if is_raw { raw().or_else(packed) } else { packed().or_else(raw) };
    // Shutdown leaves raw entries in packed files, so the forms may also be mixed.
    found.or_else(|| mixed(&choices, samples, order))
}

/// For every argument, its possible types, the most likely first.
fn choices(site: &Site<'_>, may_be_scrambled: bool) -> Vec<Vec<ArgType>> {
    let mut choices = Vec::new();
    for spec in Program::parse(site.format).conversions() {
        for count in [spec.width, spec.precision] {
            if let Count::Argument(_) = count {
                choices.push(vec![ArgType::INT32]);
            }
        }
        let is_long = spec.length == Length::Long;
        choices.push(match spec.conversion {
            Conversion::Invalid | Conversion::Percent => continue,
            Conversion::String => vec![ArgType::STRING],
            Conversion::Pointer | Conversion::Written => vec![ArgType::POINTER],
            Conversion::Character => CHARACTER.to_vec(),
            conversion if conversion.is_float() => vec![ArgType::DOUBLE],
            Conversion::Decimal => if is_long { SIGNED_LONG } else { SIGNED }.to_vec(),
            _ => if is_long { UNSIGNED_LONG } else { UNSIGNED }.to_vec(),
        });
    }
    choices.truncate(MAX_ARGUMENTS);
    // A count that exceeds the table is ignored; the format gives the number.
    if usize::from(site.num_args) <= site.arg_types.len() {
        choices.resize(site.num_args.into(), [&SIGNED[..], &[ArgType::DOUBLE, ArgType::POINTER]].concat());
    }
    if may_be_scrambled {
        for (slot, choice) in choices.iter_mut().step_by(4).enumerate() {
            let pinned = site.arg_types.get(slot).map(|code| ArgType(*code));
            if let Some(pinned) = pinned.filter(|code| code.is_argument()) {
                *choice = vec![pinned];
            }
        }
    }
    choices
}

/// In the packed form, every number declares its length, so each argument can be settled separately.
fn packed(choices: &[Vec<ArgType>], samples: &[Vec<u8>], order: ByteOrder) -> Option<Vec<ArgType>> {
    let numbers = choices.iter().filter(|choice| !is_string(choice)).count();
    let mut lefts = Vec::new();
    for sample in samples {
        lefts.push(sample.get(numbers.div_ceil(2)..)?);
    }
    let mut types = Vec::new();
    let mut number = 0;
    for choice in choices {
        if is_string(choice) {
            types.push(ArgType::STRING);
            continue;
        }
        let mut values = Vec::new();
        for (sample, left) in samples.iter().zip(&mut lefts) {
            let nibble = nibble(sample, number)?;
            values.push((nibble, load(left, value_bytes(nibble))?));
            *left = left.get(value_bytes(nibble)..)?;
        }
        number += 1;
        let fits = |code: &&ArgType| values.iter().all(|(nibble, value)| is_packed_value(**code, *nibble, *value));
        types.push(*choice.iter().find(fits)?);
    }
    all_fit(&types, samples, |types, data| types.fits_packed(data, order).is_some())
}

/// In the raw form, only widths matter: of each argument, try the first type and the first of another width.
fn raw(choices: &[Vec<ArgType>], samples: &[Vec<u8>], order: ByteOrder, steps: &mut usize) -> Option<Vec<ArgType>> {
    let mut types = Vec::new();
    let lefts: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    search(choices, &lefts, order, &mut types, steps).then_some(types)
}

fn search(
    choices: &[Vec<ArgType>],
    lefts: &[&[u8]],
    order: ByteOrder,
    types: &mut Vec<ArgType>,
    steps: &mut usize,
) -> bool {
    let Some((choice, later)) = choices.split_first() else { return lefts.iter().all(|left| left.is_empty()) };
    let first = choice.first().and_then(|code| code.width());
    let other = choice.iter().find(|code| code.width() != first);
    for code in choice.first().into_iter().chain(other) {
        // Each step examines every sample.
        match steps.checked_sub(1 + lefts.len()) {
            Some(left) => *steps = left,
            None => return false,
        }
        let taken: Option<Vec<&[u8]>> = lefts
            .iter()
            .map(|left| match code.width() {
                Some(width) => left.get(width..),
                None => split_string(left, order).map(|(_, rest)| rest),
            })
            .collect();
        if let Some(lefts) = taken {
            types.push(*code);
            if search(later, &lefts, order, types, steps) {
                return true;
            }
            types.pop();
        }
    }
    false
}

/// The most likely types, if every sample fits them in one form or the other.
fn mixed(choices: &[Vec<ArgType>], samples: &[Vec<u8>], order: ByteOrder) -> Option<Vec<ArgType>> {
    let types: Option<Vec<ArgType>> = choices.iter().map(|choice| choice.first().copied()).collect();
    all_fit(&types?, samples, |types, data| types.fits_packed(data, order).is_some() || types.fits_raw(data, order))
}

fn all_fit(types: &[ArgType], samples: &[Vec<u8>], fits: impl Fn(&Types<'_>, &[u8]) -> bool) -> Option<Vec<ArgType>> {
    let known = Types::new(types);
    samples.iter().all(|data| fits(&known, data)).then(|| types.to_vec())
}

fn is_string(choice: &[ArgType]) -> bool {
    choice.first() == Some(&ArgType::STRING)
}
