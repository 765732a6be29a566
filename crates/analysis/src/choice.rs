//! Options that people choose by a word, on the command line and in the arguments of tools.

/// A closed set of options.
pub trait Choice: Copy + Eq + Send + Sync + 'static {
    /// Name of the set.
    const NAME: &'static str;
    /// The options.
    const ALL: &'static [Self];
    /// The word of each option.
    const WORDS: &'static [&'static str];
    /// The meaning of each option, as a sentence.
    const MEANINGS: &'static [&'static str];

    /// The option with this word.
    fn of(word: &str) -> Option<Self> {
        let number = Self::WORDS.iter().position(|one| *one == word)?;
        Self::ALL.get(number).copied()
    }
}

/// Declares an enum as a [`Choice`].
macro_rules! choice {
    ($(#[doc = $about:literal])+ pub enum $name:ident { $(#[doc = $meaning:literal] $option:ident $word:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $name {
            $(#[doc = $meaning] $option,)+
        }

        impl $crate::choice::Choice for $name {
            const NAME: &'static str = stringify!($name);
            const ALL: &'static [Self] = &[$(Self::$option),+];
            const WORDS: &'static [&'static str] = &[$($word),+];
            const MEANINGS: &'static [&'static str] = &[$($meaning),+];
        }
    };
}

pub(crate) use choice;
