//! Walks the stack of the calling thread.

use std::ops::Range;

use crate::rules::{self, Base, Leave, Rule};

/// Max number of innermost calls that are kept per stack.
pub(crate) const MAX_FRAMES: usize = 64;

/// The return addresses of a stack, innermost first, and their hash.
pub(crate) struct Stack {
    frames: [u64; MAX_FRAMES],
    len: usize,
    pub(crate) hash: u64,
}

impl Stack {
    /// The return addresses.
    pub(crate) fn frames(&self) -> &[u64] {
        &self.frames[..self.len]
    }

    #[inline]
    fn push(&mut self, pc: u64) {
        self.frames[self.len] = pc;
        self.len += 1;
        let product = u128::from(self.hash ^ pc) * 0x9e37_79b9_7f4a_7c15;
        self.hash = product as u64 ^ (product >> 64) as u64;
    }

    /// Walks from here up to the end of the stack, which is within `bounds`; `find` computes rules that are not known
    /// yet.
    #[inline(never)]
    pub(crate) fn walk(bounds: &Range<u64>, find: impl Fn(u64) -> Rule) -> Self {
        let mut registers = Registers::here();
        let mut stack = Self { frames: [0; MAX_FRAMES], len: 0, hash: 0x243f_6a88_85a3_08d3 };
        if !bounds.contains(&registers.sp) {
            return stack;
        }
        // A return address may be the start of the next function; the call before it is not.
        let mut pc = registers.pc;
        while stack.len < MAX_FRAMES {
            let rule = rules::known(pc).unwrap_or_else(|| find(pc));
            if !registers.leave(rule, bounds) {
                break;
            }
            stack.push(registers.pc);
            pc = registers.pc - 1;
        }
        stack
    }
}

struct Registers {
    pc: u64,
    sp: u64,
    fp: u64,
}

impl Registers {
    #[inline(always)]
    fn here() -> Self {
        let (pc, sp, fp): (u64, u64, u64);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: only copies registers.
        unsafe {
            std::arch::asm!("lea {}, [rip]", "mov {}, rsp", "mov {}, rbp", out(reg) pc, out(reg) sp, out(reg) fp,
                options(nomem, nostack, preserves_flags));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: only copies registers.
        unsafe {
            std::arch::asm!("adr {}, .", "mov {}, sp", "mov {}, x29", out(reg) pc, out(reg) sp, out(reg) fp,
                options(nomem, nostack, preserves_flags));
        }
        Self { pc, sp, fp }
    }

    /// Moves to the caller; returns whether there is one within the bounds.
    #[inline]
    fn leave(&mut self, rule: Rule, bounds: &Range<u64>) -> bool {
        let Leave::Frame { base, end, saved_fp } = rule.leave() else { return false };
        let end = match base {
            Base::Sp => self.sp + end,
            Base::Fp => self.fp.wrapping_add(end),
        };
        let fp_place = end.wrapping_sub(saved_fp);
        let is_sound = end % 8 == 0 && end > self.sp && end <= bounds.end && fp_place >= self.sp && fp_place <= end;
        if !is_sound || end - self.sp < 8 {
            return false;
        }
        // SAFETY: both addresses are between the stack pointer and the end of the stack, and aligned.
        unsafe {
            self.pc = ((end - 8) as *const u64).read();
            if saved_fp != 0 {
                self.fp = (fp_place as *const u64).read();
            }
        }
        self.sp = end;
        self.pc != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::{Module, stack_around};

    #[inline(never)]
    fn deep(depth: usize) -> Stack {
        if depth > 0 {
            let stack = deep(depth - 1);
            return std::hint::black_box(stack);
        }
        let here = 0u8;
        let bounds = stack_around(&raw const here as u64).unwrap();
        Stack::walk(&bounds, |pc| Rule::find(pc, Module::around(pc).as_ref()))
    }

    #[test]
    fn every_call_is_found() {
        let (one, two) = (deep(5), deep(7));
        assert_eq!(two.frames().len(), one.frames().len() + 2);
        assert_ne!(one.hash, two.hash);
        let own = one.frames()[2];
        assert_eq!(two.frames().iter().filter(|pc| **pc == own).count(), 7, "{:x?}", two.frames());
        assert_eq!(deep(100).frames().len(), MAX_FRAMES);
    }
}
