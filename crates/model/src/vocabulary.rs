//! Closed vocabularies: columns whose cells are one of a few words.

use crate::Named;

/// An enum whose variants are the words of a column.
macro_rules! vocabulary {
    ($($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $variant:ident $word:literal,)+ })+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $name {
            /// All words.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in the column.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The variant for a word; `None` if the word is not in this vocabulary.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl From<$name> for Named<'_> {
            fn from(word: $name) -> Self {
                Self::Text(word.as_str())
            }
        }
    )+};
}

vocabulary! {
    /// `spans.category`.
    SpanCategory {
        /// An EasyProfiler block.
        Block "block",
        /// A function call.
        Call "call",
        /// A frame of a game or a page.
        Frame "frame",
        /// A time range that overlays other spans.
        Range "range",
        /// A scope of the Web Tracing Framework.
        Scope "scope",
    }

    /// `events.category`.
    EventCategory {
        /// Data appended to the enclosing scope.
        Append "append",
        /// A note made by a person.
        Bookmark "bookmark",
        /// A point marked by the program.
        Event "event",
        /// A step of a flow between spans.
        Flow "flow",
        /// The start or the end of a frame.
        Frame "frame",
        /// A garbage collection.
        Gc "gc",
        /// An event of a type that the program declared.
        Instance "instance",
        /// The end of a scope that started before the recording.
        Leave "leave",
        /// A mark, which lasts until the next one.
        Mark "mark",
        /// A marker of the program.
        Marker "marker",
        /// The start or the end of a range.
        Range "range",
    }

    /// `traces.clock`.
    ClockKind {
        /// Not a time: one unit is shown as one nanosecond.
        Count "count",
        /// A clock that never goes backward, unrelated to the time of day.
        Monotonic "monotonic",
        /// A processor counter.
        Tsc "tsc",
        /// The time of day.
        Wall "wall",
    }

    /// `allocations.fate`.
    Fate {
        /// It was freed.
        Freed "freed",
        /// It was still allocated at the end.
        Live "live",
        /// Its address was allocated again without a free.
        Reused "reused",
        /// The tracer knows no addresses.
        Unknown "unknown",
    }

    /// `line_times.level`.
    LineLevel {
        /// A block, at its first line.
        Block "block",
        /// A line.
        Line "line",
        /// A sub, at its first line.
        Sub "sub",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_itself() {
        assert!(SpanCategory::ALL.iter().all(|one| SpanCategory::of(one.as_str()) == Some(*one)));
        assert!(EventCategory::ALL.iter().all(|one| EventCategory::of(one.as_str()) == Some(*one)));
        assert_eq!(ClockKind::of("sundial"), None);
        assert_eq!(format!("{:>5}", Fate::Live), " live");
    }
}
