//! Perl's floating-point numbers, as they were in the memory of the profiled perl.

use std::fmt;

use traceloom_core::ByteOrder;

/// How a perl stores its numbers; the file states only their size.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum NvLayout {
    /// IEEE double, 8 bytes: nearly all perls.
    Double(ByteOrder),
    /// x87 extended, 10 bytes padded to 12: long doubles on 32-bit x86.
    Extended12,
    /// x87 extended, 10 bytes padded to 16: long doubles on 64-bit x86.
    Extended16,
    /// IEEE quadruple, 16 bytes: long doubles on other 64-bit machines, and quadmath.
    Quad(ByteOrder),
    /// A sum of two doubles, 16 bytes: long doubles on PowerPC.
    Pair(ByteOrder),
}

impl NvLayout {
    /// The layout of common perls today.
    pub const COMMON: Self = Self::Double(ByteOrder::Little);

    /// All layouts, the more likely first.
    pub const ALL: [Self; 8] = [
        Self::Double(ByteOrder::Little),
        Self::Double(ByteOrder::Big),
        Self::Extended12,
        Self::Extended16,
        Self::Quad(ByteOrder::Little),
        Self::Quad(ByteOrder::Big),
        Self::Pair(ByteOrder::Little),
        Self::Pair(ByteOrder::Big),
    ];

    /// Size of a number.
    pub const fn size(self) -> usize {
        match self {
            Self::Double(_) => 8,
            Self::Extended12 => 12,
            Self::Extended16 | Self::Quad(_) | Self::Pair(_) => 16,
        }
    }

    /// Order of the bytes.
    pub const fn order(self) -> ByteOrder {
        match self {
            Self::Double(order) | Self::Quad(order) | Self::Pair(order) => order,
            Self::Extended12 | Self::Extended16 => ByteOrder::Little,
        }
    }
}

impl fmt::Display for NvLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Double(_) => "double",
            Self::Extended12 | Self::Extended16 => "x87 extended",
            Self::Quad(_) => "quadruple",
            Self::Pair(_) => "pair of doubles",
        };
        write!(f, "{}-byte {} {name}", self.size(), self.order().as_str())
    }
}

/// A stored number, with its bytes.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Nv {
    bytes: [u8; 16],
    layout: NvLayout,
}

impl Nv {
    /// Reads a number from the front of `bytes`; `None` if there are too few.
    #[inline]
    pub fn take(bytes: &[u8], layout: NvLayout) -> Option<Self> {
        let mut stored = [0; 16];
        let size = layout.size();
        stored.get_mut(..size)?.copy_from_slice(bytes.get(..size)?);
        Some(Self { bytes: stored, layout })
    }

    /// The number that a perl with this layout would store.
    pub fn new(value: f64, layout: NvLayout) -> Self {
        let mut bytes = [0; 16];
        let (head, tail) = bytes.split_at_mut(8);
        match layout {
            NvLayout::Double(order) | NvLayout::Pair(order) => head.copy_from_slice(&order.put_f64(value)),
            NvLayout::Extended12 | NvLayout::Extended16 => {
                let (mantissa, exponent) = to_extended(value);
                head.copy_from_slice(&mantissa.to_le_bytes());
                for (to, from) in tail.iter_mut().zip(exponent.to_le_bytes()) {
                    *to = from;
                }
            }
            NvLayout::Quad(ByteOrder::Little) => bytes = to_quad(value).to_le_bytes(),
            NvLayout::Quad(ByteOrder::Big) => bytes = to_quad(value).to_be_bytes(),
        }
        Self { bytes, layout }
    }

    /// Its value, rounded to a double if it has more precision.
    #[inline]
    pub fn value(&self) -> f64 {
        let [a, b, c, d, e, f, g, h, low @ ..] = self.bytes;
        let high = [a, b, c, d, e, f, g, h];
        match self.layout {
            NvLayout::Double(order) => order.f64(high),
            // Adding a zero would lose the sign of another zero.
            NvLayout::Pair(order) if order.f64(low) == 0.0 => order.f64(high),
            NvLayout::Pair(order) => order.f64(high) + order.f64(low),
            NvLayout::Extended12 | NvLayout::Extended16 => {
                let [e0, e1, ..] = low;
                from_extended(u64::from_le_bytes(high), u16::from_le_bytes([e0, e1]))
            }
            NvLayout::Quad(ByteOrder::Little) => from_quad(u128::from_le_bytes(self.bytes)),
            NvLayout::Quad(ByteOrder::Big) => from_quad(u128::from_be_bytes(self.bytes)),
        }
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.layout.size()).unwrap_or_default()
    }

    /// How it is stored.
    pub const fn layout(&self) -> NvLayout {
        self.layout
    }

    /// Whether a double holds it exactly.
    pub fn is_double(&self) -> bool {
        let stored = Self::new(self.value(), self.layout);
        match self.layout {
            NvLayout::Double(_) => true,
            // The padding of the ten bytes is whatever was in memory.
            NvLayout::Extended12 | NvLayout::Extended16 => stored.bytes.first_chunk::<10>() == self.bytes.first_chunk(),
            NvLayout::Quad(_) | NvLayout::Pair(_) => stored.bytes == self.bytes,
        }
    }
}

