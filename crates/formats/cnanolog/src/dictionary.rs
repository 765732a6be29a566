//! The sites and levels of a file, which give its entries their meaning.

use std::collections::{BTreeSet, HashMap};

use traceloom_core::{ByteOrder, Cursor, Error, Limits, Options, Result, Source};

use crate::{
    Form, Level, Numbering, Section, Site,
    args::Types,
    raw::{ArgType, LEVEL_FIXED, SITE_FIXED},
};

/// Sites, levels, and how to read the arguments of their entries.
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// The sites as stored, one after the other.
    bytes: Vec<u8>,
    slots: usize,
    sites: Vec<StoredSite>,
    /// The valid types of all sites; they differ from the stored table if that was repaired.
    types: Vec<ArgType>,
    ids: Ids,
    levels: Vec<(u8, Vec<u8>)>,
    numbering: Numbering,
    /// Byte order of the stored sites.
    stored_order: ByteOrder,
    /// Byte order of the arguments; it may differ if the dictionary comes from another file.
    order: ByteOrder,
    prefers: Form,
    /// The run that numbered the sites, if known.
    run: Option<Run>,
}

/// Start of the process that wrote a file, as ticks, seconds and nanoseconds; the files of a rotated log share it.
pub(crate) type Run = (u64, i64, i32);

#[derive(Clone, Copy, Debug)]
struct StoredSite {
    id: u32,
    at: u32,
    types_at: u32,
    types_len: u8,
    numbers: u8,
}

#[derive(Clone, Debug)]
enum Ids {
    /// Ids equal indices, as the library numbers them.
    Dense,
    Sparse(HashMap<u32, u32>),
}

impl Dictionary {
    /// The dictionary of another file of the same program, to be supplied in [`crate::Extra`].
    pub fn of(source: Source, options: &Options) -> Result<Self> {
        match crate::open(source, options)?.into_dictionary() {
            Some(dictionary) => Ok(dictionary),
            None => Err(Error::unrecognized("this file has no dictionary")),
        }
    }

    pub(crate) fn empty(order: ByteOrder, slots: usize, numbering: Numbering) -> Self {
        Self {
            bytes: Vec::new(),
            slots,
            sites: Vec::new(),
            types: Vec::new(),
            ids: Ids::Dense,
            levels: Vec::new(),
            numbering,
            stored_order: order,
            order,
            prefers: Form::Packed,
            run: None,
        }
    }

