//! The command line.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use traceloom_query::Offset;

/// Traceloom's SQL on many machines.
#[derive(Debug, Parser)]
#[command(name = "traceloom-cluster", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print the engine's log messages; repeat for more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an executor, which reads traces and runs tasks.
    Executor(Executor),
    /// Run a scheduler and executors on this machine until interrupted.
    Local(Local),
    /// Run one query on a cluster.
    Query(Query),
    /// Run the scheduler, which plans queries and assigns tasks.
    Scheduler(Scheduler),
}

#[derive(Args, Debug)]
pub(crate) struct Scheduler {
    /// Address to listen on. There is no authentication: listen on a trusted network only.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    #[arg(long, default_value_t = 50050)]
    pub(crate) port: u16,
    /// Host name that executors and clients use to reach the scheduler.
    #[arg(long, value_name = "HOST")]
    pub(crate) external_host: Option<String>,
    /// Executors that must be registered before `/readyz` answers 200.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) min_executors: usize,
    /// Exit when standard input closes.
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Executor {
    /// Host of the scheduler.
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    pub(crate) scheduler_host: String,
    #[arg(long, default_value_t = 50050, value_name = "PORT")]
    pub(crate) scheduler_port: u16,
    /// Address to listen on. There is no authentication: listen on a trusted network only.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Host name that other executors and clients use to reach this one.
    #[arg(long, value_name = "HOST")]
    pub(crate) external_host: Option<String>,
    /// Port for data.
    #[arg(long, default_value_t = 50051)]
    pub(crate) port: u16,
    /// Port for tasks.
    #[arg(long, default_value_t = 50052)]
    pub(crate) grpc_port: u16,
    /// Concurrent tasks; 0 means one per processor.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) slots: usize,
    /// Memory limit for sorting, grouping and joining in bytes, divided among the tasks; beyond it, tasks use temporary
    /// files (default: 70 % of the machine's memory).
    #[arg(long, value_name = "BYTES")]
    pub(crate) memory: Option<u64>,
    /// Folder for data between stages.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work_folder: Option<PathBuf>,
    /// Exit when standard input closes.
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Local {
    /// Number of executors.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) executors: u16,
    /// Port of the scheduler; 0 means any free port.
    #[arg(long, default_value_t = 50050)]
    pub(crate) port: u16,
    /// Concurrent tasks per executor.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) slots: usize,
    /// Exit when standard input closes.
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Query {
    /// Traces, folders, patterns and stores, as paths or URLs; then the query.
    #[arg(required = true, num_args = 2.., value_name = "INPUT")]
    pub(crate) words: Vec<String>,
    /// URL of the scheduler.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:50050")]
    pub(crate) cluster: String,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Input format (default: detect).
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Shift the times of a trace, as in `game.prof=+1.5s`; may be repeated.
    #[arg(long = "offset", value_name = "FILE=±TIME", allow_hyphen_values = true)]
    pub(crate) offsets: Vec<Offset>,
    /// Keep the times of each file, even if traces share a clock.
    #[arg(long)]
    pub(crate) no_align: bool,
    /// Exit with 0 even if data is missing because a trace is damaged.
    #[arg(long)]
    pub(crate) allow_damaged: bool,
    /// Partitions of a grouping or a join; use a few per concurrent task of the cluster.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) partitions: usize,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Format {
    Arrow,
    #[default]
    Csv,
    Json,
    Parquet,
    /// An Arrow IPC stream.
    Stream,
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use clap::{CommandFactory, Parser};

    use super::Arguments;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// The arguments in a systemd unit or a Kubernetes manifest.
    fn words(text: &str) -> Vec<String> {
        let unit = text.lines().find_map(|line| line.strip_prefix("ExecStart="));
        if let Some(command) = unit {
            return command.split_whitespace().skip(1).map(str::to_owned).collect();
        }
        let lines = text.lines().skip_while(|line| line.trim() != "args:").skip(1);
        let words = lines.map_while(|line| line.trim().strip_prefix("- "));
        words.map(str::to_owned).collect()
    }

    #[test]
    fn the_program_takes_the_arguments_of_every_manifest() {
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
        for file in [
            "kubernetes/executors.yaml",
            "kubernetes/scheduler.yaml",
            "systemd/traceloom-executor.service",
            "systemd/traceloom-scheduler.service",
        ] {
            let words = words(&fs::read_to_string(deploy.join(file)).expect("a file of the repository"));
            assert!(words.len() > 3, "{file}: {words:?}");
            let program = ["traceloom-cluster".to_owned()];
            let parsed = Arguments::try_parse_from(program.into_iter().chain(words));
            assert!(parsed.is_ok(), "{file}: {}", parsed.expect_err("an error"));
        }
    }
}
