//! Serializes plans: encodes our tables, scans, lookups and functions as bytes, and decodes them.
//!
//! The codecs do not depend on the engine that sends the bytes. Everything that is not ours goes to the inner codec.
//! `GroupByNumber` and `IndexedExec` number names within one process, so a session whose plans are sent to other
//! processes uses neither, and they have no encoding here.

mod functions;
mod prepared;
mod problems;
mod tasks;
mod wire;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::{
    catalog::TableProvider,
    common::{DataFusionError, Result, TableReference, internal_datafusion_err},
    datasource::file_format::FileFormatFactory,
    execution::TaskContext,
    logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF, WindowUDF},
    physical_plan::ExecutionPlan,
};
use datafusion_proto::{
    logical_plan::{DefaultLogicalExtensionCodec, LogicalExtensionCodec},
    physical_plan::{DefaultPhysicalExtensionCodec, PhysicalExtensionCodec, PhysicalProtoConverterExtension},
};
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use self::tasks::TasksExec;
pub use self::{
    functions::traveling_functions,
    problems::{TraceProblem, TraceProblems},
};

/// The methods for functions, which are the same for both kinds of plans.
macro_rules! functions_travel {
    () => {
        fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
            functions::decoded(name, bytes)?.map_or_else(|| self.inner.try_decode_udf(name, bytes), Ok)
        }

        fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
            match functions::Scalar::of(function) {
                Some(function) => frame(&function, bytes),
                None => self.inner.try_encode_udf(function, bytes),
            }
        }

        fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
            functions::aggregate(name).map_or_else(|| self.inner.try_decode_udaf(name, bytes), Ok)
        }

        fn try_encode_udaf(&self, function: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
            self.inner.try_encode_udaf(function, bytes)
        }

        fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> Result<Arc<WindowUDF>> {
            self.inner.try_decode_udwf(name, bytes)
        }

        fn try_encode_udwf(&self, function: &WindowUDF, bytes: &mut Vec<u8>) -> Result<()> {
            self.inner.try_encode_udwf(function, bytes)
        }
    };
}

/// Our tables and functions in logical plans.
#[derive(Debug)]
pub struct LogicalCodec {
    inner: Arc<dyn LogicalExtensionCodec>,
}

impl LogicalCodec {
    /// Creates a codec with an inner codec for everything else.
    pub fn new(inner: Arc<dyn LogicalExtensionCodec>) -> Self {
        Self { inner }
    }
}

impl Default for LogicalCodec {
    fn default() -> Self {
        Self::new(Arc::new(DefaultLogicalExtensionCodec {}))
    }
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.inner.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode(node, bytes)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match unframed::<wire::AnyTable>(bytes)? {
            Some(table) => table.provider(),
            None => self.inner.try_decode_table_provider(bytes, name, schema, context),
        }
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        match wire::AnyTable::of(table.as_ref())? {
            Some(table) => frame(&table, bytes),
            None => self.inner.try_encode_table_provider(name, table, bytes),
        }
    }

    fn try_decode_file_format(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.inner.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.inner.try_encode_file_format(bytes, format)
    }

    functions_travel!();
}

/// Our scans, lookups and functions in physical plans.
#[derive(Debug)]
pub struct PhysicalCodec {
    inner: Arc<dyn PhysicalExtensionCodec>,
}

impl PhysicalCodec {
    /// Creates a codec with an inner codec for everything else.
    pub fn new(inner: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self { inner }
    }
}

impl Default for PhysicalCodec {
    fn default() -> Self {
        Self::new(Arc::new(DefaultPhysicalExtensionCodec {}))
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match unframed::<wire::AnyExec>(bytes)? {
            Some(exec) => exec.plan(inputs),
            None => self.inner.try_decode(bytes, inputs, context, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        match wire::AnyExec::of(node.as_ref())? {
            Some(exec) => frame(&exec, bytes),
            None => self.inner.try_encode(node, bytes, converter),
        }
    }

    functions_travel!();
}

/// Prefix of our bytes, to distinguish them from those of the inner codec; the number is the version of the layout.
const FRAME: &[u8] = b"traceloom/1 ";

fn frame(value: &impl Serialize, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.extend_from_slice(FRAME);
    serde_json::to_writer(bytes, value).map_err(|error| DataFusionError::External(error.into()))
}

/// `None` if the bytes are not ours.
fn unframed<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>> {
    let Some(text) = bytes.strip_prefix(FRAME) else { return Ok(None) };
    let broken = |error| internal_datafusion_err!("received a plan from another version of this program: {error}");
    serde_json::from_slice(text).map(Some).map_err(broken)
}
