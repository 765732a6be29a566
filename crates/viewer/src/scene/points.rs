//! Points in time, with level of detail.

use traceloom_analysis::lod::Window;

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) ts_ns: i64,
    pub(crate) name: u32,
    pub(crate) category: u32,
    pub(crate) id: i64,
}

/// Events, sorted by time.
#[derive(Debug, Default)]
pub(crate) struct Points {
    points: Vec<Point>,
    is_unsorted: bool,
}

impl Points {
    pub(crate) fn push(&mut self, point: Point) {
        self.is_unsorted |= self.points.last().is_some_and(|last| point.ts_ns < last.ts_ns);
        self.points.push(point);
    }

    pub(crate) fn close(&mut self) {
        if self.is_unsorted {
            self.points.sort_by_key(|point| point.ts_ns);
            self.is_unsorted = false;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Drops events before a time; `gone` gets their names.
    pub(crate) fn forget_before(&mut self, before_ns: i64, mut gone: impl FnMut(u32)) {
        let is_old = |point: &&Point| point.ts_ns < before_ns;
        self.points.iter().filter(is_old).for_each(|point| gone(point.name));
        self.points.retain(|point| point.ts_ns >= before_ns);
        self.points.shrink_to_fit();
    }

    pub(crate) fn resident_bytes(&self) -> usize {
        self.points.capacity() * size_of::<Point>()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Point> {
        self.points.iter()
    }

    /// The event with an id at a time.
    pub(crate) fn at(&self, ts_ns: i64, id: i64) -> Option<&Point> {
        let first = self.points.partition_point(|point| point.ts_ns < ts_ns);
        self.points[first..].iter().take_while(|point| point.ts_ns == ts_ns).find(|point| point.id == id)
    }

    /// The next or previous event with a requested name.
    pub(crate) fn nearest(&self, ts_ns: i64, back: bool, is_wanted: impl Fn(u32) -> bool) -> Option<&Point> {
        let is_wanted = |point: &&Point| is_wanted(point.name);
        if back {
            let end = self.points.partition_point(|point| point.ts_ns < ts_ns);
            return self.points[..end].iter().rev().find(is_wanted);
        }
        let start = self.points.partition_point(|point| point.ts_ns <= ts_ns);
        self.points[start..].iter().find(is_wanted)
    }

    /// The first event of each pixel, and the number of events in it.
    pub(crate) fn draw(&self, window: &Window, draw: &mut impl FnMut(&Point, usize)) {
        let time = |at: usize| self.points[at].ts_ns;
        each_pixel(self.points.len(), time, window, &mut |at, shared| draw(&self.points[at], shared));
    }
}

/// Calls back with the first item of each nonempty pixel and the number of items in it; `time` must never decrease.
pub(crate) fn each_pixel(
    len: usize,
    time: impl Fn(usize) -> i64,
    window: &Window,
    draw: &mut impl FnMut(usize, usize),
) {
    let mut next = first_where(0, len, |at| time(at) >= window.from_ns);
    while next < len && time(next) <= window.to_ns {
        let last = window.next_pixel(time(next));
        // Galloping search: fast if there are few, and logarithmic if there are many.
        let mut step = 1;
        while next + step < len && time(next + step) < last {
            step *= 2;
        }
        let end = first_where(next, len.min(next + step), |at| time(at) >= last).max(next + 1);
        draw(next, end - next);
        next = end;
    }
}

/// The first index that satisfies the predicate; all later ones must satisfy it too.
fn first_where(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_share_a_pixel_are_one_and_none_is_lost() {
        let mut points = Points::default();
        for ts_ns in (0..10_000).rev() {
            points.push(Point { ts_ns, name: 0, category: 0, id: ts_ns });
        }
        points.close();
        let mut drawn = Vec::new();
        points.draw(&Window::new(0, 10_000, 100), &mut |point, shared| drawn.push((point.id, shared)));
        assert_eq!(drawn.len(), 100);
        assert!(drawn.iter().all(|(id, shared)| id % 100 == 0 && *shared == 100));
        let mut close = 0;
        points.draw(&Window::new(5_000, 5_009, 1_000), &mut |_, shared| close += shared);
        assert_eq!(close, 10);
    }
}
