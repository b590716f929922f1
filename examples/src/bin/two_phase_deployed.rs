//! Two-phase commit between processes: the same source file that the tests explore, a node of a cluster each time this is run.
//!
//! `two_phase_deployed CLUSTER_FILE NODE [--record FILE]`. The file's nodes host `coordinator`, `from` and `to` in whatever way: an account
//! serves until it is stopped, the coordinator transfers 70 from an account that holds 100 and says what became of it. With `--record` what
//! the node announces, sends and receives is recorded; an account then serves until its standard input ends, so that its recording has an end.
//! `cargo delay check FILE..` checks the recordings of all nodes.

use delay::{
    net::{Delivery, Network, cluster::Cluster},
    record::{self, Recording},
    task,
};
use delay_examples::two_phase_commit::{Bug, Coordinator, Message, Participant, accounts::Account, vocabulary};
use std::{env, error::Error, future, io, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (file, node, record) = match words.as_slice() {
        [file, node] => (file, node, None),
        [file, node, "--record", path] => (file, node, Some(path)),
        _ => return Err("usage: two_phase_deployed CLUSTER_FILE NODE [--record FILE]".into()),
    };
    let recording = record.map(|path| record::start(path, node, vocabulary())).transpose()?;
    let host = Cluster::read(file)?.host(node)?;
    let names: Vec<String> = host.names().map(str::to_owned).collect();
    let net: Network<Message> = host.network(Delivery::PerSender).await?;
    if let Some(recording) = &recording {
        recording.network(&net);
    }
    println!("{node} is ready");
    run(&net, names, recording.is_some()).await?;
    net.shutdown(Duration::from_secs(5)).await?;
    if let Some(written) = recording.map(Recording::finish).transpose()? {
        eprintln!("{node} has recorded {} lines, and lost {}", written.lines, written.lost);
    }
    Ok(())
}

/// Until the transfer is over, or whoever started this has enough.
async fn run(net: &Network<Message>, names: Vec<String>, is_recorded: bool) -> Result<(), Box<dyn Error>> {
    let mut coordinates = false;
    for name in names {
        let account = match name.as_str() {
            "from" => Account::new(100, -70),
            "to" => Account::new(0, 70),
            "coordinator" => {
                coordinates = true;
                continue;
            }
            other => return Err(format!("nobody here is called {other}: the names are coordinator, from, to").into()),
        };
        task::spawn_named(name.clone(), Participant::new(net.endpoint(&name), account, Bug::None).serve());
    }
    if coordinates {
        let accounts = ["from", "to"].map(|name| net.address(name));
        let mut coordinator = Coordinator::new(net.endpoint("coordinator"), accounts.into(), Bug::None);
        println!("transfer 70 of 100: {:?}", coordinator.decide(1).await);
    } else if is_recorded {
        tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await??;
    } else {
        future::pending::<()>().await;
    }
    Ok(())
}
