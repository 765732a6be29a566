//! Recognises what a chunk holds: the tool wrote the same tags with many contents.

use traceloom_core::{Limits, Result, Source, Window};

use super::raw::{FIGURES_BYTES, Form, Tag, VISIT_BYTES};
use crate::raw::get_integer;

/// What is known about a file when a chunk is met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// An earlier chunk has integers of variable length, so this one has too.
    pub(super) is_varint: bool,
    /// Subs have line ranges, so calls have places.
    pub(super) has_ranges: bool,
}

/// A chunk's contents, all of them in the source.
pub(super) struct Contents<'a> {
    pub(super) source: &'a Source,
    pub(super) start: u64,
    pub(super) length: u64,
    /// The chunk says that it is longer, and the file is cut.
    pub(super) is_cut: bool,
}

/// Names longer than this are no names.
pub(super) const LONGEST_NAME: usize = 1 << 16;
/// No file has so many; four letters of a name, taken for a number, are more.
const MAX_LINES: u32 = 1 << 24;

/// How much like what the tool writes the items have to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Trust {
    /// Fields of the right sizes.
    Sizes,
    /// Names that are names, too.
    Names,
    /// Numbers that mean something, too: flags of 0, first lines before last ones.
    Numbers,
}

/// Forms in the order in which they are tried. The same bytes can be a sub of 9 bytes' name and a visit, or a
/// sub with its lines and two subs without, so that what nothing else looks like comes first: the document's
/// own form is never taken for another.
const D_FORMS: &[(Form, Trust)] = &[
    (Form::Subs, Trust::Numbers),
    (Form::Visits, Trust::Sizes),
    (Form::Ranges, Trust::Numbers),
    (Form::Subs, Trust::Names),
    (Form::Ranges, Trust::Names),
    (Form::VarintVisits, Trust::Sizes),
    // A name in another encoding is still a name, if nothing else explains the bytes.
    (Form::Subs, Trust::Sizes),
];

/// The same where other chunks have integers of variable length.
const VARINT_D_FORMS: &[(Form, Trust)] = &[
    (Form::VarintVisits, Trust::Sizes),
    (Form::Visits, Trust::Sizes),
    (Form::Subs, Trust::Names),
    (Form::Ranges, Trust::Names),
    (Form::Subs, Trust::Sizes),
];

