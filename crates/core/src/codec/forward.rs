//! The parts of [`Codec`](crate::Codec) and [`Records`](crate::Records) that are the same in every format.

/// Declares the type of a format and implements [`Codec`](crate::Codec) for it with the items that every format crate
/// has under the same names; the caller writes only the parts that differ.
///
/// ```text
/// traceloom_core::codec! {
///     /// What it is.
///     pub struct Name;
///
///     fn header_bytes(header: &Header) -> u64 { … }
/// }
/// ```
#[macro_export]
macro_rules! codec {
    ($(#[$doc:meta])* pub struct $name:ident; $($own:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::codec::sealed::Sealed for $name {}

        impl $crate::Codec for $name {
            const FORMAT: &'static $crate::Descriptor = &FORMAT;
            const RULES: &'static [&'static $crate::Rule] = findings::RULES;

            type Header = Header;
            type Record<'a> = Record<'a>;
            type Reader = Reader;
            type Writer<W: ::std::io::Write> = Writer<W>;

            fn sniff(prefix: &[u8]) -> $crate::Sniff {
                sniff(prefix)
            }

            fn open(source: $crate::Source, options: &$crate::Options) -> $crate::Result<Reader> {
                open(source, options)
            }

            fn create<W: ::std::io::Write>(out: W, header: &Header) -> $crate::Result<Writer<W>> {
                create(out, header)
            }

            fn info(
                source: &$crate::Source,
                options: &$crate::Options,
            ) -> $crate::Result<($crate::Info, $crate::Findings)> {
                info::info(source, options)
            }

            fn canonical<W: ::std::io::Write>(
                source: &$crate::Source,
                out: W,
                variant: Option<&str>,
                options: &$crate::Options,
            ) -> $crate::Result<$crate::Edited> {
                edit::canonical(source, out, variant, options)
            }

            fn repair<W: ::std::io::Write>(
                source: &$crate::Source,
                out: W,
                options: &$crate::Options,
            ) -> $crate::Result<$crate::Edited> {
                edit::repair(source, out, options)
            }

            fn slice<W: ::std::io::Write>(
                source: &$crate::Source,
                out: W,
                slice: &$crate::Slice,
                options: &$crate::Options,
            ) -> $crate::Result<$crate::Edited> {
                edit::slice(source, out, slice, options)
            }

            fn merge<W: ::std::io::Write>(
                sources: &[$crate::Source],
                out: W,
                options: &$crate::Options,
            ) -> $crate::Result<$crate::Edited> {
                edit::merge(sources, out, options)
            }

            fn sample() -> $crate::Result<$crate::Sample> {
                sample::sample()
            }

            $($own)*
        }

        impl<W: ::std::io::Write> $crate::RecordWriter<$name, W> for Writer<W> {
            fn write(&mut self, record: &Record<'_>) -> $crate::Result<()> {
                self.write(record)
            }

            fn finish(self) -> $crate::Result<W> {
                self.finish()
            }
        }
    };
}

/// The parts of [`Records`](crate::Records) that follow from a reader's codec, its `header`, and the field that holds its
/// findings.
#[macro_export]
macro_rules! records_of {
    ($codec:ty, $($findings:ident).+) => {
        type Codec = $codec;

        fn header(&self) -> &$crate::HeaderOf<Self> {
            &self.header
        }

        fn findings(&self) -> &$crate::Findings {
            &self.$($findings).+
        }

        fn into_findings(self) -> $crate::Findings {
            self.$($findings).+
        }
    };
}
