//! The spans of one thread and depth, with a pyramid of summaries.

use std::ops::Range;

use super::Window;

/// Number of entries of a level per entry of the next level.
const FAN: usize = 16;
/// The end of an open span, until the lane is closed.
const OPEN: i64 = i64::MAX;

/// A rectangle to draw: a span, or several spans that share a pixel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Bar {
    /// Start time.
    pub begin_ns: i64,
    /// End time.
    pub end_ns: i64,
    /// Index of its longest span in the lane.
    pub index: u32,
    /// Number of spans.
    pub count: u32,
    /// The sum of their durations.
    pub busy_ns: i64,
}

/// The spans of one thread and depth, sorted by start.
#[derive(Debug, Default)]
pub struct Lane {
    begins: Vec<i64>,
    ends: Vec<i64>,
    names: Vec<u32>,
    ids: Vec<u32>,
    /// Grows with the lane, so the lane can be drawn while it is being filled.
    levels: Vec<Level>,
    is_unsorted: bool,
}

/// One level of the pyramid; contains only complete groups.
#[derive(Debug, Default)]
struct Level {
    begins: Vec<i64>,
    ends: Vec<i64>,
    /// The latest end of all entries up to and including this one; never decreases, so it can be searched.
    latest: Vec<i64>,
    busy: Vec<i64>,
    longest: Vec<u32>,
}

impl Lane {
    /// Adds a span; spans arrive in file order.
    #[inline]
    pub fn push(&mut self, begin_ns: i64, end_ns: Option<i64>, name: u32, id: u32) {
        self.is_unsorted |= self.begins.last().is_some_and(|last| begin_ns < *last);
        self.begins.push(begin_ns);
        self.ends.push(end_ns.unwrap_or(OPEN));
        self.names.push(name);
        self.ids.push(id);
        if self.begins.len().is_multiple_of(FAN) {
            self.summarize(self.begins.len() / FAN);
        }
    }

