//! Numbers from a file that print the name the format gives them, so that dumps and findings need no tables of names.

/// Declares a newtype over a number from the file that prints its name if it has one and its value if not.
///
/// A number with no text after it is printed as the name of its constant. Unknown values are printed in decimal unless
/// a closure after the type formats them.
///
/// ```
/// traceloom_core::named_number! {
///     /// Contents of a section.
///     pub Section(u16, |value, f| write!(f, "{value:#x}")) {
///         /// Names, each with a closing NUL.
///         STRINGS = 1 "strings",
///         /// Whatever the producer put there.
///         VENDOR = 0x8000,
///     }
/// }
/// assert_eq!(Section::STRINGS.to_string(), "strings");
/// assert_eq!(Section(0x8000).to_string(), "VENDOR");
/// assert_eq!(Section(2).to_string(), "0x2");
/// assert_eq!(Section::from_name(b"strings"), Some(Section(1)));
/// ```
#[macro_export]
macro_rules! named_number {
    ($(#[$doc:meta])* $visible:vis $type:ident($raw:ty) { $($constants:tt)* }) => {
        $crate::named_number! { $(#[$doc])* $visible $type($raw, |value, f| write!(f, "{value}")) { $($constants)* } }
    };
    ($(#[$doc:meta])* $visible:vis $type:ident($raw:ty, $show_unknown:expr) {
        $($(#[$const_doc:meta])* $name:ident = $value:literal $($word:literal)?,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        $visible struct $type($visible $raw);

        #[allow(dead_code, reason = "not every number of a file is looked up by its name")]
        impl $type {
            $($(#[$const_doc])* $visible const $name: Self = Self($value);)*

            /// The name of the value, if it is known.
            $visible const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($crate::named_number!(@word $name $($word)?)),)*
                    _ => None,
                }
            }

            /// The value with this name.
            $visible fn from_name(name: &[u8]) -> Option<Self> {
                $(if name == $crate::named_number!(@word $name $($word)?).as_bytes() {
                    return Some(Self::$name);
                })*
                None
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let show_unknown: fn($raw, &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result = $show_unknown;
                match self.name() {
                    Some(name) => f.pad(name),
                    None => show_unknown(self.0, f),
                }
            }
        }
    };
    (@word $name:ident) => { stringify!($name) };
    (@word $name:ident $word:literal) => { $word };
}

/// Declares a newtype over a set of bits that prints the names of the bits it knows, and the rest in hexadecimal.
///
/// ```
/// traceloom_core::named_flags! {
///     /// Properties of a file.
///     pub Flags(u32, ",") {
///         /// Its source is stored.
///         HAS_SOURCE = 0x1 "source",
///         /// The file is unknown.
///         IS_FAKE = 0x8 "fake",
///     }
/// }
/// assert_eq!(Flags(0x9).to_string(), "source,fake");
/// assert_eq!(Flags(0x12).to_string(), "0x12");
/// assert_eq!(Flags(0).to_string(), "0x0");
/// assert!(Flags(0x9).contains(Flags::IS_FAKE));
/// ```
#[macro_export]
macro_rules! named_flags {
    ($(#[$doc:meta])* $visible:vis $type:ident($raw:ty, $separator:literal) {
        $($(#[$const_doc:meta])* $name:ident = $value:literal $word:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
        $visible struct $type($visible $raw);

        impl $type {
            $($(#[$const_doc])* $visible const $name: Self = Self($value);)*

            const WORDS: &'static [(Self, &'static str)] = &[$((Self::$name, $word),)*];

            /// Whether all bits of `flags` are set.
            $visible const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let mut rest = self.0;
                let mut separator = "";
                for (flag, word) in Self::WORDS {
                    if self.contains(*flag) {
                        write!(f, "{separator}{word}")?;
                        rest &= !flag.0;
                        separator = $separator;
                    }
                }
                if rest != 0 || self.0 == 0 {
                    write!(f, "{separator}{rest:#x}")?;
                }
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    named_number! {
        /// Printed in decimal.
        Kind(u8) {
            /// One.
            ONE = 1 "one",
            /// A letter.
            LETTER = b'a',
        }
    }

    #[test]
    fn known_numbers_print_their_names_and_others_their_values() {
        assert_eq!(format!("[{:>5}]", Kind::ONE), "[  one]");
        assert_eq!(Kind(b'a').to_string(), "LETTER");
        assert_eq!(Kind(7).to_string(), "7");
        assert_eq!(Kind::from_name(b"one"), Some(Kind::ONE));
        assert_eq!(Kind::from_name(b"One"), None);
        assert_eq!(Kind::default().name(), None);
    }
}
