//! Takes the payload of one record apart; knows nothing of where in the file it is.

use traceloom_core::{ByteOrder, Cursor, Finding, Findings, Position, Result, find_nul};

use crate::{
    Bookmark, Descriptor, Name, Switch, Value,
    findings::{
        DESCRIPTOR_NAME, MISSING_NUL, NO_NUMBER, SURPLUS, VALUE_SHORT, VALUE_SIZE, VALUE_TEXT, VALUE_TYPE, VALUE_WIDTH,
    },
    raw::{BLOCK_FIXED, BlockType, DataType, Layout, Status, SwitchOrder, VALUE_FIXED, Width},
};

/// Reads an id of the given width.
pub(super) fn id(cursor: &mut Cursor<'_>, width: Width, field: &'static str) -> Result<u64> {
    match width {
        Width::Absent => Ok(0),
        Width::U32 => Ok(cursor.u32(field)?.into()),
        Width::U64 => cursor.u64(field),
    }
}

/// The fixed part of a block, event or value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) descriptor: u32,
}

/// Takes the prefix and fixed part of a block apart.
#[inline(always)]
pub(super) fn block_fixed(bytes: &[u8; 2 + BLOCK_FIXED], order: ByteOrder) -> Fixed {
    Fixed { begin: order.u64(part(bytes, 2)), end: order.u64(part(bytes, 10)), descriptor: order.u32(part(bytes, 18)) }
}

/// Bytes of a fixed part; the compiler sees that none can be missing.
#[inline(always)]
pub(super) fn part<const N: usize, const M: usize>(fixed: &[u8; M], at: usize) -> [u8; N] {
    fixed.get(at..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or([0; N])
}

/// Whether a block's stored name ends in its first NUL, as it should; most are that NUL alone.
#[inline]
pub(super) fn is_name(stored: &[u8]) -> bool {
    matches!(stored, [0]) || find_nul(stored).is_some_and(|nul| nul + 1 == stored.len())
}

/// Whether what follows the fixed part of a block are the data of a value, as many as announced.
#[inline]
pub(super) fn is_value(stored: &[u8], order: ByteOrder) -> bool {
    let announced = stored.get(2..).and_then(|bytes| bytes.first_chunk::<2>());
    announced.is_some_and(|size| VALUE_HEAD + usize::from(order.u16(*size)) == stored.len())
}

/// Splits text at its NUL and reports what is odd about it.
#[inline(always)]
pub(super) fn name<'a>(bytes: &'a [u8], what: &'static str, offset: u64, findings: &mut Findings) -> Result<Name<'a>> {
    let name = Name::stored(bytes);
    if !name.is_canonical() {
        report_name(&name, what, offset, findings)?;
    }
    Ok(name)
}

#[cold]
fn report_name(name: &Name<'_>, what: &'static str, offset: u64, findings: &mut Findings) -> Result<()> {
    let position = Position::at(offset).field("name");
    let finding = match name.tail.len() {
        0 if name.text.is_empty() && what == "block" => Finding::new(&NO_NUMBER, position),
        0 => Finding::new(&MISSING_NUL, position).with("what", format!("{what}'s text")),
        tail => Finding::new(&SURPLUS, position).with("bytes", tail - 1).with("what", format!("{what}'s text")),
    };
    findings.report(finding)
}

/// A descriptor of at least the fixed size.
pub(super) fn descriptor<'a>(mut cursor: Cursor<'a>, index: usize, findings: &mut Findings) -> Result<Descriptor<'a>> {
    let offset = cursor.offset();
    let id = cursor.u32("id")?;
    let line = cursor.i32("line")?;
    let color = cursor.u32("color")?;
    let block_type = BlockType(cursor.u8("type")?);
    let status = Status(cursor.u8("status")?);
    let declared = cursor.u16("name_size")?;
    let texts = cursor.rest();
    let name_bytes = split_name(texts, declared.into());
    let file_bytes = texts.get(name_bytes.len()..).unwrap_or_default();
    let odd_name_size = (name_bytes.len() != usize::from(declared)).then_some(declared);
    if odd_name_size.is_some() {
        let odd = Finding::new(&DESCRIPTOR_NAME, Position::at(offset).field("name_size"));
        findings.report(odd.with("index", index).with("declared", declared).with("found", name_bytes.len()))?;
    }
    let name = name(name_bytes, "descriptor", offset, findings)?;
    let file = self::name(file_bytes, "descriptor's file", offset, findings)?;
    Ok(Descriptor { id, line, color, block_type, status, name, file, odd_size: None, odd_name_size })
}

/// The name at the start of a descriptor's texts, with its NUL.
fn split_name(texts: &[u8], declared: usize) -> &[u8] {
    let nul = texts.iter().position(|byte| *byte == 0);
    let end = match (nul, texts.get(..declared)) {
        // Where the announced name goes beyond its NUL, or stops right before it, the announcement is
        // wrong; with neither, the NUL is missing and belongs to the file.
        (Some(nul), Some(name)) if nul <= declared && name.last().is_some_and(|byte| *byte != 0) => nul + 1,
        (_, Some(_)) => declared,
        (nul, None) => nul.map_or(texts.len(), |nul| nul + 1),
    };
    texts.get(..end).unwrap_or(texts)
}