    /// Number of sites.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Whether there are no sites.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Number of slots in the type tables: 16 or 50.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The site at an index.
    #[inline]
    pub fn site(&self, index: usize) -> Option<Site<'_>> {
        let at = self.sites.get(index)?.at as usize;
        parse_site(self.bytes.get(at..)?, self.stored_order, self.slots).map(|(site, _)| site)
    }

    /// All sites, in file order.
    pub fn sites(&self) -> impl Iterator<Item = Site<'_>> {
        (0..self.len()).filter_map(|index| self.site(index))
    }

    /// Index of the site with this id; the last one if several have it.
    #[inline]
    pub fn find(&self, id: u32) -> Option<u32> {
        match &self.ids {
            Ids::Dense => ((id as usize) < self.sites.len()).then_some(id),
            Ids::Sparse(ids) => ids.get(&id).copied(),
        }
    }

    /// The valid argument types of a site, repaired if the stored ones are impossible.
    #[inline]
    pub fn types(&self, index: usize) -> Option<Types<'_>> {
        let site = self.sites.get(index)?;
        let at = site.types_at as usize;
        let codes = self.types.get(at..at + usize::from(site.types_len))?;
        Some(Types { codes, numbers: site.numbers.into() })
    }

    /// The types themselves.
    pub fn arg_types(&self, index: usize) -> &[ArgType] {
        self.types(index).map_or(&[], |types| types.codes)
    }

    /// Whether the types of a site had to be recovered.
    pub fn has_recovered_types(&self, index: usize) -> bool {
        let stored = self.site(index).map(|site| site.stored_types().eq(self.arg_types(index).iter().copied()));
        stored == Some(false)
    }

    /// Custom levels in file order: number and name.
    pub fn levels(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.levels.iter().map(|(level, name)| (*level, name.as_slice()))
    }

    /// How the built-in levels are numbered.
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// The form in which ambiguous arguments are read.
    pub fn prefers(&self) -> Form {
        self.prefers
    }

    /// Byte order of the arguments.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// The name of a level, if it has one; CNanoLog calls the others `LEVEL_n`.
    pub fn level_name(&self, level: u8) -> Option<&[u8]> {
        if let Some(name) = self.numbering.name(level) {
            return Some(name.as_bytes());
        }
        self.levels.iter().find(|(number, _)| *number == level).map(|(_, name)| name.as_slice())
    }

    /// Offset of a site from the first one.
    pub(crate) fn site_offset(&self, index: usize) -> u64 {
        self.sites.get(index).map_or(0, |site| site.at.into())
    }

    /// Uses the dictionary for the entries of a file with this byte order.
    pub(crate) fn lend_to(&mut self, order: ByteOrder) {
        self.order = order;
    }

    /// Sets the run that numbered the sites.
    pub(crate) fn set_run(&mut self, run: Option<Run>) {
        self.run = run;
    }

    /// Whether the sites are known to be numbered by this run.
    pub(crate) fn is_of_run(&self, run: Option<Run>) -> bool {
        run.is_some() && self.run == run
    }

    /// Removes sites from the lookup by id.
    pub(crate) fn withdraw(&mut self, sites: &BTreeSet<usize>) {
        if !sites.is_empty() {
            let ids = self
                .ids()
                .zip(0..)
                .filter(|(id, index)| self.find(*id) == Some(*index) && !sites.contains(&(*index as usize)));
            self.ids = Ids::Sparse(ids.collect());
        }
    }

    pub(crate) fn prefer(&mut self, form: Form) {
        self.prefers = form;
    }

    pub(crate) fn number_levels(&mut self, numbering: Numbering) {
        self.numbering = numbering;
    }

    pub(crate) fn push_level(&mut self, level: Level<'_>) {
        self.levels.push((level.level, level.name.to_vec()));
    }

    /// Stores the bytes of all sites and the offset of each.
    pub(crate) fn fill(&mut self, bytes: Vec<u8>, slots: usize, starts: &[u32], limits: &Limits) -> Result<()> {
        limits.check_entries("log sites", starts.len() as u64)?;
        self.bytes = bytes;
        self.slots = slots;
        for at in starts {
            let parsed =
                self.bytes.get(*at as usize..).and_then(|bytes| parse_site(bytes, self.stored_order, self.slots));
            let Some((site, _)) = parsed else { continue };
            let types_at = self.types.len() as u32;
            self.types.extend(site.stored_types());
            self.sites.push(StoredSite { id: site.id, at: *at, types_at, types_len: 0, numbers: 0 });
            let index = self.sites.len() - 1;
            self.close_types(index);
        }
        if !self.sites.iter().enumerate().all(|(index, site)| site.id as usize == index) {
            let ids = self.sites.iter().enumerate().map(|(index, site)| (site.id, index as u32));
            self.ids = Ids::Sparse(ids.collect());
        }
        Ok(())
    }

    pub(crate) fn replace_types(&mut self, index: usize, types: &[ArgType]) {
        let types_at = self.types.len() as u32;
        self.types.extend_from_slice(types);
        if let Some(site) = self.sites.get_mut(index) {
            site.types_at = types_at;
        }
        self.close_types(index);
    }

    /// Assigns the types from `types_at` to the end of the list to this site.
    fn close_types(&mut self, index: usize) {
        let Some(site) = self.sites.get_mut(index) else { return };
        let codes = self.types.get(site.types_at as usize..).unwrap_or_default();
        site.types_len = codes.len().min(u8::MAX.into()) as u8;
        site.numbers = Types::new(codes).numbers.min(u8::MAX.into()) as u8;
    }

    /// Whether the ids, in file order, equal the indices.
    pub(crate) fn has_dense_ids(&self) -> bool {
        matches!(self.ids, Ids::Dense)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.sites.iter().map(|site| site.id)
    }
}

pub(crate) fn parse_section(bytes: &[u8], order: ByteOrder) -> Option<Section> {
    let mut cursor = Cursor::new(bytes, 0, order);
    let (magic, count) = (cursor.u32("magic").ok()?, cursor.u32("count").ok()?);
    let (total_size, reserved) = (cursor.u32("total_size").ok()?, cursor.u32("reserved").ok()?);
    Some(Section { magic, count, total_size, reserved })
}

/// A site and its length; cheap enough to repeat for every access.
pub(crate) fn parse_site(bytes: &[u8], order: ByteOrder, slots: usize) -> Option<(Site<'_>, usize)> {
    let (fixed, rest) = bytes.split_first_chunk::<SITE_FIXED>()?;
    let [a, b, c, d, level, num_args, e, f, g, h, i, j, k, l] = *fixed;
    let (arg_types, rest) = rest.split_at_checked(slots)?;
    let (file, rest) = rest.split_at_checked(order.u16([e, f]).into())?;
    let (format, rest) = rest.split_at_checked(order.u16([g, h]).into())?;
    let (id, line) = (order.u32([a, b, c, d]), order.u32([i, j, k, l]));
    Some((Site { id, level, num_args, line, arg_types, file, format }, bytes.len() - rest.len()))
}

/// A level and its length.
pub(crate) fn parse_level(bytes: &[u8]) -> Option<(Level<'_>, usize)> {
    let ([level, len, a, b], rest) = bytes.split_first_chunk::<LEVEL_FIXED>()?;
    let name = rest.get(..usize::from(*len))?;
    Some((Level { level: *level, name, padding: [*a, *b] }, LEVEL_FIXED + name.len()))
}
