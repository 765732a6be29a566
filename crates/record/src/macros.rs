//! The macros, and the functions that they call.

use crate::{
    args::{Args, check_format},
    local::{Weight, put},
    record::Kind,
    site::{Look, Types},
};

/// The text of a format, so that the compiler can check it.
#[doc(hidden)]
pub trait Format {
    const TEXT: &'static str;
}

/// Called by [`log!`].
#[doc(hidden)]
#[inline(always)]
pub fn record_log<F: Format, A: Args>(site: Look, args: A) {
    const { check_format(F::TEXT, &A::CLASSES, A::LEN) };
    if let Some(id) = site.id(const { &Types::new(A::TYPES.split_at(A::LEN).0) }) {
        put(Kind::Log, id, Weight::Log, args.laid());
    }
}

/// A list of arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __args {
    () => { () };
    ($first:expr $(, $rest:expr)*) => { (&$first, $crate::__args!($($rest),*)) };
}

/// The static of a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($name:expr) => {
        $crate::__site!($name, ::core::option::Option::None, ::core::option::Option::None)
    };
    ($name:expr, $level:expr, $color:expr) => {{
        static SITE: $crate::Site = $crate::Site::new($crate::About {
            name: $name,
            level: $level,
            color: $color,
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
            pattern: "",
        });
        &SITE
    }};
}

/// Logs at a level of your choice: `log!(AUDIT, "%s opened %s", user, door)`.
///
/// The format is C's; the compiler refuses arguments that do not fit it.
///
/// ```compile_fail
/// traceloom_record::info!("%d of %s", 1, 2);
/// ```
#[cfg(not(feature = "off"))]
#[macro_export]
macro_rules! log {
    ($level:expr, $format:expr $(, $arg:expr)* $(,)?) => {{
        enum Text {}
        impl $crate::Format for Text {
            const TEXT: &'static str = $format;
        }
        let site = $crate::__site!($format, ::core::option::Option::Some($level), ::core::option::Option::None);
        if let ::core::option::Option::Some(site) = site.look() {
            $crate::record_log::<Text, _>(site, $crate::__args!($($arg),*));
        }
    }};
}

/// Logs at a level of your choice; compiled out by the feature `off`.
#[cfg(feature = "off")]
#[macro_export]
macro_rules! log {
    ($level:expr, $format:expr $(, $arg:expr)* $(,)?) => {{
        // Never called: it only keeps the arguments used.
        let _ = || { $(let _ = &$arg;)* };
    }};
}

/// Logs at level DEBUG; see [`log!`](crate::log!).
#[macro_export]
macro_rules! debug {
    ($($log:tt)*) => { $crate::log!($crate::Level::DEBUG, $($log)*) };
}

/// Logs at level INFO: `info!("took %d of %s", count, name)`; see [`log!`](crate::log!).
#[macro_export]
macro_rules! info {
    ($($log:tt)*) => { $crate::log!($crate::Level::INFO, $($log)*) };
}

/// Logs at level WARN; see [`log!`](crate::log!).
#[macro_export]
macro_rules! warn {
    ($($log:tt)*) => { $crate::log!($crate::Level::WARN, $($log)*) };
}

/// Logs at level ERROR; see [`log!`](crate::log!).
#[macro_export]
macro_rules! error {
    ($($log:tt)*) => { $crate::log!($crate::Level::ERROR, $($log)*) };
}

/// Opens a span that ends when its guard is dropped: `let _span = span!("load");`
///
/// `span!("load", text: path)` adds a text to this span, `span!("load", color: 0xff_4c_af_50)` a color.
#[cfg(not(feature = "off"))]
#[macro_export]
macro_rules! span {
    ($name:expr) => { $crate::span!(@ $name, ::core::option::Option::None) };
    ($name:expr, color: $color:expr) => { $crate::span!(@ $name, ::core::option::Option::Some($color)) };
    ($name:expr, text: $text:expr) => {{
        match $crate::__site!($name).look() {
            ::core::option::Option::Some(site) => $crate::SpanGuard::begin_with(site, &$text),
            ::core::option::Option::None => $crate::SpanGuard::none(),
        }
    }};
    (@ $name:expr, $color:expr) => {
        $crate::SpanGuard::begin($crate::__site!($name, ::core::option::Option::None, $color))
    };
}

/// Opens a span; compiled out by the feature `off`.
#[cfg(feature = "off")]
#[macro_export]
macro_rules! span {
    ($name:expr $(, color: $color:expr)?) => {
        $crate::SpanGuard::none()
    };
    ($name:expr, text: $text:expr) => {{
        let _ = || {
            let _ = &$text;
        };
        $crate::SpanGuard::none()
    }};
}

/// Opens a span that may end on another thread: `let range = range!("request");`, then `range.enter()` in each thread
/// that works on it, or `range.run(future).await`. It ends when it is dropped.
#[macro_export]
macro_rules! range {
    ($name:expr) => {
        $crate::Range::begin($crate::__site!($name))
    };
}

/// Opens a frame that ends when its guard is dropped: `let _frame = frame!("frame");`
#[macro_export]
macro_rules! frame {
    ($name:expr) => {
        match $crate::__site!($name).look() {
            ::core::option::Option::Some(site) => $crate::FrameGuard::begin(site),
            ::core::option::Option::None => $crate::FrameGuard::none(),
        }
    };
}

/// Starts, continues or ends a flow: `let flow = flow!("order");`, `flow!(flow, "packed");`, `flow!(end flow, "sent");`
#[macro_export]
macro_rules! flow {
    (end $flow:expr, $name:expr) => {
        $flow.end($crate::__site!($name))
    };
    ($flow:expr, $name:expr) => {
        $flow.step($crate::__site!($name))
    };
    ($name:expr) => {
        $crate::Flow::begin($crate::__site!($name))
    };
}

/// Records a moment: `event!("hit")`, or `event!("hit", text: who)`.
#[macro_export]
macro_rules! event {
    ($name:expr) => {{
        if let ::core::option::Option::Some(site) = $crate::__site!($name).look() {
            $crate::record_event(site);
        }
    }};
    ($name:expr, text: $text:expr) => {{
        if let ::core::option::Option::Some(site) = $crate::__site!($name).look() {
            $crate::record_event_with(site, &$text);
        }
    }};
}

/// Records a value: `value!("enemies", count)`; see [`Value`](crate::Value) for the types.
#[macro_export]
macro_rules! value {
    ($name:expr, $value:expr) => {{
        if let ::core::option::Option::Some(site) = $crate::__site!($name).look() {
            $crate::record_value(site, &$value);
        }
    }};
}

/// Marks the current time with a text: `bookmark!("level 2 loaded")`.
#[macro_export]
macro_rules! bookmark {
    ($text:expr) => {{
        if let ::core::option::Option::Some(site) = $crate::__site!("bookmark").look() {
            $crate::record_bookmark(site, &$text);
        }
    }};
}

/// Names this thread; a thread that was started with a name already has it.
#[cfg(not(feature = "off"))]
#[macro_export]
macro_rules! thread_name {
    ($text:expr) => {
        $crate::record_thread_name($crate::__site!("thread"), &$text)
    };
}

/// Names this thread; compiled out by the feature `off`.
#[cfg(feature = "off")]
#[macro_export]
macro_rules! thread_name {
    ($text:expr) => {{
        let _ = || {
            let _ = &$text;
        };
    }};
}
