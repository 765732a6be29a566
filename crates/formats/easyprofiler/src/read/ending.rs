//! The part after the threads: marks, bookmarks, surplus bytes.

use traceloom_core::{Cursor, Finding, Located, Position, Records, Result, Rule};

use super::{
    RESIDUE_BYTES, State, decode,
    frame::{Frame, Section},
};
use crate::{
    Reader, Record,
    findings::*,
    raw::{BOOKMARK_FIXED, DOCUMENT_BOOKMARKS_MARK, EASY_PROFILER_SIGNATURE},
};

impl Reader {
    pub(super) fn next_mark(&mut self, rule: &'static Rule, next: State) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let ahead = self.window.fill(4)?;
        let Some(bytes) = ahead.first_chunk::<4>() else {
            self.report(rule, |odd| odd.with("found", "missing"))?;
            self.state = State::Trailing { reported: true };
            return self.next_trailing();
        };
        let mark = self.header.layout.order.u32(*bytes);
        self.state = next;
        if mark == DOCUMENT_BOOKMARKS_MARK && std::ptr::eq(rule, &BOOKMARKS_MARK) {
            // Without bookmarks, easy_profiler stops before it.
            let is_read = self.header.bookmarks_count.unwrap_or(0) > 0;
            self.report(&DOCUMENT_MARK_TYPO, |odd| if is_read { odd } else { odd.tolerated() })?;
        } else if mark != EASY_PROFILER_SIGNATURE {
            self.report(rule, |odd| odd.with("found", format!("{mark:#010x}")))?;
        }
        self.window.consume(4);
        Ok(Some(Located { offset, len: 4, record: Record::Mark(mark) }))
    }

    /// After the threads' mark, the documented layout has a zero upper half, and a second mark in any case.
    pub(super) fn after_mark(&mut self, upper_half: bool) -> Result<Option<Located<Record<'_>>>> {
        let bookmarks = self.header.bookmarks_count.unwrap_or(0);
        let order = self.header.layout.order;
        let mark = self.window.fill(4)?.first_chunk::<4>().map(|bytes| order.u32(*bytes));
        if mark == Some(0) && upper_half {
            if bookmarks > 0 {
                self.report(&DOCUMENT_MARK_U64_BOOKMARKS, |odd| odd)?;
            } else if self.header.layout.marks {
                self.report(&DOCUMENT_MARK_U64, |odd| odd)?;
            }
            self.state = State::AfterMark { upper_half: false };
            return Ok(Some(self.residue(4)));
        }
        self.state = if bookmarks > 0 { State::Bookmarks(bookmarks) } else { State::Trailing { reported: false } };
        if bookmarks == 0 && matches!(mark, Some(EASY_PROFILER_SIGNATURE | DOCUMENT_BOOKMARKS_MARK)) {
            self.report(&DOCUMENT_SECOND_MARK, |odd| odd)?;
            return self.next_mark(&BOOKMARKS_MARK, self.state);
        }
        self.next()
    }

    pub(super) fn next_bookmark(&mut self, left: u16) -> Result<Option<Located<Record<'_>>>> {
        let offset = self.window.offset();
        let frame = match self.frame(Section::Bookmark)? {
            Frame::Whole(frame) => frame,
            Frame::Cut(cut) => {
                let size = usize::from(cut.size);
                if size <= BOOKMARK_FIXED {
                    self.report(&BOOKMARK_SHORT, |odd| odd.with("size", size))?;
                } else if size - BOOKMARK_FIXED < self.last_bookmark {
                    // easy_profiler's buffer still holds the last text there, and no NUL.
                    self.report(&BOOKMARK_NUL, |odd| odd)?;
                }
                return self.cut("bookmark", cut.needed, cut.left);
            }
        };
        self.state = State::Bookmarks(left - 1);
        if frame.payload <= BOOKMARK_FIXED {
            self.report(&BOOKMARK_SHORT, |odd| odd.with("size", frame.payload))?;
            return Ok(Some(self.malformed(&frame)));
        }
        self.window.consume(2);
        let payload = self.window.take(frame.payload);
        self.last_bookmark = frame.payload - BOOKMARK_FIXED;
        if payload.last() != Some(&0) {
            self.findings.report(Finding::new(&BOOKMARK_NUL, Position::at(offset).field("text")))?;
        }
        let mut bookmark = decode::bookmark(Cursor::new(payload, offset + 2, self.header.layout.order))?;
        bookmark.odd_size = frame.odd_size;
        let len = 2 + frame.payload as u64;
        Ok(Some(Located { offset, len, record: Record::Bookmark(bookmark) }))
    }

    pub(super) fn next_trailing(&mut self) -> Result<Option<Located<Record<'_>>>> {
        let left = self.window.fill(RESIDUE_BYTES)?.len().min(RESIDUE_BYTES);
        if left == 0 {
            self.state = State::Done;
            return Ok(None);
        }
        if let State::Trailing { reported: false } = self.state {
            self.state = State::Trailing { reported: true };
            let bytes = self.window.source().len()?.saturating_sub(self.window.offset());
            self.report(&TRAILING, |odd| odd.with("bytes", bytes))?;
        }
        Ok(Some(self.residue(left)))
    }
}
