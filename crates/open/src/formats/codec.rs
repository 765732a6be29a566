//! What is the same for every format crate, because all have the same names.

/// The part of `impl Format` that only hands on to a format crate: everything but `info`, `check` and
/// `sample`. `$module` is the crate, or the module of a dialect, which has the same names.
macro_rules! hand_on {
    ($module:path, header_bytes: $header_bytes:expr) => {
        fn descriptor(&self) -> &'static traceloom_core::Descriptor {
            use $module as codec;
            &codec::FORMAT
        }

        fn rules(&self) -> &'static [&'static traceloom_core::Rule] {
            use $module as codec;
            codec::findings::RULES
        }

        fn sniff(&self, prefix: &[u8]) -> traceloom_core::Sniff {
            use $module as codec;
            codec::sniff(prefix)
        }

        fn dump(
            &self,
            source: &Source,
            options: &Options,
            visit: &mut $crate::Dump<'_>,
        ) -> Result<traceloom_core::Findings> {
            use $module as codec;
            let reader = codec::open(source.clone(), options)?;
            let header = reader.header().clone();
            let header_bytes: fn(&codec::Header) -> u64 = $header_bytes;
            $crate::walk::dump(reader, &header, header_bytes(&header), visit)
        }

        fn rewrite(
            &self,
            source: &Source,
            out: &mut dyn std::io::Write,
            options: &Options,
        ) -> Result<traceloom_core::Findings> {
            use $module as codec;
            let mut reader = codec::open(source.clone(), options)?;
            let mut writer = codec::create(out, reader.header())?;
            while let Some(located) = traceloom_core::Records::next(&mut reader)? {
                writer.write(&located.record)?;
            }
            writer.finish()?;
            Ok(traceloom_core::Records::into_findings(reader))
        }

        fn canonical(
            &self,
            source: &Source,
            out: &mut dyn std::io::Write,
            variant: Option<&str>,
            options: &Options,
        ) -> Result<traceloom_core::Edited> {
            use $module as codec;
            codec::edit::canonical(source, out, variant, options)
        }

        fn repair(
            &self,
            source: &Source,
            out: &mut dyn std::io::Write,
            options: &Options,
        ) -> Result<traceloom_core::Edited> {
            use $module as codec;
            codec::edit::repair(source, out, options)
        }

        fn slice(
            &self,
            source: &Source,
            out: &mut dyn std::io::Write,
            slice: &traceloom_core::Slice,
            options: &Options,
        ) -> Result<traceloom_core::Edited> {
            use $module as codec;
            codec::edit::slice(source, out, slice, options)
        }

        fn merge(
            &self,
            sources: &[Source],
            out: &mut dyn std::io::Write,
            options: &Options,
        ) -> Result<traceloom_core::Edited> {
            use $module as codec;
            codec::edit::merge(sources, out, options)
        }
    };
}

pub(super) use hand_on;
