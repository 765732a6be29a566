//! Decodes one event, independent of its position in the file.

use traceloom_core::ByteOrder;

use crate::{
    Alloc, Free, Gc, Marker, Padding, Record,
    encoding::varint::{self, Varint},
    raw::EventType,
};

/// An event without its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Event {
    pub(crate) delta_us: u64,
    pub(crate) body: Body,
    pub(crate) padding: Padding,
    /// Size in the file.
    pub(crate) len: usize,
}

impl Event {
    /// The event as a record, at the given time.
    pub(crate) fn record(&self, time_us: u64) -> Record<'static> {
        let Self { delta_us, padding, .. } = *self;
        match self.body {
            Body::Alloc { address, size_bytes, stack, thread } => {
                Record::Alloc(Alloc { delta_us, time_us, address, size_bytes, stack, thread, padding })
            }
            Body::Free { address } => Record::Free(Free { delta_us, time_us, address, padding }),
            Body::Gc { objects, size_bytes } => Record::Gc(Gc { delta_us, time_us, objects, size_bytes, padding }),
            Body::Marker { name } => Record::Marker(Marker { delta_us, time_us, name, padding }),
        }
    }
}

/// The event after the delta.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Body {
    Alloc { address: u64, size_bytes: u64, stack: u64, thread: u16 },
    Free { address: u64 },
    Gc { objects: u64, size_bytes: u64 },
    Marker { name: u64 },
}

/// Why there is no event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// The bytes end before it does.
    Cut,
    /// The type is not a documented one.
    Unknown(EventType),
    /// The varint at this offset in the event has more than 64 bits.
    TooLong(usize),
}

/// Reads an event of any shape from the front of `bytes`.
pub(crate) fn decode(bytes: &[u8], order: ByteOrder) -> Result<Event, Fault> {
    let Some((kind, rest)) = bytes.split_first() else { return Err(Fault::Cut) };
    let kind = EventType(*kind);
    if kind > EventType::MARKER {
        return Err(Fault::Unknown(kind));
    }
    let mut fields = Fields { bytes: rest, taken: 1, order };
    let delta = fields.varint()?;
    let (body, second, third) = match kind {
        EventType::ALLOC => {
            let address = fields.u64()?;
            let size = fields.varint()?;
            let stack = fields.varint()?;
            let thread = fields.u16()?;
            (Body::Alloc { address, size_bytes: size.value, stack: stack.value, thread }, size, stack)
        }
        EventType::FREE => (Body::Free { address: fields.u64()? }, NOTHING, NOTHING),
        EventType::GC => {
            let (objects, size) = (fields.varint()?, fields.varint()?);
            (Body::Gc { objects: objects.value, size_bytes: size.value }, objects, size)
        }
        _ => {
            let name = fields.varint()?;
            (Body::Marker { name: name.value }, name, NOTHING)
        }
    };
    let padding = Padding([surplus(delta), surplus(second), surplus(third)]);
    Ok(Event { delta_us: delta.value, body, padding, len: fields.taken })
}

/// Replaces a varint that an event does not have.
const NOTHING: Varint = Varint { value: 0, len: 1 };

#[inline]
fn surplus(varint: Varint) -> u8 {
    (varint.len - varint::len(varint.value)) as u8
}

struct Fields<'a> {
    bytes: &'a [u8],
    taken: usize,
    order: ByteOrder,
}

impl Fields<'_> {
    #[inline]
    fn varint(&mut self) -> Result<Varint, Fault> {
        match varint::read(self.bytes) {
            Ok(varint) => {
                self.bytes = self.bytes.get(varint.len..).unwrap_or_default();
                self.taken += varint.len;
                Ok(varint)
            }
            Err(varint::Fault::Cut) => Err(Fault::Cut),
            Err(varint::Fault::TooLong) => Err(Fault::TooLong(self.taken)),
        }
    }

    #[inline]
    fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(|bytes| self.order.u64(bytes))
    }

    #[inline]
    fn u16(&mut self) -> Result<u16, Fault> {
        self.array().map(|bytes| self.order.u16(bytes))
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (head, tail) = self.bytes.split_first_chunk::<N>().ok_or(Fault::Cut)?;
        self.bytes = tail;
        self.taken += N;
        Ok(*head)
    }
}
