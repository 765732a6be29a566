//! Finds the chunks of files without lengths, where only the contents show where each chunk ends.
//!
//! Two writers made such files. One wrote the items of S, F, D and C without tags; then D has as many visits as S has
//! calls, and the only file of F is number 1 with string 0. The other wrote only the tags.

use traceloom_core::{Limits, Result, Source, Window};

use super::{
    item,
    raw::{FIGURES_BYTES, Form, Framing, Integers, Layout, Tag, VISIT_BYTES},
    record::{Chunk, Line, Record},
    tokens,
};

/// The positions of the chunks of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(super) chunks: Vec<Chunk>,
    /// Whether they explain the file up to its end, or up to the records that follow them.
    pub(crate) is_whole: bool,
}

/// The only entry of F: file 1, string 0.
const FILES: [u8; 8] = [1, 0, 0, 0, 0, 0, 0, 0];
/// Maximum number of offsets at which F may seem to be; each costs a check of the visits that follow.
const MAX_TRIES: usize = 16;

/// Part of a file.
pub(crate) struct Part<'a> {
    pub(crate) source: &'a Source,
    pub(crate) limits: &'a Limits,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Part<'_> {
    fn window(&self, at: u64) -> Window {
        let mut window = Window::new(self.source.clone(), self.limits);
        window.seek(at);
        window
    }

    /// Where the records that imitate the real stream end; they may be between the process and the chunks.
    pub(crate) fn tokens_end(&self) -> Result<u64> {
        let mut window = self.window(self.start);
        while tokens::starts(window.fill(64)?) {
            let len = loop {
                match tokens::record(window.bytes()) {
                    Ok((_, len)) => break len,
                    Err(crate::parse::Stop::Need(needed)) => {
                        let is_there = needed as u64 <= self.end.saturating_sub(window.offset());
                        if !is_there || window.fill(needed)?.len() < needed {
                            return Ok(window.offset());
                        }
                    }
                    Err(_) => return Ok(window.offset()),
                }
            };
            window.consume(len);
        }
        Ok(window.offset())
    }

    /// The chunks if they have neither tags nor lengths. If the plan is not whole, the file was truncated.
    pub(crate) fn bare(&self) -> Result<Plan> {
        let mut window = self.window(self.start);
        let (mut calls, mut tries) = (0u64, 0);
        let mut cut_plan = None;
        loop {
            let lines_end = window.offset();
            let ahead = window.fill(FIGURES_BYTES + FILES.len())?;
            if ahead.starts_with(&FILES) && tries < MAX_TRIES {
                tries += 1;
                let plan = self.bare_tail(lines_end, calls)?;
                if plan.is_whole {
                    return Ok(plan);
                }
                cut_plan.get_or_insert(plan);
            }
            match window.fill(FIGURES_BYTES)?.get(..FIGURES_BYTES).map(|bytes| item::decode(Form::Lines.into(), bytes))
            {
                Some(Record::Line(Line { calls: more, .. })) => calls += u64::from(more),
                _ => break,
            }
            window.consume(FIGURES_BYTES);
        }
        let mut lines = Builder::new(Framing::None, self.start);
        lines.add(Tag::S, Form::Lines.into(), window.offset().min(self.end));
        Ok(cut_plan.unwrap_or(lines.plan))
    }

    /// The chunks if lines end and files start here.
    fn bare_tail(&self, lines_end: u64, calls: u64) -> Result<Plan> {
        let mut builder = Builder::new(Framing::None, self.start);
        builder.add(Tag::S, Form::Lines.into(), lines_end);
        builder.add(Tag::F, Form::IndexedFiles.into(), lines_end + FILES.len() as u64);
        let visits_end = self.visits_end(builder.at, calls)?;
        builder.add(Tag::D, if calls == 0 { Form::Subs } else { Form::Visits }.into(), visits_end.at);
        if !visits_end.has_ended {
            return Ok(builder.plan);
        }
        let left = self.end.saturating_sub(builder.at);
        let edges = left - left % FIGURES_BYTES as u64;
        builder.add(Tag::C, Form::Edges.into(), builder.at + edges);
        let mut last = [0];
        let is_end = left - edges == 1 && self.source.read_full(builder.at, &mut last)? == 1 && last == *b"E";
        if is_end {
            builder.framing = Framing::Tag;
            builder.add(Tag::E, Form::Raw.into(), self.end);
        }
        builder.plan.is_whole = builder.at == self.end;
        Ok(builder.plan)
    }

    /// Where a list of `count` visits ends, or where it stops being one.
    fn visits_end(&self, start: u64, count: u64) -> Result<VisitsEnd> {
        if count == 0 {
            return Ok(VisitsEnd { at: start, has_ended: true });
        }
        let mut window = self.window(start);
        let mut visits = 0;
        while visits < count && window.fill(VISIT_BYTES)?.first() == Some(&1) && window.bytes().len() >= VISIT_BYTES {
            window.consume(VISIT_BYTES);
            visits += 1;
        }
        let has_ended = visits == count && window.fill(1)?.first() == Some(&0);
        Ok(VisitsEnd { at: window.offset() + u64::from(has_ended), has_ended })
    }

    /// The chunks if they have tags and no lengths: S, F, D, C and then the end of the process.
    pub(crate) fn tagged(&self) -> Result<Plan> {
        let mut window = self.window(self.start);
        let mut builder = Builder::new(Framing::Tag, self.start);
        // The tracer wrote S and C, the writer F and D.
        let kinds = [
            (Tag::S, Form::Lines, Integers::Variable, Tag::F),
            (Tag::F, Form::IndexedFiles, Integers::Septets, Tag::D),
            (Tag::D, Form::Visits, Integers::Septets, Tag::C),
            (Tag::C, Form::Edges, Integers::Variable, Tag(crate::raw::Tag::PID_END.0)),
        ];
        for (tag, form, integers, next) in kinds {
            if window.fill(1)?.first() != Some(&tag.0) {
                return Ok(builder.plan);
            }
            window.consume(1);
            let layout = Layout { form, integers };
            while !self.is_next(&mut window, next)? {
                let Ok(len) = item::measure(layout, window.fill(64)?) else { break };
                if matches!(item::decode(layout, window.bytes().get(..len).unwrap_or_default()), Record::Payload(_)) {
                    break;
                }
                window.consume(len);
            }
            builder.add(tag, layout, window.offset());
        }
        builder.plan.is_whole = self.is_next(&mut window, Tag(crate::raw::Tag::PID_END.0))?;
        Ok(builder.plan)
    }

    /// Whether the next chunk starts here. The tag of the last record may be a number, but only one is at the end.
    fn is_next(&self, window: &mut Window, next: Tag) -> Result<bool> {
        let left = self.end.saturating_sub(window.offset());
        let ahead = window.fill(64)?;
        let is_tag = ahead.first() == Some(&next.0);
        let is_last =
            next.0 != crate::raw::Tag::PID_END.0 || tokens::record(ahead).is_ok_and(|(_, len)| len as u64 == left);
        Ok(is_tag && is_last)
    }
}

struct VisitsEnd {
    at: u64,
    has_ended: bool,
}

/// Adds consecutive chunks.
struct Builder {
    plan: Plan,
    framing: Framing,
    at: u64,
}

impl Builder {
    fn new(framing: Framing, at: u64) -> Self {
        Self { plan: Plan::default(), framing, at }
    }

    fn add(&mut self, tag: Tag, layout: Layout, end: u64) {
        let items = self.at + self.framing.head_bytes() as u64;
        let length = u32::try_from(end.saturating_sub(items)).unwrap_or(u32::MAX);
        self.plan.chunks.push(Chunk { tag, length, layout, framing: self.framing });
        self.at = end;
    }
}
