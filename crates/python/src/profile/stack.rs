//! The calls of one thread.

use super::session::{ENTER, ENTER_NATIVE, Event, LEAVE};

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) code: u32,
    /// The current line; 0 before the first one. A function that is not written in Python runs in the line of its
    /// caller.
    pub(super) line: u32,
    /// The code that the line is in.
    pub(super) line_code: u32,
    /// Whether the line was already counted, because a call interrupted it.
    is_counted: bool,
    /// Whether it was entered before the recording started.
    is_base: bool,
    /// The ticks of the thread at entry, and the ticks of the calls in it.
    entered: u64,
    inner: u64,
    /// Number of enclosing calls of the same code.
    recursion: u32,
}

/// Ticks of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) code: u32,
    pub(super) line: u32,
    pub(super) ticks: u64,
    /// Whether it was counted before.
    pub(super) is_discounted: bool,
}

/// A finished call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) code: u32,
    /// The caller, unless it is the outermost call of the thread.
    pub(super) caller: Option<Frame>,
    pub(super) depth: u32,
    pub(super) incl: u64,
    pub(super) excl: u64,
    pub(super) recursion: u32,
}

/// Receives the events of a thread.
pub(super) trait Visitor {
    fn spend(&mut self, spent: Spent) -> traceloom::Result<()>;
    fn enter(&mut self, caller: Option<Frame>) -> traceloom::Result<()>;
    fn leave(&mut self, call: Call) -> traceloom::Result<()>;
}

/// The stack of a thread, and its clock: the time that its lines took, in ticks.
#[derive(Debug, Default)]
pub(super) struct Stack {
    frames: Vec<Frame>,
    /// Number of frames of each code.
    active: Vec<u32>,
    /// Number of frames entered during the recording.
    depth: u32,
    /// Raw time so far.
    raw: u64,
    /// Ticks assigned to lines so far.
    ticks: u64,
}

impl Stack {
    /// Processes one event; `ticks_of` converts raw time since the start.
    pub(super) fn step(
        &mut self,
        event: Event,
        ticks_of: impl Fn(u64) -> u64,
        visitor: &mut impl Visitor,
    ) -> traceloom::Result<()> {
        self.raw += event.elapsed;
        let now = ticks_of(self.raw);
        match event.step {
            ENTER => {
                self.spend(now, visitor)?;
                self.enter(event.code, visitor)
            }
            ENTER_NATIVE => {
                self.spend(now, visitor)?;
                let caller = self.frames.last().copied();
                self.enter(event.code, visitor)?;
                if let (Some(caller), Some(top)) = (caller, self.frames.last_mut()) {
                    (top.line, top.line_code, top.is_counted) = (caller.line, caller.line_code, true);
                }
                Ok(())
            }
            LEAVE => {
                self.spend(now, visitor)?;
                self.leave(event.code, visitor)
            }
            line => {
                self.expect(event.code, visitor)?;
                // The time before the first line of a call belongs to that line.
                if self.frames.last().is_some_and(|top| top.line != 0) {
                    self.spend(now, visitor)?;
                }
                if let Some(top) = self.frames.last_mut() {
                    (top.line, top.is_counted) = (line, false);
                }
                Ok(())
            }
        }
    }

    /// Ends all open calls.
    pub(super) fn finish(&mut self, visitor: &mut impl Visitor) -> traceloom::Result<()> {
        while !self.frames.is_empty() {
            self.pop(visitor)?;
        }
        Ok(())
    }

    /// Raw time from the start to the end.
    pub(super) fn raw(&self) -> u64 {
        self.raw
    }

    /// Assigns the time since the last event to the current line.
    fn spend(&mut self, now: u64, visitor: &mut impl Visitor) -> traceloom::Result<()> {
        let ticks = now.saturating_sub(self.ticks);
        self.ticks = now.max(self.ticks);
        let Some(top) = self.frames.last_mut().filter(|top| top.line != 0) else { return Ok(()) };
        let is_discounted = std::mem::replace(&mut top.is_counted, true);
        if is_discounted && ticks == 0 {
            return Ok(());
        }
        visitor.spend(Spent { code: top.line_code, line: top.line, ticks, is_discounted })
    }

    fn enter(&mut self, code: u32, visitor: &mut impl Visitor) -> traceloom::Result<()> {
        visitor.enter(self.frames.last().copied())?;
        self.depth += 1;
        self.push(code, false);
        Ok(())
    }

    fn has(&self, code: u32) -> bool {
        self.active.get(code as usize).is_some_and(|active| *active > 0)
    }

    fn push(&mut self, code: u32, is_base: bool) {
        let index = code as usize;
        if self.active.len() <= index {
            self.active.resize(index + 1, 0);
        }
        let (entered, recursion) = (self.ticks, self.active[index]);
        self.active[index] += 1;
        let (line, line_code, is_counted, inner) = (0, code, false, 0);
        self.frames.push(Frame { code, line, line_code, is_counted, is_base, entered, inner, recursion });
    }

    fn leave(&mut self, code: u32, visitor: &mut impl Visitor) -> traceloom::Result<()> {
        // A frame that was entered before the start may end after frames that were not.
        if self.has(code) {
            while self.pop(visitor)? != Some(code) {}
        }
        Ok(())
    }

    /// Unwinds the stack until its top is a frame of this code.
    fn expect(&mut self, code: u32, visitor: &mut impl Visitor) -> traceloom::Result<()> {
        if self.frames.last().is_some_and(|top| top.code == code) {
            return Ok(());
        }
        if self.has(code) {
            while self.frames.last().is_some_and(|top| top.code != code) {
                self.pop(visitor)?;
            }
        } else {
            self.push(code, true);
        }
        Ok(())
    }

    fn pop(&mut self, visitor: &mut impl Visitor) -> traceloom::Result<Option<u32>> {
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        self.active[frame.code as usize] -= 1;
        if frame.is_base {
            return Ok(Some(frame.code));
        }
        let incl = self.ticks - frame.entered;
        let depth = self.depth;
        self.depth -= 1;
        if let Some(caller) = self.frames.last_mut() {
            caller.inner += incl;
        }
        visitor.leave(Call {
            code: frame.code,
            caller: self.frames.last().copied(),
            depth,
            incl,
            excl: incl.saturating_sub(frame.inner),
            recursion: frame.recursion,
        })?;
        Ok(Some(frame.code))
    }
}
