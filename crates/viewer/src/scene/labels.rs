//! Values that are texts, over time.

use traceloom_analysis::lod::Window;

use super::{points::each_pixel, texts::Texts};

/// Texts and the times when they were set.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// In the order of the texts.
    times: Vec<i64>,
    /// Numbers of texts, sorted by time.
    order: Vec<u32>,
    texts: Texts,
    is_unsorted: bool,
}

/// A text to draw.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Label {
    pub(crate) ts_ns: i64,
    pub(crate) number: u32,
    pub(crate) text: String,
    /// Number of texts at the same place.
    pub(crate) shared: usize,
}

impl Labels {
    pub(crate) fn push(&mut self, ts_ns: i64, text: &str) {
        self.is_unsorted |= self.times.last().is_some_and(|last| ts_ns < *last);
        self.order.push(self.times.len() as u32);
        self.times.push(ts_ns);
        self.texts.push(text);
    }

    /// Sorts the texts; call after the last push.
    pub(crate) fn close(&mut self) {
        if self.is_unsorted {
            self.order.sort_by_key(|number| self.times[*number as usize]);
            self.is_unsorted = false;
        }
        self.times.shrink_to_fit();
        self.order.shrink_to_fit();
        self.texts.close();
    }

    /// Drops texts before a time.
    pub(crate) fn forget_before(&mut self, before_ns: i64) {
        let mut rest = Self::default();
        let mut texts = self.texts.reader();
        for (number, ts_ns) in self.times.iter().enumerate().filter(|(_, ts_ns)| **ts_ns >= before_ns) {
            rest.push(*ts_ns, texts.get(number));
        }
        rest.close();
        *self = rest;
    }

    pub(crate) fn resident_bytes(&self) -> usize {
        self.times.capacity() * 12 + self.texts.resident_bytes()
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// The time when a text was set.
    pub(crate) fn ts_ns(&self, number: u32) -> Option<i64> {
        self.times.get(number as usize).copied()
    }

    /// A text, up to a number of characters.
    pub(crate) fn text(&self, number: u32, most_chars: usize) -> String {
        self.texts.reader().get(number as usize).chars().take(most_chars).collect()
    }

    /// The first text of each nonempty pixel, and the last one before the window.
    pub(crate) fn draw(&self, window: &Window, most_chars: usize) -> Vec<Label> {
        let time = |at: usize| self.times[self.order[at] as usize];
        let before = self.order.partition_point(|number| self.times[*number as usize] < window.from_ns).checked_sub(1);
        let mut found: Vec<(usize, usize)> = before.map(|at| (at, 1)).into_iter().collect();
        each_pixel(self.order.len(), time, window, &mut |at, shared| found.push((at, shared)));
        let mut texts = self.texts.reader();
        let label = |(at, shared): (usize, usize)| {
            let number = self.order[at];
            let text = texts.get(number as usize).chars().take(most_chars).collect();
            Label { ts_ns: time(at), number, text, shared }
        };
        found.into_iter().map(label).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_drawn_by_time_and_one_holds_before_the_window() {
        let mut labels = Labels::default();
        for (ts_ns, text) in [(50, "loading"), (10, "starting"), (90, "playing"), (91, "paused")] {
            labels.push(ts_ns, text);
        }
        labels.close();
        let drawn = labels.draw(&Window::new(40, 100, 10), 4);
        let shown: Vec<_> = drawn.iter().map(|label| (label.ts_ns, label.text.as_str(), label.shared)).collect();
        assert_eq!(shown, [(10, "star", 1), (50, "load", 1), (90, "play", 2)]);
        assert_eq!((labels.len(), labels.ts_ns(3), labels.ts_ns(4)), (4, Some(91), None));
        assert_eq!(labels.text(3, 100), "paused");
        assert!(labels.draw(&Window::new(0, 5, 10), 4).is_empty());
    }
}