impl Contents<'_> {
    /// The first form that explains all bytes.
    pub(super) fn form(&self, tag: Tag, context: Context) -> Result<Form> {
        let candidates: &[(Form, Trust)] = match tag {
            Tag::S if context.is_varint => &[(Form::VarintLines, Trust::Sizes), (Form::Lines, Trust::Sizes)],
            Tag::S => &[(Form::Lines, Trust::Sizes), (Form::VarintLines, Trust::Sizes)],
            Tag::C if context.has_ranges => &[(Form::SiteCalls, Trust::Sizes)],
            Tag::C if context.is_varint => &[(Form::VarintEdges, Trust::Sizes), (Form::Edges, Trust::Sizes)],
            Tag::C => &[(Form::Edges, Trust::Sizes), (Form::VarintEdges, Trust::Sizes)],
            Tag::D if self.length == 0 => &[(Form::Subs, Trust::Sizes)],
            Tag::D if context.is_varint => VARINT_D_FORMS,
            Tag::D => D_FORMS,
            Tag::F => {
                &[(Form::VarintFiles, Trust::Names), (Form::Files, Trust::Names), (Form::IndexedFiles, Trust::Sizes)]
            }
            Tag::A => &[(Form::Properties, Trust::Names)],
            _ => &[],
        };
        for (form, trust) in candidates {
            if self.fits(*form, *trust)? {
                return Ok(*form);
            }
        }
        Ok(Form::Raw)
    }

    fn fits(&self, form: Form, trust: Trust) -> Result<bool> {
        match form {
            Form::Lines | Form::Edges | Form::SiteCalls => {
                return Ok(self.is_cut || self.length.is_multiple_of(FIGURES_BYTES as u64));
            }
            Form::IndexedFiles => return Ok(self.length.is_multiple_of(8)),
            Form::Visits if !self.is_cut && self.length % VISIT_BYTES as u64 != 1 => return Ok(false),
            _ => {}
        }
        let is_last_resort = form == Form::Subs && trust == Trust::Sizes;
        let mut scan = Scan::new(self, trust);
        while scan.left > 0 {
            match scan.item(form)? {
                Some(()) => {}
                // A piece of a first sub is all that is left of the document's form.
                None => return Ok(self.is_cut && scan.ran_out && (scan.items > 0 || is_last_resort)),
            }
            scan.items += 1;
            if scan.has_ended {
                // A list that is over is not cut.
                return Ok(scan.left == 0 && !self.is_cut);
            }
        }
        // A list of visits has to end with its mark.
        Ok(!matches!(form, Form::Visits | Form::VarintVisits) || self.is_cut)
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
        // No larger than the chunk: a file may have very many small ones.
        let window_bytes = usize::try_from(contents.length).unwrap_or(usize::MAX).clamp(16, 64 << 10);
        let mut window =
            Window::new(contents.source.clone(), &Limits::with(|limits| limits.window_bytes = window_bytes));
        window.seek(contents.start);
        Self { window, left: contents.length, items: 0, ran_out: false, has_ended: false, trust }
    }

    fn item(&mut self, form: Form) -> Result<Option<()>> {
        match form {
            Form::Subs => self.sub(),
            Form::Ranges => self.range(),
            Form::Files => self.skip_and_name(16, false),
            Form::Properties => self.property(),
            Form::Visits | Form::VarintVisits => self.visit(form),
            Form::VarintLines | Form::VarintEdges => {
                Ok(if self.integers(3)? && self.skip(16)? { Some(()) } else { None })
            }
            Form::VarintFiles => {
                if !self.integers(4)? {
                    return Ok(None);
                }
                self.skip_and_name(0, false)
            }
            _ => Ok(None),
        }
    }

    fn visit(&mut self, form: Form) -> Result<Option<()>> {
        match self.byte()? {
            Some(0) => {
                self.has_ended = true;
                Ok(Some(()))
            }
            Some(1) => {
                let is_whole = if form == Form::Visits { self.skip(16)? } else { self.integers(2)? && self.skip(8)? };
                Ok(is_whole.then_some(()))
            }
            _ => Ok(None),
        }
    }

    fn sub(&mut self) -> Result<Option<()>> {
        let [_, flags] = self.numbers()?;
        if self.trust == Trust::Numbers && flags != 0 {
            return Ok(None);
        }
        self.skip_and_name(8, true)
    }

    fn range(&mut self) -> Result<Option<()>> {
        let [_, _, first_line, last_line] = self.numbers()?;
        let needs_meaning = self.trust == Trust::Numbers;
        if needs_meaning && (first_line > last_line || last_line >= MAX_LINES) {
            return Ok(None);
        }
        self.skip_and_name(16, !needs_meaning)
    }

    /// The next numbers of 4 bytes, which stay where they are; 0 for those that are not there.
    fn numbers<const N: usize>(&mut self) -> Result<[u32; N]> {
        let mut bytes = self.window.fill(4 * N)?.chunks_exact(4);
        Ok(std::array::from_fn(|_| {
            bytes.next().and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
        }))
    }

    fn property(&mut self) -> Result<Option<()>> {
        let name = self.name()?;
        Ok(name.filter(|name| name.contains(&b'=') && is_clean(name)).map(|_| ()))
    }

    /// Fixed bytes, then a name; where it may be empty, almost everything is one.
    fn skip_and_name(&mut self, fixed: u64, may_be_empty: bool) -> Result<Option<()>> {
        if !self.skip(fixed)? {
            return Ok(None);
        }
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

    /// Integers in their shortest form only: others would not come out the same.
    fn integers(&mut self, count: usize) -> Result<bool> {
        for _ in 0..count {
            let Some(integer) = get_integer(self.window.fill(5)?) else { return Ok(false) };
            if integer.is_padded || !self.skip(integer.len as u64)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn name(&mut self) -> Result<Option<Vec<u8>>> {
        let mut name = Vec::new();
        loop {
            match self.byte()? {
                Some(0) => return Ok(Some(name)),
                Some(byte) if name.len() < LONGEST_NAME => name.push(byte),
                _ => return Ok(None),
            }
        }
    }
}

/// Whether these bytes can be meant as a name: UTF-8 without control characters.
pub(super) fn is_clean(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| !name.chars().any(char::is_control))
}
