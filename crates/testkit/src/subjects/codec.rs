//! What is the same for every format crate, because all have the same names.

use std::ops::Range;

/// Which field was changed, and where it lies.
pub(super) type Field = (&'static str, Range<usize>);

/// The part of `impl Subject` that only hands on to a format crate. `$module` is the crate, or the module of a
/// dialect, which has the same names; the functions are those of the subject's own file:
///
/// - `$open` opens a file, with every check that its reader has;
/// - `$change_header` changes one field of the header, and says which and where in the file it lies;
/// - `$changes` gives, for the records below a header, what changes one field of each of them; it is told the
///   length of the record, and says which field it is and where in the record that lies.
macro_rules! hand_on {
    ($module:path, $open:ident, $change_header:ident, $changes:ident) => {
        fn format(&self) -> &'static traceloom_core::Descriptor {
            use $module as codec;
            &codec::FORMAT
        }

        fn sniff(&self, prefix: &[u8]) -> traceloom_core::Sniff {
            use $module as codec;
            codec::sniff(prefix)
        }

        fn walk(&self, source: Source, options: &Options) -> Result<$crate::Digest> {
            let reader = $open(source, options)?;
            $crate::Digest::of(&reader.header().clone(), reader)
        }

        fn drain(&self, source: Source, options: &Options) -> Result<u64> {
            $crate::digest::drain($open(source, options)?)
        }

        fn rewrite_with(
            &self,
            source: Source,
            options: &Options,
            is_changed: &mut $crate::subject::IsChanged<'_>,
        ) -> Result<Vec<u8>> {
            use $module as codec;
            let mut reader = codec::open(source, options)?;
            let mut header = reader.header().clone();
            let mut changed = header.clone();
            if $change_header(&mut changed).is_some_and(|(field, place)| is_changed(field, place)) {
                header = changed;
            }
            let mut change = $changes(&header);
            let mut bytes = Vec::new();
            let mut writer = codec::create(&mut bytes, &header)?;
            while let Some(located) = traceloom_core::Records::next(&mut reader)? {
                let (at, mut changed) = (located.offset as usize, located.record);
                let field = change(&mut changed, located.len as usize);
                let is_changed =
                    field.is_some_and(|(field, place)| is_changed(field, at + place.start..at + place.end));
                writer.write(if is_changed { &changed } else { &located.record })?;
            }
            writer.finish()?;
            Ok(bytes)
        }
    };
}

pub(super) use hand_on;
