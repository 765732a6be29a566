//! An executor.

use std::sync::Arc;

use ballista_core::error::{BallistaError, Result};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::prelude::SessionConfig;

use crate::{args, engine};

/// Interval of heartbeats.
pub(crate) const HEARTBEAT_SECONDS: u64 = 3;

/// Data between stages is deleted after a day; nobody needs it after its query.
const DATA_SECONDS: u64 = 24 * 60 * 60;

/// How often an executor deletes old data.
const CLEAN_UP_SECONDS: u64 = 10 * 60;

pub(crate) async fn run(arguments: &args::Executor) -> Result<()> {
    let temporary = tempfile::Builder::new().prefix("traceloom-executor-").tempdir()?;
    let work_folder = arguments.work_folder.as_deref().unwrap_or(temporary.path());
    let work_folder = work_folder.to_str().ok_or_else(|| {
        BallistaError::Configuration(format!("invalid work folder {}: the path must be UTF-8", work_folder.display()))
    })?;
    let folder = work_folder.to_owned();
    let config = ExecutorProcessConfig {
        bind_host: arguments.bind.to_string(),
        external_host: Some(arguments.external_host.clone().unwrap_or_else(|| arguments.bind.to_string())),
        port: arguments.port,
        grpc_port: arguments.grpc_port,
        scheduler_host: arguments.scheduler_host.clone(),
        scheduler_port: arguments.scheduler_port,
        scheduler_connect_timeout_seconds: 60,
        vcores: arguments.slots,
        work_dir: Some(work_folder.to_owned()),
        job_data_ttl_seconds: DATA_SECONDS,
        job_data_clean_up_interval_seconds: CLEAN_UP_SECONDS,
        grpc_max_decoding_message_size: engine::MAX_MESSAGE_BYTES,
        grpc_max_encoding_message_size: engine::MAX_MESSAGE_BYTES,
        executor_heartbeat_interval_seconds: HEARTBEAT_SECONDS,
        memory_pool_size: arguments.memory,
        override_function_registry: Some(Arc::new(engine::registry())),
        override_runtime_producer: Some(Arc::new(move |_| engine::runtime(Some(&folder)))),
        override_config_producer: Some(Arc::new(|| engine::config(SessionConfig::new()))),
        override_logical_codec: Some(engine::logical_codec()),
        override_physical_codec: Some(engine::physical_codec()),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}