    /// Number of spans.
    pub fn len(&self) -> usize {
        self.begins.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// Start time of a span.
    pub fn begin_ns(&self, index: u32) -> i64 {
        self.begins[index as usize]
    }

    /// End time of a span; `None` if it never ended.
    pub fn end_ns(&self, index: u32) -> Option<i64> {
        Some(self.ends[index as usize]).filter(|end| *end != OPEN)
    }

    /// The name of a span.
    pub fn name(&self, index: u32) -> u32 {
        self.names[index as usize]
    }

    /// The id of a span in its table.
    pub fn id(&self, index: u32) -> u32 {
        self.ids[index as usize]
    }

    /// Names of all spans, sorted by start.
    pub fn names(&self) -> &[u32] {
        &self.names
    }

    /// Duration of a span; 0 if it never ended.
    pub fn dur_ns(&self, index: u32) -> i64 {
        self.duration(index)
    }

    /// Bytes held.
    pub fn resident_bytes(&self) -> usize {
        let level = |level: &Level| level.begins.capacity() * 36;
        self.begins.capacity() * 24 + self.levels.iter().map(level).sum::<usize>()
    }

    /// Removes the first spans as long as they ended before a time; `gone` gets their names and durations. The indexes
    /// of the others change.
    pub fn forget_before(&mut self, before_ns: i64, mut gone: impl FnMut(u32, i64)) {
        let count = self.ends.iter().take_while(|end| **end < before_ns).count();
        (0..count as u32).for_each(|index| gone(self.name(index), self.duration(index)));
        fn forget<T>(values: &mut Vec<T>, count: usize) {
            values.drain(..count);
            values.shrink_to_fit();
        }
        forget(&mut self.begins, count);
        forget(&mut self.ends, count);
        forget(&mut self.names, count);
        forget(&mut self.ids, count);
        self.levels.clear();
        (1..=self.len() / FAN).for_each(|groups| self.summarize(groups));
    }

    /// Sorts the spans; call after the last push.
    pub fn close(&mut self) {
        if self.is_unsorted {
            self.sort();
            self.levels.clear();
            (1..=self.len() / FAN).for_each(|groups| self.summarize(groups));
            self.is_unsorted = false;
        }
    }

    /// Needed only for damaged or merged files, because children of one parent do not overlap and are sorted by start.
    fn sort(&mut self) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|index| (self.begins[*index as usize], self.ends[*index as usize]));
        fn permute<T: Copy>(values: &mut Vec<T>, order: &[u32]) {
            *values = order.iter().map(|index| values[*index as usize]).collect();
        }
        permute(&mut self.begins, &order);
        permute(&mut self.ends, &order);
        permute(&mut self.names, &order);
        permute(&mut self.ids, &order);
    }

    /// Adds the last of `groups` groups of spans to the lowest level, and to higher levels if a group is complete
    /// there.
    fn summarize(&mut self, mut groups: usize) {
        for number in 0.. {
            let first = (groups - 1) * FAN;
            let entries = (first..first + FAN).map(|entry| match number {
                0 => self.span(entry),
                _ => self.bar(number - 1, entry),
            });
            let Some(bar) = entries.reduce(|sum, bar| self.joined(sum, bar)) else { return };
            if self.levels.len() == number {
                self.levels.push(Level::default());
            }
            self.levels[number].push(&bar);
            if !groups.is_multiple_of(FAN) {
                return;
            }
            groups /= FAN;
        }
    }

    fn span(&self, index: usize) -> Bar {
        let (begin_ns, end_ns) = (self.begins[index], self.ends[index]);
        Bar { begin_ns, end_ns, index: index as u32, count: 1, busy_ns: duration(begin_ns, end_ns) }
    }

    fn bar(&self, number: usize, entry: usize) -> Bar {
        let level = &self.levels[number];
        let spans_below = FAN.pow(number as u32 + 1);
        Bar {
            begin_ns: level.begins[entry],
            end_ns: level.ends[entry],
            index: level.longest[entry],
            count: spans_below as u32,
            busy_ns: level.busy[entry],
        }
    }

    fn joined(&self, mut sum: Bar, bar: Bar) -> Bar {
        if self.duration(bar.index) > self.duration(sum.index) {
            sum.index = bar.index;
        }
        sum.end_ns = sum.end_ns.max(bar.end_ns);
        sum.count = sum.count.saturating_add(bar.count);
        sum.busy_ns = sum.busy_ns.saturating_add(bar.busy_ns);
        sum
    }

    fn duration(&self, index: u32) -> i64 {
        duration(self.begins[index as usize], self.ends[index as usize])
    }

    /// Calls `draw` with the rectangles of a window, sorted by start: at most about one per pixel.
    pub fn draw(&self, window: &Window, draw: &mut impl FnMut(Bar)) {
        let mut pen = Pen { window, draw, waiting: None, room: window.most_bars() };
        // Spans that the topmost level does not cover yet are left to the level below, and so on down to the spans.
        let mut covered = 0;
        for (number, level) in self.levels.iter().enumerate().rev() {
            self.draw_level(number, covered..level.begins.len(), &mut pen);
            covered = level.begins.len() * FAN;
        }
        self.draw_spans(covered..self.len(), &mut pen);
        pen.lift();
    }

    fn draw_level(&self, number: usize, entries: Range<usize>, pen: &mut Pen<'_, impl FnMut(Bar)>) {
        let level = &self.levels[number];
        let visible = pen.visible(&level.begins[entries.clone()], &level.latest[entries.clone()]);
        for entry in entries.start + visible.start..entries.start + visible.end {
            let bar = self.bar(number, entry);
            if bar.end_ns < pen.window.from_ns {
                continue;
            }
            if pen.window.is_pixel(bar.begin_ns, bar.end_ns) {
                pen.put(bar, self);
                continue;
            }
            match number {
                0 => self.draw_spans(entry * FAN..(entry + 1) * FAN, pen),
                _ => self.draw_level(number - 1, entry * FAN..(entry + 1) * FAN, pen),
            }
        }
    }

    fn draw_spans(&self, spans: Range<usize>, pen: &mut Pen<'_, impl FnMut(Bar)>) {
        for index in spans {
            let bar = self.span(index);
            if bar.end_ns >= pen.window.from_ns && bar.begin_ns <= pen.window.to_ns {
                pen.put(bar, self);
            }
        }
    }

    /// The span at a time, or the one nearest to it within `reach_ns`.
    pub fn hit(&self, ts_ns: i64, reach_ns: i64) -> Option<u32> {
        let after = self.begins.partition_point(|begin| *begin <= ts_ns);
        let distance = |index: usize| match (self.begins[index], self.ends[index]) {
            (begin, end) if begin <= ts_ns && ts_ns <= end => 0,
            (begin, _) if begin > ts_ns => begin.saturating_sub(ts_ns),
            (_, end) => ts_ns.saturating_sub(end),
        };
        let candidates = after.saturating_sub(1)..(after + 1).min(self.len());
        let nearest = candidates.min_by_key(|index| distance(*index))?;
        (distance(nearest) <= reach_ns).then_some(nearest as u32)
    }

    /// The index of the first span whose start satisfies `holds`; all later spans must satisfy it too.
    pub fn first_where(&self, holds: impl Fn(i64) -> bool) -> u32 {
        self.begins.partition_point(|begin| !holds(*begin)) as u32
    }

    /// Indexes of the spans in an inclusive time range; may include some that end before it.
    pub fn between(&self, from_ns: i64, to_ns: i64) -> Range<u32> {
        let last = self.begins.partition_point(|begin| *begin <= to_ns);
        let mut first = self.begins.partition_point(|begin| *begin < from_ns);
        while first > 0 && self.ends[first - 1] >= from_ns {
            first -= 1;
        }
        first as u32..last.max(first) as u32
    }
}

