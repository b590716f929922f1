//! The judge of the deployed services: starts their processes, lets clients ask, kills replicas, and says whether what clients saw can be.
//!
//! `judge rounds` is about correctness, `judge figures` about speed; `docs/services.md` has the commands and what came of them.

mod chart;
mod deployment;
mod figures;
mod history;
mod load;
mod process;
mod report;
mod rounds;
mod service;
#[cfg(test)]
mod stand_in;
mod subjects;
mod watch;

use clap::{Parser, Subcommand, builder::RangedU64ValueParser};
use delay_examples::services::deploy::{Replication, Service, stopped};
use deployment::{CLIENTS_MAX, Shape};
use history::Judged;
use rounds::Stores;
use std::{error::Error, path::PathBuf, process::ExitCode};
use subjects::{Bank, List, Slot};

/// Judges the deployed services.
#[derive(Parser, Debug)]
#[command(max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Kills a replica again and again under a load, and checks that nothing was lost and the history is linearizable.
    Rounds {
        #[arg(long, value_enum, default_value_t = Replication::Chain)]
        protocol: Replication,
        #[arg(long, value_enum, default_value_t = Service::Table)]
        service: Service,
        /// Of each group.
        #[arg(long, default_value_t = 3, value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
        replicas: usize,
        #[arg(long, default_value_t = 3, value_parser = RangedU64ValueParser::<usize>::new().range(1..=CLIENTS_MAX))]
        clients: usize,
        #[arg(long, default_value_t = 200)]
        rounds: u32,
        /// Of who is killed and when, and of what clients ask.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Loses the stores of all replicas of a group at once: to see that the judge notices.
        #[arg(long)]
        lose_stores: bool,
    },
    /// Measures throughput without failures and around one, and draws the figures.
    Figures {
        /// Where the figures and their numbers go.
        #[arg(long, default_value = "docs/figures")]
        dir: PathBuf,
        /// How long each deployment is measured.
        #[arg(long, default_value_t = 4.0)]
        seconds: f64,
        /// Numbers of clients to try: the best counts.
        #[arg(long, value_delimiter = ',', default_values_t = [3, 32, 128, 512])]
        #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=CLIENTS_MAX))]
        clients: Vec<usize>,
    },
    /// Judges a history that `rounds` has left.
    Check {
        #[arg(long, value_enum, default_value_t = Service::Table)]
        service: Service,
        file: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let command = Arguments::parse().command;
    // Whatever ends this drops the deployment, which ends its processes.
    let done = tokio::select! {
        done = carry_out(command) => done,
        stopped = stopped() => stopped.map_err(Into::into).and(Err("interrupted: all processes were stopped".into())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn carry_out(command: Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Rounds { protocol, service, replicas, clients, rounds, seed, lose_stores } => {
            let shape = Shape { service, protocol, replicas };
            let stores = if lose_stores { Stores::Lost } else { Stores::Kept };
            let plan = rounds::Plan { shape, clients, rounds, seed, stores };
            println!("{}: {rounds} rounds, {clients} clients, seed {seed}", plan.shape);
            let summary = match service {
                Service::Table => rounds::carry_out::<Slot>(&plan).await,
                Service::Lists => rounds::carry_out::<List>(&plan).await,
                Service::Commit => rounds::carry_out::<Bank>(&plan).await,
            };
            println!("{}", summary?);
            Ok(())
        }
        Command::Figures { dir, seconds, clients } => {
            figures::carry_out(&figures::Plan { dir, seconds, clients }).await
        }
        Command::Check { service, file } => {
            let judged = match service {
                Service::Table => history::judge_again::<Slot>(&file),
                Service::Lists => history::judge_again::<List>(&file),
                Service::Commit => history::judge_again::<Bank>(&file),
            };
            let Judged { answered, declined, unknown, refused } = judged?;
            println!("{answered} calls answered ({declined} declined), {unknown} unknown");
            refused.map_or(Ok(()), |why| Err(why.into()))
        }
    }
}
