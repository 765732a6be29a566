//! The variants of both dialects: uncompressed, or at one of zlib's levels.

use traceloom_core::{Descriptor, Result, Variant};

/// The profiler's default level.
const DEFAULT_LEVEL: u8 = 6;

/// A variant without compression, and one per level.
pub(crate) const fn with_levels(plain: Variant) -> [Variant; 12] {
    [
        plain,
        Variant::new("zlib", "compressed at level 6"),
        Variant::new("zlib0", "stored in zlib blocks"),
        Variant::new("zlib1", "compressed at level 1, the fastest"),
        Variant::new("zlib2", "compressed at level 2"),
        Variant::new("zlib3", "compressed at level 3"),
        Variant::new("zlib4", "compressed at level 4"),
        Variant::new("zlib5", "compressed at level 5"),
        Variant::new("zlib6", "compressed at level 6"),
        Variant::new("zlib7", "compressed at level 7"),
        Variant::new("zlib8", "compressed at level 8"),
        Variant::new("zlib9", "compressed at level 9, the smallest"),
    ]
}

/// The compression level of a variant of this dialect: `None` for no compression.
pub(crate) fn level_of(format: &Descriptor, variant: &str) -> Result<Option<u8>> {
    if !format.variants.iter().any(|known| known.id == variant) {
        return Err(format.unknown_variant(variant));
    }
    Ok(variant.strip_prefix("zlib").map(|level| level.parse().unwrap_or(DEFAULT_LEVEL)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pynytprof;

    #[test]
    fn every_variant_that_is_listed_is_known_and_no_other() {
        for (format, plain) in [(&crate::FORMAT, "plain"), (&pynytprof::FORMAT, "document")] {
            let levels = format.variants.iter().map(|variant| level_of(format, variant.id).unwrap());
            let mut expected = vec![None, Some(6)];
            expected.extend((0..=9).map(Some));
            assert_eq!(levels.collect::<Vec<_>>(), expected);
            assert_eq!(format.variants.first().map(|variant| variant.id), Some(plain));
            for unknown in ["", "zlib10", "zlib06", "Zlib", "gzip"] {
                let message = level_of(format, unknown).unwrap_err().to_string();
                assert!(message.contains(&format!("{plain}, zlib, zlib0, zlib1")), "{message}");
            }
        }
        assert!(level_of(&pynytprof::FORMAT, "plain").is_err());
        assert!(level_of(&crate::FORMAT, "document").is_err());
    }
}
