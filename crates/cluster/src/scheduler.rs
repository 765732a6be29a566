//! The scheduler.

use std::{net::SocketAddr, sync::Arc};

use ballista_core::error::Result;
use ballista_scheduler::{cluster::BallistaCluster, config::SchedulerConfig, scheduler_process::start_server};
use datafusion::prelude::SessionConfig;

use crate::{args, engine};

/// An executor without a heartbeat for this long is lost; it sends one every [`crate::executor::HEARTBEAT_SECONDS`].
const EXECUTOR_TIMEOUT_SECONDS: u64 = 12;

/// How often the scheduler looks for lost executors.
const CHECK_SECONDS: u64 = 2;

/// How long queries wait for an executor if there is none.
const NO_EXECUTORS_SECONDS: u64 = 60;

pub(crate) async fn run(arguments: &args::Scheduler) -> Result<()> {
    let config = SchedulerConfig {
        bind_host: arguments.bind.to_string(),
        bind_port: arguments.port,
        external_host: arguments.external_host.clone().unwrap_or_else(|| arguments.bind.to_string()),
        executor_timeout_seconds: EXECUTOR_TIMEOUT_SECONDS,
        expire_dead_executor_interval_seconds: CHECK_SECONDS,
        no_executors_grace_period_seconds: NO_EXECUTORS_SECONDS,
        min_ready_executors: arguments.min_executors,
        grpc_server_max_decoding_message_size: engine::MAX_MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: engine::MAX_MESSAGE_BYTES,
        grpc_client_max_message_size: engine::MAX_MESSAGE_BYTES,
        override_config_producer: Some(Arc::new(|| engine::config(SessionConfig::new()))),
        override_session_builder: Some(Arc::new(engine::scheduler_state)),
        override_logical_codec: Some(engine::logical_codec()),
        override_physical_codec: Some(engine::physical_codec()),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, SocketAddr::new(arguments.bind, arguments.port), Arc::new(config)).await
}