impl From<f64> for Nv {
    fn from(value: f64) -> Self {
        Self::new(value, NvLayout::COMMON)
    }
}

impl fmt::Debug for Nv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value())
    }
}

const EXTENDED_BIAS: i32 = 16_383;
const SPECIAL: u16 = 0x7fff;

fn from_extended(mantissa: u64, sign_and_exponent: u16) -> f64 {
    let exponent = sign_and_exponent & SPECIAL;
    let magnitude = match exponent {
        SPECIAL if mantissa << 1 == 0 => f64::INFINITY,
        SPECIAL => f64::NAN,
        _ => scale(mantissa as f64, i32::from(exponent) - EXTENDED_BIAS - 63),
    };
    if sign_and_exponent > SPECIAL { -magnitude } else { magnitude }
}

fn to_extended(value: f64) -> (u64, u16) {
    let (sign, exponent, fraction) = parts(value);
    match exponent {
        Some(_) if fraction == 0 => (0, sign),
        Some(exponent) => (fraction << 11, sign | biased(exponent)),
        None => (1 << 63 | fraction << 11, sign | SPECIAL),
    }
}

fn from_quad(bits: u128) -> f64 {
    let exponent = (bits >> 112) as u16 & SPECIAL;
    let fraction = bits & ((1 << 112) - 1);
    let magnitude = match exponent {
        0 => 0.0,
        SPECIAL if fraction == 0 => f64::INFINITY,
        SPECIAL => f64::NAN,
        _ => scale((fraction | 1 << 112) as f64, i32::from(exponent) - EXTENDED_BIAS - 112),
    };
    if bits >> 127 == 1 { -magnitude } else { magnitude }
}

fn to_quad(value: f64) -> u128 {
    let (sign, exponent, fraction) = parts(value);
    let top = |exponent: u16| u128::from(sign | exponent) << 112;
    let below_one = u128::from(fraction & ((1 << 52) - 1)) << 60;
    match exponent {
        Some(_) if fraction == 0 => top(0),
        Some(exponent) => top(biased(exponent)) | below_one,
        None => top(SPECIAL) | below_one,
    }
}

/// Sign bit, exponent (`None`: infinite or not a number), and 53 bits of fraction, the highest set unless all are 0.
fn parts(value: f64) -> (u16, Option<i32>, u64) {
    let bits = value.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let fraction = bits & ((1 << 52) - 1);
    match ((bits >> 52) & 0x7ff) as i32 {
        0x7ff => (sign, None, fraction),
        0 if fraction == 0 => (sign, Some(0), 0),
        0 => {
            let shift = fraction.leading_zeros() as i32 - 11;
            (sign, Some(-1022 - shift), fraction << shift)
        }
        exponent => (sign, Some(exponent - 1023), fraction | 1 << 52),
    }
}

fn biased(exponent: i32) -> u16 {
    // A double's exponent is far inside the wider range.
    u16::try_from(exponent + EXTENDED_BIAS).unwrap_or(0)
}

/// `value * 2^exponent` without intermediate overflow.
fn scale(value: f64, exponent: i32) -> f64 {
    let exponent = exponent.clamp(-2300, 2300);
    let third = exponent / 3;
    value * 2f64.powi(third) * 2f64.powi(third) * 2f64.powi(exponent - 2 * third)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_survives_every_layout() {
        let values = [0.0, -0.0, 1.0, -2.5, 1794703985.363372, 1e-7, 1e300, -1e-300, 5e-324, f64::INFINITY, f64::MAX];
        for layout in NvLayout::ALL {
            for value in values {
                let stored = Nv::new(value, layout);
                assert_eq!(stored.bytes().len(), layout.size());
                assert_eq!(stored.value(), value, "{layout}");
                assert!(stored.is_double());
                assert_eq!(Nv::take(stored.bytes(), layout), Some(stored));
                assert_eq!(Nv::take(&stored.bytes()[1..], layout), None);
            }
            assert!(Nv::new(f64::NAN, layout).value().is_nan());
        }
    }

    #[test]
    fn known_bytes() {
        let one = [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0xde, 0xad];
        assert_eq!(Nv::take(&one, NvLayout::Extended12).map(|nv| (nv.value(), nv.is_double())), Some((1.0, true)));
        let mut quad = [0; 16];
        quad[14..].copy_from_slice(&[0xff, 0x3f]);
        assert_eq!(Nv::take(&quad, NvLayout::Quad(ByteOrder::Little)).map(|nv| nv.value()), Some(1.0));
        quad[0] = 1;
        let odd = Nv::take(&quad, NvLayout::Quad(ByteOrder::Little)).map(|nv| (nv.value(), nv.is_double()));
        assert_eq!(odd, Some((1.0, false)));
    }
}
