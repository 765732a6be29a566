//! The part of the file before its first process: clock, origin, producer.

use traceloom_core::{Records, Result};
use traceloom_model::{ClockKind, Halt, Tables, trackers::Extent};
use traceloom_nytprof::{FORMAT, Header, Reader, Record, leading_number, text_of};

use super::clock::unix_ns;
use crate::{
    shared::{Facts, push_trace},
    trace::Input,
};

/// Facts for the row of `traces`; complete at the first process, so that a partial and a full read agree.
#[derive(Debug, Default)]
pub(super) struct Head {
    is_settled: bool,
    start: Option<f64>,
    basetime: Option<f64>,
    clock_id: Option<Vec<u8>>,
    ticks_per_sec: Option<u32>,
    xs_version: Option<String>,
}

/// `CLOCK_REALTIME`, and none, which means `gettimeofday`.
const WALL_CLOCKS: [&[u8]; 2] = [b"0", b"-1"];

impl Head {
    /// Reads only up to the first process.
    pub(super) fn read(reader: &mut Reader) -> Result<Self> {
        let mut head = Self::default();
        while !head.is_settled
            && let Some(located) = reader.next()?
        {
            head.take(&located.record);
        }
        Ok(head)
    }

    pub(super) fn take(&mut self, record: &Record<'_>) {
        if self.is_settled {
            return;
        }
        match record {
            Record::PidStart(start) => (self.start, self.is_settled) = (Some(start.time.value()), true),
            Record::Attribute(pair) => {
                if let Some(value) = pair.value {
                    self.attribute(pair.key, value);
                }
            }
            _ => {}
        }
    }

    fn attribute(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"basetime" => self.basetime = text_of(value).trim().parse().ok(),
            b"clock_id" => self.clock_id = Some(value.trim_ascii().to_vec()),
            b"ticks_per_sec" => self.ticks_per_sec = Some(leading_number(value)).filter(|ticks| *ticks > 0),
            b"xs_version" => self.xs_version = Some(text_of(value).into_owned()),
            _ => {}
        }
    }

    /// Start of the first process in nanoseconds since 1970, or the closest known time.
    pub(super) fn origin_ns(&self) -> Option<i128> {
        self.start.or(self.basetime).filter(|seconds| seconds.is_finite()).map(unix_ns)
    }

    /// Pushes the row of `traces`.
    pub(super) fn push(
        &self,
        input: &Input<'_>,
        header: &Header,
        extent: Extent,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let origin = self.origin_ns().and_then(|origin| i64::try_from(origin).ok());
        let is_wall = self.clock_id.as_ref().is_some_and(|id| WALL_CLOCKS.contains(&id.as_slice()));
        let producer = self.xs_version.as_ref().map(|version| format!("Devel::NYTProf {version}"));
        let facts = Facts {
            format: &FORMAT,
            version: &format!("{}.{}", header.major, header.minor),
            producer: producer.as_deref(),
            clock: if is_wall { ClockKind::Wall } else { ClockKind::Monotonic },
            clock_hz: self.ticks_per_sec.map(u64::from),
            start_ticks: None,
            start_native_ns: origin.unwrap_or(0),
            unix_origin_ns: origin,
            extent,
        };
        push_trace(input, &facts, tables)
    }
}
