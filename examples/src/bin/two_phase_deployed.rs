//! Two-phase commit between processes: the same source file that the tests explore, a node of a cluster each time this is run.
//!
//! `two_phase_deployed CLUSTER_FILE NODE`. The file's nodes host `coordinator`, `from` and `to` in whatever way: an account serves until
//! it is stopped, the coordinator transfers 70 from an account that holds 100 and says what became of it.

use delay::{
    net::{Delivery, Network, cluster::Cluster},
    task,
};
use delay_examples::two_phase_commit::{Bug, Coordinator, Message, Participant, accounts::Account};
use std::{env, error::Error, future, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, node] = arguments.as_slice() else { return Err("usage: two_phase_deployed CLUSTER_FILE NODE".into()) };
    let host = Cluster::read(file)?.host(node)?;
    let names: Vec<String> = host.names().map(str::to_owned).collect();
    let net: Network<Message> = host.network(Delivery::PerSender).await?;
    println!("{node} is ready");

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
    if !coordinates {
        return future::pending().await;
    }
    let accounts = ["from", "to"].map(|name| net.address(name));
    let mut coordinator = Coordinator::new(net.endpoint("coordinator"), accounts.into(), Bug::None);
    println!("transfer 70 of 100: {:?}", coordinator.decide(1).await);
    net.shutdown(Duration::from_secs(5)).await?;
    Ok(())
}
