//! Broken sources and damaged files: reading always ends in records or an error.

mod support;

use std::io;

use proptest::prelude::*;
use support::{sample, walk};
use traceloom_core::{Limits, Options, ReadAt, Records, Source};
use traceloom_memlyze::{Header, raw::Packing};

/// Returns its bytes up to an offset and fails there.
struct Failing {
    bytes: Vec<u8>,
    from: u64,
}

impl ReadAt for Failing {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset >= self.from {
            return Err(io::Error::other("the disk is gone"));
        }
        let len = buffer.len().min((self.from - offset) as usize);
        self.bytes.read_at(offset, &mut buffer[..len])
    }
}

#[test]
fn an_error_of_the_source_is_final() {
    for packing in [Packing::Plain, Packing::Blocks] {
        let bytes = sample(packing);
        let from = bytes.len() as u64 * 3 / 4;
        let limits = Limits::with(|limits| limits.window_bytes = 1000);
        let source = Source::custom(Failing { bytes, from });
        let mut reader = traceloom_memlyze::open(source, &Options::default().with_limits(limits)).unwrap();
        let error = loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the failure was swallowed"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("the disk is gone"), "{error}");
        assert!(reader.next().unwrap().is_none());
    }
}

proptest! {
    #[test]
    fn any_bytes_behind_a_header_are_survived(
        tail in prop::collection::vec(prop_oneof![0u8..5, any::<u8>()], 0..600),
        metadata_len in 0u32..40,
    ) {
        let mut bytes = traceloom_memlyze::create(Vec::new(), &Header { metadata_len, ..Header::new(5) })
            .unwrap()
            .finish()
            .unwrap();
        bytes.extend_from_slice(&tail);
        let walked = walk(&bytes, &Options::default()).unwrap();
        prop_assert!(walked.rewritten == bytes);
    }

    #[test]
    fn any_metadata_text_is_survived(text in "[\\[\\]{}:,\"0-9a-z\\\\ ]{0,200}", whole in any::<bool>()) {
        let text = if whole { format!("{{\"files\": {{\"0\": \"{text}\"}}}}") } else { text };
        let metadata_len = text.len() as u32;
        let header = Header { metadata_len, ..Header::new(5) };
        let mut bytes = traceloom_memlyze::create(Vec::new(), &header).unwrap().finish().unwrap();
        bytes.extend_from_slice(text.as_bytes());
        let walked = walk(&bytes, &Options::default()).unwrap();
        prop_assert!(walked.rewritten == bytes);
        // Other JSON parsers must agree with ours.
        let theirs = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok();
        let refused = ["memlyze.metadata-invalid", "memlyze.metadata-not-object", "memlyze.metadata-length"];
        let ours = !walked.codes.iter().any(|code| refused.contains(code));
        prop_assert!(ours == theirs || metadata_len == 0, "{text:?}: {:?}", walked.findings);
    }
}
