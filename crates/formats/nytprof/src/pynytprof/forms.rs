//! Detects what a chunk holds: the tool wrote the same tags with many kinds of contents.

use traceloom_core::{Limits, Result, Source, Window};

use super::raw::{FIGURES_BYTES, Form, Integers, Layout, Tag, VISIT_BYTES};

/// What is known about a file when a chunk is reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// How an earlier chunk stores its integers; this one uses the same form.
    pub(super) integers: Integers,
    /// Whether subs have line ranges, so that calls have locations.
    pub(super) has_ranges: bool,
}

/// A chunk's contents in the source.
pub(super) struct Contents<'a> {
    pub(super) source: &'a Source,
    pub(super) start: u64,
    pub(super) length: u64,
    /// Whether the chunk claims to be longer, so that the file is truncated.
    pub(super) is_cut: bool,
}

/// Maximum length of a name.
pub(super) const MAX_NAME: usize = 1 << 16;
/// No file has this many lines; four letters of a name, taken as a number, are more.
const MAX_LINES: u32 = 1 << 24;

/// How closely the items have to match what the tool writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Trust {
    /// Fields of the right sizes.
    Sizes,
    /// Also valid names.
    Names,
    /// Also plausible numbers: flags of 0, first lines before last ones.
    Numbers,
}

/// Forms in the order in which they are tried. The same bytes can be a sub with a name of 9 bytes or a visit, or a sub
/// with lines or two subs without, so the most distinctive form comes first: the documented form is never mistaken for
/// another.
const D_FORMS: &[(Form, Trust)] = &[
    (Form::Subs, Trust::Numbers),
    (Form::Visits, Trust::Sizes),
    (Form::Ranges, Trust::Numbers),
    (Form::Subs, Trust::Names),
    (Form::Ranges, Trust::Names),
];

/// The same if other chunks have integers of variable length: such lists and names are distinctive.
const VARIED_D_FORMS: &[(Form, Trust)] =
    &[(Form::Visits, Trust::Sizes), (Form::Subs, Trust::Numbers), (Form::Ranges, Trust::Numbers)];

/// Layouts to try, and how closely they have to match what the tool writes.
fn candidates(tag: Tag, context: Context) -> Vec<(Layout, Trust)> {
    let is_varied = context.integers != Integers::Fixed;
    let integers = if is_varied { context.integers } else { Integers::Variable };
    let fixed = |(form, trust): &(Form, Trust)| (Layout::from(*form), *trust);
    let varied = |(form, trust): &(Form, Trust)| (Layout { form: *form, integers }, *trust);
    let both = |form| {
        let either = [fixed(&(form, Trust::Sizes)), varied(&(form, Trust::Sizes))];
        if is_varied { either.into_iter().rev().collect() } else { Vec::from(either) }
    };
    match tag {
        Tag::S => both(Form::Lines),
        Tag::C if context.has_ranges => both(Form::SiteCalls),
        Tag::C => both(Form::Edges),
        Tag::D => {
            let more: &[_] = if is_varied { VARIED_D_FORMS } else { &[] };
            // A name in another encoding is still a name, if nothing else explains the bytes.
            let last = [varied(&(Form::Visits, Trust::Sizes)), fixed(&(Form::Subs, Trust::Sizes))];
            more.iter().map(varied).chain(D_FORMS.iter().map(fixed)).chain(last).collect()
        }
        Tag::F => {
            let (named, indexed) = ((Form::Files, Trust::Names), (Form::IndexedFiles, Trust::Sizes));
            vec![varied(&named), fixed(&named), fixed(&indexed), varied(&indexed)]
        }
        Tag::A => vec![fixed(&(Form::Properties, Trust::Names))],
        _ => Vec::new(),
    }
}

/// The form of a chunk without items, which fits every form.
fn documented(tag: Tag) -> Form {
    match tag {
        Tag::S => Form::Lines,
        Tag::D => Form::Subs,
        Tag::C => Form::Edges,
        Tag::F => Form::Files,
        Tag::A => Form::Properties,
        _ => Form::Raw,
    }
}

