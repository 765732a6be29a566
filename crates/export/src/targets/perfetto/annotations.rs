//! Arguments as debug annotations.

use hashbrown::HashMap;
use traceloom_core::{Result, text::push_hex};

use super::{
    fields::{annotation, event},
    packets::Packets,
    wire::Wire,
};
use traceloom_passes::{Args, Datum, NameId, NamePool, Owner};

/// Annotations of one event, reused from event to event.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    /// The annotation under construction.
    open: Wire,
    /// Its key, if it is an array.
    array: Option<NameId>,
    /// Keys of the event, to make equal keys distinct: Perfetto would keep only one of them.
    keys: HashMap<NameId, u32>,
    scratch: Vec<u8>,
}

impl Annotations {
    /// Adds the arguments of a row to the event.
    #[inline]
    pub(super) fn add(
        &mut self,
        args: &mut Args,
        owner: Owner,
        names: &mut NamePool,
        packets: &mut Packets<'_>,
    ) -> Result<()> {
        if args.has_any_of(owner.table()) { self.add_all(args, owner, names, packets) } else { Ok(()) }
    }

    fn add_all(
        &mut self,
        args: &mut Args,
        owner: Owner,
        names: &mut NamePool,
        packets: &mut Packets<'_>,
    ) -> Result<()> {
        self.keys.clear();
        args.visit(owner, |arg| {
            // Elements of an array are consecutive.
            if arg.idx.is_none() || self.array != Some(arg.key) {
                self.close(packets);
                let count = self.keys.entry(arg.key).or_default();
                *count += 1;
                match *count {
                    1 => packets.key(&mut self.open, arg.key, names)?,
                    count => self.open.text(annotation::NAME, &format!("{} ({count})", names.get(arg.key)?)),
                }
            }
            match arg.idx {
                None => {
                    put_value(&mut self.open, arg.value, &mut self.scratch);
                    self.close(packets);
                }
                Some(_) => {
                    self.array = Some(arg.key);
                    let Self { open, scratch, .. } = self;
                    open.message(annotation::ARRAY_VALUES, |wire| put_value(wire, arg.value, scratch));
                }
            }
            Ok(())
        })?;
        self.close(packets);
        Ok(())
    }

    /// Adds one text.
    pub(super) fn add_text(&mut self, name: &str, text: &str, packets: &mut Packets<'_>) {
        packets.event.message(event::DEBUG_ANNOTATIONS, |wire| {
            wire.text(annotation::NAME, name);
            wire.text(annotation::STRING_VALUE, text);
        });
    }

    /// Adds one number.
    pub(super) fn add_uint(&mut self, name: &str, number: u64, packets: &mut Packets<'_>) {
        packets.event.message(event::DEBUG_ANNOTATIONS, |wire| {
            wire.text(annotation::NAME, name);
            wire.uint(annotation::UINT_VALUE, number);
        });
    }

    fn close(&mut self, packets: &mut Packets<'_>) {
        self.array = None;
        if self.open.len() > 0 {
            packets.event.bytes(event::DEBUG_ANNOTATIONS, &self.open.bytes);
            self.open.clear();
        }
    }
}

fn put_value(wire: &mut Wire, value: Datum<'_>, scratch: &mut Vec<u8>) {
    match value {
        Datum::Bytes(bytes) => {
            scratch.clear();
            push_hex(scratch, bytes);
            wire.bytes(annotation::STRING_VALUE, scratch);
        }
        Datum::Float(number) => wire.double(annotation::DOUBLE_VALUE, number),
        Datum::Int(number) => wire.int(annotation::INT_VALUE, number),
        Datum::Null => wire.text(annotation::STRING_VALUE, "null"),
        Datum::Text(text) => wire.text(annotation::STRING_VALUE, text),
        Datum::Unsigned(number) => wire.uint(annotation::UINT_VALUE, number),
    }
}
