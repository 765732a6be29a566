//! A time window with a width in pixels.

/// A time window to draw, and the time per pixel.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First nanosecond.
    pub from_ns: i64,
    /// Last nanosecond.
    pub to_ns: i64,
    /// Nanoseconds per pixel; less than 1 if pixels are finer than the clock.
    pub pixel_ns: f64,
}

impl Window {
    /// Creates a window that is `pixels` wide.
    pub fn new(from_ns: i64, to_ns: i64, pixels: u32) -> Self {
        let width_ns = (i128::from(to_ns) - i128::from(from_ns)).max(1);
        Self { from_ns, to_ns, pixel_ns: width_ns as f64 / f64::from(pixels.max(1)) }
    }

    /// Distance of a time from the left edge, in pixels.
    #[inline]
    pub fn x(&self, ns: i64) -> f64 {
        (i128::from(ns) - i128::from(self.from_ns)) as f64 / self.pixel_ns
    }

    /// Width in pixels.
    pub fn pixels(&self) -> f64 {
        self.x(self.to_ns)
    }

    /// The first time after the pixel that contains a time.
    ///
    /// Pixels are counted from time 0, not from the edge, so that spans that share a pixel still do when the window
    /// moves.
    pub fn next_pixel(&self, ns: i64) -> i64 {
        let next_ns = (((ns as f64 / self.pixel_ns).floor() + 1.0) * self.pixel_ns).ceil() as i64;
        next_ns.max(ns.saturating_add(1))
    }

    /// Whether a range is at most one pixel wide.
    #[inline]
    pub(super) fn is_pixel(&self, begin_ns: i64, end_ns: i64) -> bool {
        end_ns.saturating_sub(begin_ns) as f64 <= self.pixel_ns
    }

    /// Whether two ranges, sorted by start, are drawn as one.
    #[inline]
    pub(super) fn is_shared(&self, first: (i64, i64), second: (i64, i64)) -> bool {
        let pixel = |ns: i64| (ns as f64 / self.pixel_ns).floor();
        // Far from time 0, pixel numbers lose precision; the distance check works everywhere.
        self.is_pixel(first.0, first.1)
            && self.is_pixel(second.0, second.1)
            && second.1.saturating_sub(first.0) as f64 <= 2.0 * self.pixel_ns
            && pixel(first.0) == pixel(second.0)
    }

    /// More bars than nonoverlapping spans ever need.
    pub(super) fn most_bars(&self) -> usize {
        self.pixels() as usize * 4 + 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_are_where_the_page_draws_them_at_any_width() {
        for (from_ns, to_ns) in [
            (0, 10),
            (i64::MAX - 10, i64::MAX),
            (-5, 5),
            (0, 86_400_000_000_000 * 365 * 200),
            (i64::MIN, i64::MAX),
            (1_000_000_007, 2_000_000_009),
        ] {
            for pixels in [1, 3, 1_280, 16_384] {
                let window = Window::new(from_ns, to_ns, pixels);
                let width = f64::from(pixels);
                assert_eq!(window.x(from_ns), 0.0);
                assert!((window.x(to_ns) - width).abs() <= width * 1e-12, "{from_ns}..{to_ns} in {pixels}");
                let middle = (i128::from(from_ns) + i128::from(to_ns)).div_euclid(2) as i64;
                assert!((window.x(middle) - width / 2.0).abs() <= window.x(from_ns.saturating_add(1)) + width * 1e-12);
            }
        }
    }

    #[test]
    fn a_window_without_length_is_a_nanosecond() {
        assert_eq!(Window::new(5, 5, 10).pixel_ns, 0.1);
        assert_eq!(Window::new(5, -5, 10).pixel_ns, 0.1);
        assert_eq!(Window::new(5, 6, 0).pixel_ns, 1.0);
    }

    #[test]
    fn the_next_pixel_is_always_later() {
        for ns in [i64::MIN, -1_000, -1, 0, 1, 999, i64::MAX - 1] {
            for window in [Window::new(0, 10, 1_000), Window::new(0, 1_000, 10), Window::new(i64::MIN, i64::MAX, 3)] {
                assert!(window.next_pixel(ns) > ns, "{ns}");
            }
        }
        assert_eq!(Window::new(0, 1_000, 10).next_pixel(250), 300);
        assert_eq!(Window::new(37, 1_037, 10).next_pixel(250), 300);
    }
}
