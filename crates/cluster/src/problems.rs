//! Problems of the traces that executors read.
//!
//! Executors count them in the metrics of their scans, which the scheduler keeps for each job. The client fetches them
//! after the query, so no trace is read twice.

use std::collections::BTreeSet;

use ballista_core::{
    JobId,
    serde::protobuf::{
        GetJobMetricsParams, GetJobMetricsResult, operator_metric::Metric, scheduler_grpc_client::SchedulerGrpcClient,
    },
    utils::{GrpcClientConfig, create_grpc_client_endpoint},
};
use traceloom_core::Result;
use traceloom_query::TraceProblems;

use crate::{
    Outcome,
    engine::{MAX_MESSAGE_BYTES, Sent},
};

/// Prints the problems of all traces that the queries read.
pub(crate) fn report(scheduler: &str, sent: &Sent) -> Result<Outcome> {
    let jobs = sent.jobs();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut told = BTreeSet::new();
    let mut outcome = Outcome::Fine;
    for (number, job) in jobs.iter().enumerate() {
        match runtime.block_on(metrics(scheduler, job)) {
            Ok(metrics) => of_metrics(&metrics).for_each(|trace| {
                if trace.is_data_missing {
                    outcome = Outcome::DataMissing;
                }
                print(&trace, &mut told);
            }),
            // A lost attempt has no metrics; the last one succeeded.
            Err(_) if number + 1 < jobs.len() => {}
            Err(reason) => eprintln!("warning: the scheduler does not list the problems of the traces: {reason}"),
        }
    }
    Ok(outcome)
}

/// Asks the scheduler about a job.
async fn metrics(scheduler: &str, job: &JobId) -> Result<GetJobMetricsResult, String> {
    let config = GrpcClientConfig::default();
    let endpoint =
        create_grpc_client_endpoint(scheduler.to_owned(), Some(&config)).map_err(|error| error.to_string())?;
    let connection = endpoint.connect().await.map_err(|error| error.to_string())?;
    let mut client = SchedulerGrpcClient::new(connection).max_decoding_message_size(MAX_MESSAGE_BYTES as usize);
    let answer = client.get_job_metrics(GetJobMetricsParams { job_id: job.to_string() }).await;
    answer.map(|answer| answer.into_inner()).map_err(|status| status.message().to_owned())
}

fn of_metrics(metrics: &GetJobMetricsResult) -> impl Iterator<Item = TraceProblems> {
    let operators = metrics.stages.iter().flat_map(|stage| &stage.operators);
    operators.flat_map(|operator| &operator.metrics).filter_map(|metric| match &metric.metric {
        Some(Metric::Count(count)) => TraceProblems::of_counter(&count.name),
        _ => None,
    })
}

/// The first problem of each kind, even if several tasks read the trace.
fn print(trace: &TraceProblems, told: &mut BTreeSet<String>) {
    let path = trace.path.display();
    for problem in &trace.problems {
        if !told.insert(format!("{path} {}", problem.code)) {
            continue;
        }
        eprintln!("{path}: {}", problem.text);
        if problem.count > 1 {
            eprintln!("{path}: {} more of [{}]; `traceloom check` lists them", problem.count - 1, problem.code);
        }
    }
}
