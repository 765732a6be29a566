//! Memlyze records to tables.

use traceloom_bytes::Findings;
use traceloom_model::{Halt, Tables};

use crate::trace::Input;

pub(crate) fn to_tables(_input: &Input<'_>, _tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    todo!()
}
