//! The interface of every format.

use std::{io::Write, marker::PhantomData};

use traceloom_core::{
    Codec, Describe, Descriptor, Edited, Error, Findings, Info, Options, Records, Result, Rule, Sample, Sibling, Slice,
    Sniff, Source, checked,
};

/// Receives the header and every record of a file: offset, length, contents. `false` stops the walk.
pub type Dump<'d> = dyn FnMut(u64, u64, &dyn Describe) -> Result<bool> + 'd;

/// A type-erased [`Codec`]: one virtual call per file, never per record in a hot loop.
pub trait Format: Sync {
    /// The format's descriptor.
    fn descriptor(&self) -> &'static Descriptor;

    /// Every rule that the reader checks.
    fn rules(&self) -> &'static [&'static Rule];

    /// See [`Codec::sniff`].
    fn sniff(&self, prefix: &[u8]) -> Sniff;

    /// See [`Codec::COMPANION`].
    fn companion(&self) -> Option<&'static str>;

    /// See [`Codec::settle`].
    fn settle(&self, source: &Source, options: &Options) -> Result<Option<&'static str>>;

    /// See [`Codec::info`].
    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)>;

    /// See [`Codec::check`].
    fn check(&self, source: &Source, options: &Options) -> Result<Findings>;

    /// Passes the header and every record to `visit`.
    fn dump(&self, source: &Source, options: &Options, visit: &mut Dump<'_>) -> Result<Findings>;

    /// See [`Codec::rewrite`].
    fn rewrite(&self, source: &Source, out: &mut dyn Write, options: &Options) -> Result<Findings>;

    /// See [`Codec::canonical`].
    fn canonical(
        &self,
        source: &Source,
        out: &mut dyn Write,
        variant: Option<&str>,
        options: &Options,
    ) -> Result<Edited>;

    /// See [`Codec::convert_to`].
    fn convert_to(&self, source: &Source, out: &mut dyn Write, to: &Sibling<'_>, options: &Options) -> Result<Edited>;

    /// See [`Codec::repair`].
    fn repair(&self, source: &Source, out: &mut dyn Write, options: &Options) -> Result<Edited>;

    /// See [`Codec::slice`].
    fn slice(&self, source: &Source, out: &mut dyn Write, slice: &Slice, options: &Options) -> Result<Edited>;

    /// See [`Codec::merge`].
    fn merge(&self, sources: &[Source], out: &mut dyn Write, options: &Options) -> Result<Edited>;

    /// See [`Codec::sample`].
    fn sample(&self) -> Result<Sample>;
}

/// Represents a codec when its type does not matter.
pub(crate) struct Erased<C>(PhantomData<fn() -> C>);

impl<C> Erased<C> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<C: Codec> Format for Erased<C> {
    fn descriptor(&self) -> &'static Descriptor {
        C::FORMAT
    }

    fn rules(&self) -> &'static [&'static Rule] {
        C::RULES
    }

    fn sniff(&self, prefix: &[u8]) -> Sniff {
        C::sniff(prefix)
    }

    fn companion(&self) -> Option<&'static str> {
        C::COMPANION
    }

    fn settle(&self, source: &Source, options: &Options) -> Result<Option<&'static str>> {
        C::settle(source, options)
    }

    fn info(&self, source: &Source, options: &Options) -> Result<(Info, Findings)> {
        C::info(source, options)
    }

    fn check(&self, source: &Source, options: &Options) -> Result<Findings> {
        C::check(source, options)
    }

    fn dump(&self, source: &Source, options: &Options, visit: &mut Dump<'_>) -> Result<Findings> {
        let mut reader = C::open(source.clone(), options)?;
        let header = reader.header();
        let mut more = visit(0, C::header_bytes(header), header)?;
        while more && let Some(located) = reader.next()? {
            more = visit(located.offset, located.len, &located.record)?;
        }
        Ok(reader.into_findings())
    }

    fn rewrite(&self, source: &Source, out: &mut dyn Write, options: &Options) -> Result<Findings> {
        written(|| C::rewrite(source, out, options))
    }

    fn canonical(
        &self,
        source: &Source,
        out: &mut dyn Write,
        variant: Option<&str>,
        options: &Options,
    ) -> Result<Edited> {
        written(|| C::canonical(source, out, variant, options))
    }

    fn convert_to(&self, source: &Source, out: &mut dyn Write, to: &Sibling<'_>, options: &Options) -> Result<Edited> {
        if !C::FORMAT.siblings.contains(&to.format.id) {
            return Err(to.refused_by(C::FORMAT));
        }
        written(|| C::convert_to(source, out, to, options))
    }

    fn repair(&self, source: &Source, out: &mut dyn Write, options: &Options) -> Result<Edited> {
        written(|| checked::<C, _>(out, options, |out| C::repair(source, out, options)))
    }

    fn slice(&self, source: &Source, out: &mut dyn Write, slice: &Slice, options: &Options) -> Result<Edited> {
        written(|| C::slice(source, out, slice, options))
    }

    fn merge(&self, sources: &[Source], out: &mut dyn Write, options: &Options) -> Result<Edited> {
        written(|| checked::<C, _>(out, options, |out| C::merge(sources, out, options)))
    }

    fn sample(&self) -> Result<Sample> {
        written(C::sample)
    }
}

/// A browser page writes no traces, and is smaller without the writers.
fn written<T>(write: impl FnOnce() -> Result<T>) -> Result<T> {
    if cfg!(target_family = "wasm") {
        return Err(Error::unsupported("this build writes no traces"));
    }
    write()
}
