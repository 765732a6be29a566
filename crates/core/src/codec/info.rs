//! The summary of a file as data; the program prints it as text or as JSON.

/// The summary of one file.
#[derive(Clone, Debug, Default)]
pub struct Info {
    /// Version or dialect.
    pub version: String,
    /// Facts, in display order.
    pub facts: Vec<Fact>,
    /// Lists, such as the threads.
    pub tables: Vec<Listing>,
}

impl Info {
    /// Adds a fact.
    pub fn fact(&mut self, name: &'static str, amount: impl Into<Amount>) {
        self.facts.push(Fact { name, amount: amount.into() });
    }
}

/// One fact about a file.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Name, with underscores for spaces.
    pub name: &'static str,
    /// Value.
    pub amount: Amount,
}

/// A value with its unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Amount {
    /// A plain number.
    Count(u64),
    /// A duration in nanoseconds.
    Nanoseconds(u64),
    /// Text.
    Text(String),
}

impl From<u64> for Amount {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<String> for Amount {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Amount {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A list of items in a file.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The name of the list.
    pub name: &'static str,
    /// Names of the columns.
    pub columns: &'static [&'static str],
    /// The rows.
    pub rows: Vec<Vec<Amount>>,
}

/// A small trace, made with the format's writer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sample {
    /// Suggested file name.
    pub file_name: &'static str,
    /// Contents of the file.
    pub bytes: Vec<u8>,
    /// The purpose of the trace, in one line.
    pub about: &'static str,
    /// Commands worth trying on it besides those that every format has; `{file}` is replaced by its name.
    pub tries: &'static [&'static str],
}

impl Sample {
    /// A sample without commands of its own.
    pub const fn new(file_name: &'static str, bytes: Vec<u8>, about: &'static str) -> Self {
        Self { file_name, bytes, about, tries: &[] }
    }

    /// Sets the commands worth trying on it.
    #[must_use]
    pub fn tries(self, tries: &'static [&'static str]) -> Self {
        Self { tries, ..self }
    }
}
