//! Results as JSON.

use std::path::Path;

use serde_json::{Map, Value as Json, json};
use traceloom_core::{Amount, Error, ErrorKind, Finding, Findings, Position, Result, Severity, Value};

use crate::{Info, OpenOptions, Trace};

impl Info {
    /// The summary of the trace at this path as JSON.
    pub fn to_json(&self, path: &Path) -> Json {
        let facts = self.contents.facts.iter().map(|fact| (fact.name.to_owned(), amount(&fact.amount)));
        let mut object = json!({
            "file": path.to_string_lossy(),
            "format": self.format.id,
            "version": self.contents.version,
            "bytes": self.bytes,
            "compression": self.layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>(),
            "facts": facts.collect::<Map<String, Json>>(),
        });
        for table in &self.contents.tables {
            let rows = table.rows.iter().map(|row| {
                let cells = table.columns.iter().zip(row);
                cells.map(|(column, cell)| ((*column).to_owned(), amount(cell))).collect::<Map<_, _>>()
            });
            object[table.name] = rows.collect::<Vec<_>>().into();
        }
        object["findings"] = self.findings.kept().iter().map(finding).collect::<Vec<_>>().into();
        object["finding_counts"] = json!(self.findings.counts());
        object
    }
}

fn amount(amount: &Amount) -> Json {
    match amount {
        Amount::Count(count) => (*count).into(),
        Amount::Nanoseconds(ns) => json!({ "ns": ns }),
        Amount::Text(text) => text.as_str().into(),
    }
}

/// The verdict on one file.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The file can be read.
    Read {
        /// Id of the format.
        format: &'static str,
        /// All problems.
        findings: Findings,
    },
    /// The file cannot be read, or the format's own tool rejects it.
    Refused {
        /// The problem, in strict mode.
        finding: Option<Box<Finding>>,
        /// Byte offset of the problem.
        position: Option<Position>,
        /// Message.
        message: String,
    },
}

impl Verdict {
    /// Checks a file; returns an error only for problems that are not about the file.
    pub fn of(path: &Path, options: &OpenOptions) -> Result<Self> {
        Self::of_read(options.open(path).and_then(|trace| Self::read(&trace)), path)
    }

    /// Checks an open trace.
    pub fn of_trace(trace: &Trace) -> Result<Self> {
        Self::of_read(Self::read(trace), trace.path())
    }

    fn read(trace: &Trace) -> Result<Self> {
        Ok(Self::Read { format: trace.format().id, findings: trace.check()? })
    }

    fn of_read(read: Result<Self>, path: &Path) -> Result<Self> {
        read.or_else(|error: Error| match error.kind() {
            _ if !error.is_about_file() => Err(error.in_file(path)),
            ErrorKind::Refused(finding) => {
                Ok(Self::Refused { finding: Some(finding.clone()), position: None, message: finding.message() })
            }
            kind => Ok(Self::Refused { finding: None, position: error.position(), message: kind.to_string() }),
        })
    }

    /// Whether the format's own tool rejects the file.
    pub fn is_bad(&self) -> bool {
        match self {
            Self::Read { findings, .. } => findings.worst() == Some(Severity::Error),
            Self::Refused { .. } => true,
        }
    }

    /// Whether no data of the file is missing; `None` if the file was refused and so not read to the end.
    pub fn is_complete(&self) -> Option<bool> {
        match self {
            Self::Read { findings, .. } => Some(!findings.is_data_missing()),
            Self::Refused { .. } => None,
        }
    }

    /// The verdict on the file at this path as JSON.
    pub fn to_json(&self, path: &Path) -> Json {
        let (format, findings, counts, message) = match self {
            Self::Read { format, findings } => {
                (Some(*format), findings.kept().iter().map(finding).collect(), json!(findings.counts()), None)
            }
            Self::Refused { finding: refused, message, .. } => {
                (None, refused.iter().map(|refused| finding(refused)).collect::<Vec<_>>(), json!({}), Some(message))
            }
        };
        json!({
            "file": path.to_string_lossy(),
            "format": format,
            "accepted": !self.is_bad(),
            "complete": self.is_complete(),
            "refused": message,
            "findings": findings,
            "finding_counts": counts,
        })
    }
}

fn finding(finding: &Finding) -> Json {
    let value = |value: &Value| match value {
        Value::Unsigned(value) => Json::from(*value),
        Value::Signed(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
    };
    let values: Map<String, Json> = finding.values.iter().map(|(name, one)| ((*name).to_owned(), value(one))).collect();
    json!({
        "code": finding.rule.code,
        "severity": finding.severity.as_str(),
        "offset": finding.position.offset,
        "field": (!finding.position.field.is_empty()).then_some(finding.position.field),
        "message": finding.message(),
        "values": values,
    })
}