/// A context switch of at least the fixed size.
pub(super) fn switch<'a>(mut cursor: Cursor<'a>, layout: &Layout, findings: &mut Findings) -> Result<Switch<'a>> {
    let offset = cursor.offset();
    let (begin, end, target) = match layout.switch {
        SwitchOrder::TimesFirst => {
            let (begin, end) = (cursor.u64("begin")?, cursor.u64("end")?);
            (begin, end, id(&mut cursor, layout.thread_id, "target")?)
        }
        SwitchOrder::TargetFirst => {
            let target = cursor.u64("target")?;
            (cursor.u64("begin")?, cursor.u64("end")?, target)
        }
    };
    let name = name(cursor.rest(), "context switch", offset, findings)?;
    Ok(Switch { begin, end, target, name, odd_size: None })
}

/// Bytes of a value between the fixed part of every block and its data.
const VALUE_HEAD: usize = VALUE_FIXED - BLOCK_FIXED;

/// A value, from what follows the fixed part of every block; `None` where that is too short.
#[inline(never)]
pub(super) fn value<'a>(
    fixed: Fixed,
    stored: &'a [u8],
    order: ByteOrder,
    offset: u64,
    findings: &mut Findings,
) -> Result<Option<Value<'a>>> {
    let Some((value, declared)) = split_value(fixed, stored, order) else {
        let short = Finding::new(&VALUE_SHORT, Position::at(offset));
        findings.report(short.with("size", BLOCK_FIXED + stored.len()))?;
        return Ok(None);
    };
    if is_odd_value(&value, declared) {
        report_value(&value, declared, offset, findings)?;
    }
    Ok(Some(value))
}

/// A value without any problem.
#[inline]
pub(super) fn plain_value(fixed: Fixed, stored: &[u8], order: ByteOrder) -> Option<Value<'_>> {
    let (value, declared) = split_value(fixed, stored, order)?;
    (!is_odd_value(&value, declared)).then_some(value)
}

/// The parts of a value, and the declared size of its data.
#[inline]
fn split_value(fixed: Fixed, stored: &[u8], order: ByteOrder) -> Option<(Value<'_>, u16)> {
    let (head, stored) = stored.split_first_chunk::<VALUE_HEAD>()?;
    let declared = order.u16(part(head, 2));
    let [data_type, is_array] = part(head, 4);
    let (data, surplus) = stored.split_at_checked(declared.into()).unwrap_or((stored, &[]));
    let value = Value {
        begin: fixed.begin,
        end: fixed.end,
        descriptor: fixed.descriptor,
        filler: part(head, 0),
        data_type: DataType(data_type),
        is_array,
        value_id: order.u64(part(head, 6)),
        data,
        order,
        surplus,
        odd_data_size: (data.len() != usize::from(declared)).then_some(declared),
        odd_size: None,
    };
    Some((value, declared))
}

#[inline]
fn is_odd_value(value: &Value<'_>, declared: u16) -> bool {
    value.data.len() + value.surplus.len() != usize::from(declared)
        || value.data_type.width().is_none()
        || value.missing_bytes() > 0
        || value.text().is_some_and(is_not_utf8)
}

#[cold]
fn report_value(value: &Value<'_>, declared: u16, offset: u64, findings: &mut Findings) -> Result<()> {
    let found = value.data.len() + value.surplus.len();
    if found != usize::from(declared) {
        let odd = Finding::new(&VALUE_SIZE, Position::at(offset).field("data_size"));
        findings.report(odd.with("declared", declared).with("found", found))?;
    }
    if value.data_type.width().is_none() {
        let odd = Finding::new(&VALUE_TYPE, Position::at(offset).field("data_type"));
        findings.report(odd.with("type", value.data_type.0))?;
    }
    if value.text().is_some_and(is_not_utf8) {
        findings.report(Finding::new(&VALUE_TEXT, Position::at(offset).field("data")))?;
    }
    if value.missing_bytes() > 0 {
        let found = value.data.len();
        let odd = Finding::new(&VALUE_WIDTH, Position::at(offset).field("data")).with("found", found);
        findings.report(odd.with("type", value.data_type.to_string()).with("needed", found + value.missing_bytes()))?;
    }
    Ok(())
}

fn is_not_utf8(text: &[u8]) -> bool {
    str::from_utf8(text).is_err()
}

/// A bookmark of at least the fixed size.
pub(super) fn bookmark<'a>(mut cursor: Cursor<'a>) -> Result<Bookmark<'a>> {
    let position_ns = cursor.u64("position")?;
    let color = cursor.u32("color")?;
    Ok(Bookmark { position_ns, color, text: Name::stored(cursor.rest()), odd_size: None })
}
