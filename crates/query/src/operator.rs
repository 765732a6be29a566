//! Code shared by the operators that are added to query plans.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::{
    physical_expr::EquivalenceProperties,
    physical_plan::{
        Partitioning, PlanProperties,
        execution_plan::{Boundedness, EmissionType},
    },
};

/// The properties of an operator that passes on its rows as they are read, in no known order.
pub(crate) fn streaming(schema: SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

/// The methods of an operator that holds its properties and has no expressions.
macro_rules! without_expressions {
    ($name:literal) => {
        fn name(&self) -> &str {
            $name
        }

        fn properties(&self) -> &std::sync::Arc<datafusion::physical_plan::PlanProperties> {
            &self.properties
        }

        fn apply_expressions(
            &self,
            _: &mut dyn FnMut(
                &std::sync::Arc<dyn datafusion::physical_expr::PhysicalExpr>,
            ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion>,
        ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion> {
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        }
    };
}

pub(crate) use without_expressions;
