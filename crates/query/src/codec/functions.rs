//! Encodes functions.

use std::{collections::HashMap, sync::Arc};

use datafusion::{
    common::{Result, plan_datafusion_err},
    execution::SessionStateDefaults,
    logical_expr::{AggregateUDF, ScalarUDF},
};
use serde::{Deserialize, Serialize};

use super::unframed;
use crate::{
    functions::{self, Origins, UnixTime},
    guard::{Bounded, Measured},
};

/// A function that a registry lacks, or that the session uses differently.
#[derive(Deserialize, Serialize)]
pub(super) enum Scalar {
    /// One of our functions without state.
    Plain,
    /// A function of the engine whose results are limited.
    Bounded { max_bytes: usize },
    /// `||` with limited results.
    Measured { max_bytes: usize },
    /// `unix_time`, with the origins of all traces.
    UnixTime { origins: HashMap<u64, i64> },
}

impl Scalar {
    /// `None` for a function that the other side knows by name.
    pub(super) fn of(function: &ScalarUDF) -> Option<Self> {
        let inner = function.inner();
        if let Some(bounded) = inner.downcast_ref::<Bounded>() {
            return Some(Self::Bounded { max_bytes: bounded.max_bytes() });
        }
        if let Some(measured) = inner.downcast_ref::<Measured>() {
            return Some(Self::Measured { max_bytes: measured.max_bytes() });
        }
        if let Some(unix_time) = inner.downcast_ref::<UnixTime>() {
            return Some(Self::UnixTime { origins: unix_time.origins().known() });
        }
        functions::plain().iter().any(|plain| plain.name() == function.name()).then_some(Self::Plain)
    }

    fn function(self, name: &str) -> Result<Arc<ScalarUDF>> {
        let unknown = || plan_datafusion_err!("no function '{name}'");
        let function = match self {
            Self::Plain => functions::plain().into_iter().find(|plain| plain.name() == name).map(Arc::new),
            Self::Bounded { max_bytes } => {
                let known = SessionStateDefaults::default_scalar_functions();
                let inner = known.into_iter().find(|function| function.name() == name).ok_or_else(unknown)?;
                Bounded::new(inner, max_bytes).map(ScalarUDF::from).map(Arc::new)
            }
            Self::Measured { max_bytes } => Some(Arc::new(ScalarUDF::from(Measured::new(max_bytes)))),
            Self::UnixTime { origins } => Some(Arc::new(ScalarUDF::from(UnixTime::new(Origins::of(origins))))),
        };
        function.ok_or_else(unknown)
    }
}

/// `None` if the function is not ours.
pub(super) fn decoded(name: &str, bytes: &[u8]) -> Result<Option<Arc<ScalarUDF>>> {
    unframed::<Scalar>(bytes)?.map(|function| function.function(name)).transpose()
}

/// The aggregate of this name, if it is ours.
pub(super) fn aggregate(name: &str) -> Option<Arc<AggregateUDF>> {
    let ours = functions::aggregate();
    (ours.name() == name).then(|| Arc::new(ours))
}

/// Functions that an engine must know by name, because it encodes the keys of its own operators without our codec.
pub fn traveling_functions() -> Vec<Arc<ScalarUDF>> {
    /// Limit per batch; the session that wrote the query has its own limit.
    const MAX_BYTES: usize = 256 << 20;
    let measured = ScalarUDF::from(Measured::new(MAX_BYTES));
    functions::plain().into_iter().chain([measured]).map(Arc::new).collect()
}
