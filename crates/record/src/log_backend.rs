//! A backend for the `log` crate: messages as text, key-values with their types.

use log::{
    Log, Metadata, Record,
    kv::{Error, Key, Value, VisitSource},
};
use traceloom_cnanolog::raw::ArgType;

use crate::{
    Level,
    dynamic::{Fields, MESSAGE, Place, with_fields},
    session,
    site::{generation, is_on, is_recording},
};

/// Records entries of `log`'s macros: `log::set_logger(&traceloom_record::LogBackend)`, then `log::set_max_level`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogBackend;

impl Log for LogBackend {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        is_recording()
    }

    fn log(&self, record: &Record<'_>) {
        if !is_on(generation()) {
            return;
        }
        let level = match record.level() {
            log::Level::Error => Level::ERROR,
            log::Level::Warn => Level::WARN,
            log::Level::Info => Level::INFO,
            log::Level::Debug | log::Level::Trace => Level::DEBUG,
        };
        with_fields(|fields| {
            fields.shown(MESSAGE, *record.args());
            // Values that cannot be visited are left out; the message is recorded anyway.
            let _ = record.key_values().visit(fields);
            let place = Place {
                module: record.module_path().unwrap_or(record.target()),
                file: record.file().unwrap_or_default(),
                line: record.line().unwrap_or(0),
            };
            fields.log((place.file, place.line, level.number, record.target()), level, &place);
        });
    }

    fn flush(&self) {
        // Errors are counted.
        let _ = session::flush();
    }
}

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        let name = key.as_str();
        if let Some(number) = value.to_i64() {
            self.number(name, ArgType::INT64, number as u64);
        } else if let Some(number) = value.to_u64() {
            self.number(name, ArgType::UINT64, number);
        } else if let Some(flag) = value.to_bool() {
            self.number(name, ArgType::INT32, flag.into());
        } else if let Some(number) = value.to_f64() {
            self.number(name, ArgType::DOUBLE, number.to_bits());
        } else if let Some(text) = value.to_borrowed_str() {
            self.text(name, text);
        } else {
            self.shown(name, format_args!("{value}"));
        }
        Ok(())
    }
}
