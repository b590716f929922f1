//! A node of a cluster of replicated services: `services node --cluster FILE --services FILE --node NAME --data DIRECTORY`.
//!
//! It takes on the roles that the two files give to the names it hosts, says `NAME is ready` when it accepts connections, and runs until it
//! gets ctrl-c or SIGTERM. What must outlast that, or a `kill -9`, is in the directory: start it again in the same way, and it goes on.
//! The protocols are those that the tests explore: `delay_examples::services`.

use clap::{Parser, Subcommand};
use delay::{net::cluster::Cluster, storage};
use delay_examples::services::{
    deploy::{Served, Service, Services, serve, stopped},
    machine::{HashTable, Lists, Participant},
};
use std::{
    error::Error,
    panic,
    path::PathBuf,
    process::{self, ExitCode},
    time::Duration,
};

/// Replicated services over chain replication or Multi-Paxos.
#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Be a node of the cluster.
    Node(Options),
}

#[derive(clap::Args)]
struct Options {
    /// Which node hosts which names, and where it is reached.
    #[arg(long)]
    cluster: PathBuf,
    /// What those names are.
    #[arg(long)]
    services: PathBuf,
    /// Which node this is.
    #[arg(long)]
    node: String,
    /// Where it keeps what must outlast the process. No other process may use it at the same time.
    #[arg(long)]
    data: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    let What::Node(options) = Command::parse().what;
    match node(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn node(options: &Options) -> Result<(), Box<dyn Error>> {
    // A replica that cannot store what it must, or finds itself in a state that cannot be, is better gone.
    let told = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        told(info);
        process::exit(101);
    }));
    let services = Services::read(&options.services)?;
    match services.service {
        Service::Table => run::<HashTable>(options, &services).await,
        Service::Lists => run::<Lists>(options, &services).await,
        Service::Commit => run::<Participant>(options, &services).await,
    }
}

async fn run<M: Served>(options: &Options, services: &Services) -> Result<(), Box<dyn Error>> {
    let cluster = Cluster::read(&options.cluster)?;
    storage::keep_in(&options.data)?;
    let net = serve::<M>(&cluster, services, &options.node).await?;
    println!("{} is ready", options.node);
    stopped().await?;
    net.shutdown(Duration::from_secs(2)).await?;
    Ok(())
}