impl Contents<'_> {
    /// The first layout that explains all bytes.
    pub(super) fn layout(&self, tag: Tag, context: Context) -> Result<Layout> {
        if self.length == 0 {
            return Ok(documented(tag).into());
        }
        for (layout, trust) in candidates(tag, context) {
            if self.fits(layout, trust)? {
                return Ok(layout);
            }
        }
        Ok(Form::Raw.into())
    }

    fn fits(&self, layout: Layout, trust: Trust) -> Result<bool> {
        match (layout.form, layout.integers) {
            (Form::Lines | Form::Edges | Form::SiteCalls, Integers::Fixed) => {
                return Ok(self.is_cut || self.length.is_multiple_of(FIGURES_BYTES as u64));
            }
            (Form::IndexedFiles, Integers::Fixed) => return Ok(self.length.is_multiple_of(8)),
            (Form::Visits, Integers::Fixed) if !self.is_cut && self.length % VISIT_BYTES as u64 != 1 => {
                return Ok(false);
            }
            _ => {}
        }
        let is_last_resort = layout.form == Form::Subs && trust == Trust::Sizes;
        let mut scan = Scan::new(self, trust);
        while scan.left > 0 {
            match scan.item(layout)? {
                Some(()) => {}
                // Part of a first sub is all that is left of the documented form.
                None => return Ok(self.is_cut && scan.ran_out && (scan.items > 0 || is_last_resort)),
            }
            scan.items += 1;
            if scan.has_ended {
                // A list that has ended is not truncated.
                return Ok(scan.left == 0 && !self.is_cut);
            }
        }
        // A list of visits has to end with its mark.
        Ok(layout.form != Form::Visits || self.is_cut)
    }
}

struct Scan {
    window: Window,
    left: u64,
    items: u64,
    ran_out: bool,
    has_ended: bool,
    trust: Trust,
}

impl Scan {
    fn new(contents: &Contents<'_>, trust: Trust) -> Self {
        // No larger than the chunk, because a file may have very many small ones.
        let window_bytes = usize::try_from(contents.length).unwrap_or(usize::MAX).clamp(16, 64 << 10);
        let mut window =
            Window::new(contents.source.clone(), &Limits::with(|limits| limits.window_bytes = window_bytes));
        window.seek(contents.start);
        Self { window, left: contents.length, items: 0, ran_out: false, has_ended: false, trust }
    }

    fn item(&mut self, layout: Layout) -> Result<Option<()>> {
        match layout.form {
            Form::Raw => return Ok(None),
            Form::Properties => return self.property(),
            Form::Visits => match self.byte()? {
                Some(0) => {
                    self.has_ended = true;
                    return Ok(Some(()));
                }
                Some(1) => {}
                _ => return Ok(None),
            },
            _ => {}
        }
        let Some(numbers) = self.integers(layout)? else { return Ok(None) };
        let needs_meaning = self.trust == Trust::Numbers;
        match (layout.form, numbers) {
            (Form::Visits, _) => Ok(self.skip(8)?.then_some(())),
            (Form::Lines | Form::Edges | Form::SiteCalls, _) => Ok(self.skip(16)?.then_some(())),
            (Form::Subs, [_, flags, ..]) if needs_meaning && flags != 0 => Ok(None),
            (Form::Ranges, [_, _, first, last]) if needs_meaning && (first > last || last >= MAX_LINES) => Ok(None),
            (Form::Subs, _) => self.named(true),
            (Form::Ranges, _) => self.named(!needs_meaning),
            (Form::Files, _) => self.named(false),
            _ => Ok(Some(())),
        }
    }

    /// The integers of an item; 0 for those that it does not have.
    fn integers(&mut self, layout: Layout) -> Result<Option<[u32; 4]>> {
        let mut numbers = [0; 4];
        for number in numbers.iter_mut().take(layout.form.integers()) {
            let Some((value, len)) = layout.integers.get(self.window.fill(5)?) else {
                self.ran_out |= self.left < 5;
                return Ok(None);
            };
            if !self.skip(len as u64)? {
                return Ok(None);
            }
            *number = value;
        }
        Ok(Some(numbers))
    }

    fn property(&mut self) -> Result<Option<()>> {
        let name = self.name()?;
        Ok(name.filter(|name| name.contains(&b'=') && is_clean(name)).map(|_| ()))
    }

    /// A name; if it may be empty, almost everything is one.
    fn named(&mut self, may_be_empty: bool) -> Result<Option<()>> {
        let name = self.name()?;
        Ok(name
            .filter(|name| (may_be_empty || !name.is_empty()) && (self.trust == Trust::Sizes || is_clean(name)))
            .map(|_| ()))
    }

    fn byte(&mut self) -> Result<Option<u8>> {
        let byte = self.window.fill(1)?.first().copied();
        Ok(if self.skip(1)? { byte } else { None })
    }

    fn skip(&mut self, length: u64) -> Result<bool> {
        if length > self.left {
            self.ran_out = true;
            return Ok(false);
        }
        self.left -= length;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.window.fill(length)?;
        self.window.consume(length);
        Ok(true)
    }

    fn name(&mut self) -> Result<Option<Vec<u8>>> {
        let mut name = Vec::new();
        loop {
            match self.byte()? {
                Some(0) => return Ok(Some(name)),
                Some(byte) if name.len() < MAX_NAME => name.push(byte),
                _ => return Ok(None),
            }
        }
    }
}

/// Whether these bytes are plausible as a name: UTF-8 without control characters.
pub(super) fn is_clean(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| !name.chars().any(char::is_control))
}
