//! Unwinding rules, which lead from a frame to its caller: one per return address, computed once and kept in a shared
//! table.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::maps::Module;

/// An unwinding rule in 32 bits: kind, offset of the frame's end, location of the saved frame pointer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Rule(u32);

/// The base of the end of a frame (the CFA of DWARF).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Base {
    Sp,
    Fp,
}

/// A decoded rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Leave {
    /// There is no caller, or it cannot be determined.
    Stop,
    /// The frame ends at `base + end`. The return address is just below, and the caller's frame pointer is `saved_fp`
    /// below the end, or still in its register if that is 0.
    Frame { base: Base, end: u64, saved_fp: u64 },
}

impl Rule {
    pub(crate) const STOP: Self = Self(1);
    /// The frame pointer points to the saved frame pointer of the caller, followed by the return address.
    pub(crate) const FRAME_POINTER: Self = Self(3 | 2 << 2 | 2 << 18);

    /// Encodes a rule in units of 8 bytes; `None` if the numbers do not fit.
    fn frame(base: Base, end: i64, saved_fp: i64) -> Option<Self> {
        let words = |bytes: i64, bits: u32| {
            let count = u32::try_from(bytes / 8).ok()?;
            (bytes % 8 == 0 && count < 1 << bits).then_some(count)
        };
        let kind = if base == Base::Sp { 2 } else { 3 };
        Some(Self(kind | words(end, 16)? << 2 | words(saved_fp, 14)? << 18))
    }

    #[inline]
    pub(crate) fn leave(self) -> Leave {
        let base = match self.0 & 3 {
            2 => Base::Sp,
            3 => Base::Fp,
            _ => return Leave::Stop,
        };
        Leave::Frame { base, end: u64::from(self.0 >> 2 & 0xffff) * 8, saved_fp: u64::from(self.0 >> 18) * 8 }
    }

    /// The rule of the code at `pc`: from the compiler's unwind information, or frame pointers if there is none.
    pub(crate) fn find(pc: u64, module: Option<&Module>) -> Self {
        // An address outside all modules is an unwinding error.
        let Some(module) = module else { return Self::STOP };
        module.unwind.as_ref().and_then(|unwind| cfi::rule(pc, unwind)).unwrap_or(Self::FRAME_POINTER)
    }
}

/// Rules by address. Hashing 48 bits is reversible, so index and tag together identify the address.
static RULES: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

const PLACES: usize = 1 << 16;
const ADDRESS_BITS: u32 = 48;

#[inline]
fn place_and_tag(pc: u64) -> (usize, u64) {
    let scattered = pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1 << ADDRESS_BITS) - 1);
    ((scattered >> 32) as usize, scattered << 32)
}

/// The rule for a return address, if known.
#[inline]
pub(crate) fn known(pc: u64) -> Option<Rule> {
    if pc >> ADDRESS_BITS != 0 {
        return Some(Rule::STOP);
    }
    let (place, tag) = place_and_tag(pc);
    let entry = RULES[place].load(Ordering::Relaxed);
    (entry != 0 && entry & !0xffff_ffff == tag).then_some(Rule(entry as u32))
}

/// Stores a rule, and replaces another one if needed.
pub(crate) fn keep(pc: u64, rule: Rule) {
    let (place, tag) = place_and_tag(pc);
    RULES[place].store(tag | u64::from(rule.0), Ordering::Relaxed);
}

/// Drops all rules, because the addresses may belong to other code now.
pub(crate) fn forget() {
    RULES.iter().for_each(|rule| rule.store(0, Ordering::Relaxed));
}

/// Unwind information of compilers, for code without frame pointers.
#[cfg(target_arch = "x86_64")]
mod cfi {
    use std::ops::Range;

    use gimli::{
        BaseAddresses, CfaRule, EhFrame, EhFrameHdr, LittleEndian, RegisterRule, UnwindContext, UnwindSection, X86_64,
    };

    use super::{Base, Rule};

    pub(super) fn rule(pc: u64, (table, segment): &(Range<u64>, Range<u64>)) -> Option<Rule> {
        let bases = BaseAddresses::default().set_eh_frame_hdr(table.start);
        let header = EhFrameHdr::new(bytes(table.clone()), LittleEndian).parse(&bases, 8).ok()?;
        let gimli::Pointer::Direct(start) = header.eh_frame_ptr() else { return None };
        if !segment.contains(&start) {
            return None;
        }
        let frames = EhFrame::new(bytes(start..segment.end), LittleEndian);
        let bases = bases.set_eh_frame(start);
        let mut context = UnwindContext::new();
        let row = header
            .table()?
            .unwind_info_for_address(&frames, &bases, &mut context, pc, EhFrame::cie_from_offset)
            .ok()?;
        if row.register(X86_64::RA) == Some(RegisterRule::Undefined) {
            return Some(Rule::STOP);
        }
        let saved_fp = match row.register(X86_64::RBP) {
            Some(RegisterRule::Offset(offset)) => -offset,
            None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => 0,
            _ => return None,
        };
        match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } if *register == X86_64::RSP => {
                Rule::frame(Base::Sp, *offset, saved_fp)
            }
            CfaRule::RegisterAndOffset { register, offset } if *register == X86_64::RBP => {
                Rule::frame(Base::Fp, *offset, saved_fp)
            }
            // Frames that the compiler realigned have a frame pointer.
            CfaRule::RegisterAndOffset { .. } | CfaRule::Expression(_) => None,
        }
    }

    fn bytes(range: Range<u64>) -> &'static [u8] {
        // SAFETY: the range is part of a loaded segment of the module that the caller's thread is running in.
        unsafe { std::slice::from_raw_parts(range.start as *const u8, (range.end - range.start) as usize) }
    }
}

/// Compilers for other processors keep frame pointers.
#[cfg(not(target_arch = "x86_64"))]
mod cfi {
    pub(super) fn rule(_: u64, _: &(std::ops::Range<u64>, std::ops::Range<u64>)) -> Option<super::Rule> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_back() {
        let rule = Rule::frame(Base::Sp, 0x7fff8, 16).unwrap();
        assert_eq!(rule.leave(), Leave::Frame { base: Base::Sp, end: 0x7fff8, saved_fp: 16 });
        assert_eq!(Rule::FRAME_POINTER.leave(), Leave::Frame { base: Base::Fp, end: 16, saved_fp: 16 });
        assert_eq!(Rule::STOP.leave(), Leave::Stop);
        for (end, saved_fp) in [(12, 0), (-8, 0), (8 << 16, 0), (16, 4), (16, 8 << 14)] {
            assert_eq!(Rule::frame(Base::Fp, end, saved_fp), None);
        }
    }

    #[test]
    fn addresses_are_told_apart() {
        let pcs: Vec<u64> = (0..1000).map(|number| 0x7f00_1234_5000 + number * 0x1_0001).collect();
        pcs.iter().for_each(|pc| keep(*pc, Rule::FRAME_POINTER));
        let count = pcs.iter().filter(|pc| known(**pc) == Some(Rule::FRAME_POINTER)).count();
        assert!(count > 900, "{count}");
        assert_eq!(known(0x7f00_1234_5001), None);
        assert_eq!(known(1 << 60), Some(Rule::STOP));
    }
}