fn duration(begin: i64, end: i64) -> i64 {
    if end == OPEN { 0 } else { end.saturating_sub(begin).max(0) }
}

impl Level {
    fn push(&mut self, bar: &Bar) {
        let latest = self.latest.last().map_or(bar.end_ns, |latest| bar.end_ns.max(*latest));
        self.begins.push(bar.begin_ns);
        self.ends.push(bar.end_ns);
        self.latest.push(latest);
        self.busy.push(bar.busy_ns);
        self.longest.push(bar.index);
    }
}

/// Draws bars, merging those that share a pixel.
struct Pen<'w, D> {
    window: &'w Window,
    draw: &'w mut D,
    waiting: Option<Bar>,
    /// Number of bars that may still be drawn, because spans of a damaged file may overlap.
    room: usize,
}

impl<D: FnMut(Bar)> Pen<'_, D> {
    fn visible(&self, begins: &[i64], ends: &[i64]) -> Range<usize> {
        let first = ends.partition_point(|end| *end < self.window.from_ns);
        let last = begins.partition_point(|begin| *begin <= self.window.to_ns);
        first..last.max(first)
    }

    fn put(&mut self, bar: Bar, lane: &Lane) {
        let Some(waiting) = &mut self.waiting else {
            self.waiting = Some(bar);
            return;
        };
        if self.room > 1 && !self.window.is_shared((waiting.begin_ns, waiting.end_ns), (bar.begin_ns, bar.end_ns)) {
            self.room -= 1;
            (self.draw)(std::mem::replace(waiting, bar));
            return;
        }
        *waiting = lane.joined(*waiting, bar);
    }

    fn lift(&mut self) {
        if let Some(bar) = self.waiting.take() {
            (self.draw)(bar);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans of 4 ns every 10 ns, with a long one in the middle.
    fn lane(spans: i64) -> Lane {
        let mut lane = Lane::default();
        for number in 0..spans {
            let length = if number == spans / 2 { 9 } else { 4 };
            lane.push(number * 10, Some(number * 10 + length), (number % 3) as u32, number as u32);
        }
        lane.close();
        lane
    }

    fn draw(lane: &Lane, from_ns: i64, to_ns: i64, pixels: u32) -> Vec<Bar> {
        let mut bars = Vec::new();
        lane.draw(&Window::new(from_ns, to_ns, pixels), &mut |bar| bars.push(bar));
        bars
    }

    #[test]
    fn close_up_every_span_is_there() {
        let lane = lane(10_000);
        let bars = draw(&lane, 5_000, 5_099, 1_000);
        assert_eq!(
            bars.iter().map(|bar| bar.begin_ns).collect::<Vec<_>>(),
            (500..510).map(|n| n * 10).collect::<Vec<_>>()
        );
        assert!(bars.iter().all(|bar| bar.count == 1 && bar.end_ns == bar.begin_ns + 4));
    }

    #[test]
    fn from_afar_there_are_no_more_bars_than_pixels_and_nothing_is_lost() {
        let lane = lane(1_000_000);
        for pixels in [1, 7, 100, 1280] {
            let bars = draw(&lane, 0, 10_000_000, pixels);
            assert!(bars.len() <= 2 * pixels as usize + 2, "{} bars in {pixels} pixels", bars.len());
            assert_eq!(bars.iter().map(|bar| u64::from(bar.count)).sum::<u64>(), 1_000_000);
            assert_eq!(bars.iter().map(|bar| bar.busy_ns).sum::<i64>(), 4_000_005);
            assert!(bars.iter().any(|bar| bar.index == 500_000), "the longest span names its bar");
        }
    }

    #[test]
    fn what_shares_a_pixel_still_does_when_the_window_moves() {
        let lane = lane(100_000);
        let before = draw(&lane, 0, 400_000, 1_000);
        let after = draw(&lane, 12_345, 412_345, 1_000);
        let both = |bars: &[Bar]| -> Vec<Bar> {
            bars.iter().filter(|bar| (20_000..380_000).contains(&bar.begin_ns)).copied().collect()
        };
        assert!(both(&before).len() > 500);
        assert_eq!(both(&before), both(&after));
    }

    #[test]
    fn at_extreme_zooms_bars_are_where_the_window_says() {
        let lane = lane(1_000);
        let window = Window::new(5_000, 5_010, 1_280);
        let mut close = Vec::new();
        lane.draw(&window, &mut |bar| close.push((window.x(bar.begin_ns), window.x(bar.end_ns))));
        assert_eq!(close, [(0.0, 9.0 * 128.0), (1_280.0, 1_280.0 + 4.0 * 128.0)]);
        let years = draw(&lane, -1_i64 << 60, 1 << 60, 1_280);
        assert_eq!(years.iter().map(|bar| bar.count).collect::<Vec<_>>(), [1_000]);
        let all = draw(&lane, i64::MIN, i64::MAX, 1);
        assert_eq!(all.iter().map(|bar| bar.count).collect::<Vec<_>>(), [1_000]);
    }

    #[test]
    fn spans_that_lie_over_each_other_are_bounded() {
        let mut lane = Lane::default();
        (0..100_000).for_each(|n| lane.push(n, None, 0, n as u32));
        lane.close();
        let bars = draw(&lane, 0, 200_000, 100);
        assert!(bars.len() <= 100 * 4 + 64, "{}", bars.len());
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u32>(), 100_000);
    }

    #[test]
    fn a_long_span_that_began_before_the_window_is_in_it() {
        let mut lane = Lane::default();
        lane.push(0, Some(1_000_000), 0, 0);
        (1..10_000).for_each(|n| lane.push(1_000_000 + n * 10, Some(1_000_000 + n * 10 + 5), 1, n as u32));
        lane.push(2_000_000, None, 2, 10_000);
        lane.close();
        assert_eq!(draw(&lane, 500_000, 500_100, 100).len(), 1);
        let open = draw(&lane, 3_000_000, 3_000_100, 100);
        assert_eq!(open.iter().map(|bar| bar.index).collect::<Vec<_>>(), [10_000]);
        assert_eq!(lane.end_ns(10_000), None);
    }

    #[test]
    fn spans_out_of_order_are_sorted() {
        let mut lane = Lane::default();
        for begin in [50, 10, 30] {
            lane.push(begin, Some(begin + 5), begin as u32, begin as u32);
        }
        lane.close();
        assert_eq!((lane.id(0), lane.id(1), lane.id(2)), (10, 30, 50));
    }

    #[test]
    fn what_is_forgotten_is_gone_and_the_rest_is_drawn_as_before() {
        let (mut rest, all) = (lane(10_000), lane(10_000));
        let mut gone = (0, 0);
        rest.forget_before(40_000, |_, dur_ns| gone = (gone.0 + 1, gone.1 + dur_ns));
        assert_eq!((rest.len(), gone), (6_000, (4_000, 16_000)));
        let strip =
            |bars: Vec<Bar>| bars.into_iter().map(|bar| (bar.begin_ns, bar.end_ns, bar.count)).collect::<Vec<_>>();
        assert_eq!(strip(draw(&rest, 60_000, 90_000, 30_000)), strip(draw(&all, 60_000, 90_000, 30_000)));
        // Bars of many spans may have other ends, but cover the same range.
        let counts: Vec<u64> = [&rest, &all]
            .map(|lane| draw(lane, 60_000, 90_000, 10))
            .map(|bars| bars.iter().map(|bar| u64::from(bar.count)).sum())
            .to_vec();
        assert!(counts.iter().all(|count| (3_000..4_000).contains(count)), "{counts:?}");
        rest.push(100_000, Some(100_004), 0, 1);
        assert_eq!(draw(&rest, 0, 39_000, 10), []);
    }

    #[test]
    fn the_nearest_span_is_hit_within_reach() {
        let lane = lane(100);
        assert_eq!(lane.hit(12, 0), Some(1));
        assert_eq!(lane.hit(16, 1), None);
        assert_eq!(lane.hit(16, 2), Some(1));
        assert_eq!(lane.hit(19, 2), Some(2));
        assert_eq!(lane.between(12, 31), 1..4);
    }
}
