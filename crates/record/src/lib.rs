//! Records logs, spans, events and values at the price of a clock read, and loses nothing.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod args;
mod clock;
mod config;
mod crash;
#[cfg(any(feature = "log", feature = "tracing"))]
mod dynamic;
mod filter;
mod flight;
#[doc(hidden)]
pub mod foreign;
mod fork;
mod hub;
mod local;
#[cfg(feature = "log")]
mod log_backend;
mod macros;
mod record;
mod ring;
mod session;
mod sinks;
mod site;
mod span;
mod stats;
mod sync;
#[cfg(feature = "tracing")]
mod tracing_backend;
mod writer;

pub(crate) use crate::config::Config;
#[cfg(feature = "log")]
pub use crate::log_backend::LogBackend;
#[cfg(feature = "tracing")]
pub use crate::tracing_backend::{RecordLayer, RecordSubscriber};
pub use crate::{
    args::Arg,
    clock::tick,
    config::{Flight, Layout, LogLines, Policy, Rotation, Slot},
    filter::Filter,
    session::{
        Guard, Recorder, dump, flush, flush_within, is_recording, leave, pause_prof, reset_stats, rotate, save_prof,
        set_filter, stats, stop, sync, writer_thread, writes_to,
    },
    site::Level,
    span::{Flow, FrameGuard, Range, SpanGuard, Value},
    stats::Stats,
};
#[doc(hidden)]
pub use crate::{
    args::{Args, check_format},
    macros::{Format, record_log},
    site::{About, Look, Site},
    span::{record_bookmark, record_event, record_event_with, record_thread_name, record_value},
};
