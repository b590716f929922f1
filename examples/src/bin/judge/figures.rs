//! The figures of the P report's section 7.3: throughput without failures, and over time around the failure of a replica.
//!
//! Updates only, as there. Differs from it: all processes share one machine with the clients, answers are counted where clients get them, and
//! what is acknowledged is on disk.

use crate::{
    deployment::{Deployment, Shape},
    load::{Load, Meter, Mix},
    report::{self, Throughput},
    service::{self, Deployed},
    subjects::{Bank, Slot},
};
use delay_examples::services::deploy::{Replication, Service};
use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::time::sleep;

/// With how many failures which protocol goes on, and with how many replicas.
const CONFIGURATIONS: [(&str, Replication, usize); 4] = [
    ("CR-1FT", Replication::Chain, 2),
    ("CR-2FT", Replication::Chain, 3),
    ("MP-1FT", Replication::Paxos, 3),
    ("MP-2FT", Replication::Paxos, 5),
];
/// What is answered before that is not counted.
const WARM_UP: Duration = Duration::from_secs(1);
/// The second figure: its length, when a replica is killed, and how many clients there are.
const LENGTH: Duration = Duration::from_secs(10);
const KILL_AT: Duration = Duration::from_secs(5);
const CLIENTS: usize = 16;
/// Of all that clients ask.
const SEED: u64 = 1;

/// What is to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Where the files go.
    pub(crate) dir: PathBuf,
    /// How long each deployment is measured.
    pub(crate) seconds: f64,
    /// Numbers of clients that are tried: the best counts.
    pub(crate) clients: Vec<usize>,
}

/// Measures and draws.
///
/// # Errors
/// If a process cannot be started, ends by itself, or files cannot be written.
pub(crate) async fn carry_out(plan: &Plan) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(&plan.dir).map_err(|error| format!("{}: {error}", plan.dir.display()))?;
    let note = report::note();
    let mut measured = Vec::new();
    for (configuration, protocol, replicas) in CONFIGURATIONS {
        for clients in &plan.clients {
            let shape = |service| Shape { service, protocol, replicas };
            let run = Run { configuration, clients: *clients, seconds: plan.seconds };
            measured.push(run.measure::<Slot>(&shape(Service::Table), Slot::update).await?);
            measured.push(run.measure::<Bank>(&shape(Service::Commit), Bank::update).await?);
        }
    }
    report::throughput(&plan.dir, &measured, &note)?;
    reconfiguration(&plan.dir, &note).await
}

struct Run {
    configuration: &'static str,
    clients: usize,
    seconds: f64,
}

impl Run {
    async fn measure<S: Deployed>(&self, shape: &Shape, mix: Mix<S>) -> Result<Throughput, Box<dyn Error>> {
        let mut deployment = Deployment::start(shape)?;
        let meter = Arc::new(Meter::start());
        let clients = S::clients(&service::connect::<S>(&deployment).await?, self.clients).await?;
        let load = Load::<S, _>::start(clients, mix, SEED, &meter);
        sleep(WARM_UP).await;
        let (from, before) = meter.now();
        sleep(Duration::from_secs_f64(self.seconds)).await;
        let (to, after) = meter.now();
        deployment.are_alive()?;
        load.stop().await?;
        let row = Throughput {
            service: shape.service_name(),
            configuration: self.configuration,
            replicas: shape.replicas,
            clients: self.clients,
            seconds: to.saturating_sub(from).as_secs_f64(),
            answers: after - before,
        };
        println!("{row}");
        Ok(row)
    }
}

/// The second figure: a replica of a chain of three is killed and does not come back.
async fn reconfiguration(dir: &Path, note: &str) -> Result<(), Box<dyn Error>> {
    let mut deployment =
        Deployment::start(&Shape { service: Service::Table, protocol: Replication::Chain, replicas: 3 })?;
    let connection = service::connect::<Slot>(&deployment).await?;
    let clients = Slot::clients(&connection, CLIENTS).await?;
    let meter = Arc::new(Meter::start());
    let load = Load::<Slot, _>::start(clients, Slot::update, SEED, &meter);
    sleep(WARM_UP).await;
    let (from, _) = meter.now();
    sleep(KILL_AT).await;
    let victim = deployment.replicas()["g"][1].clone();
    let (killed, _) = meter.now();
    deployment.kill(&victim)?;
    let killed = killed.saturating_sub(from);
    sleep(LENGTH.saturating_sub(killed)).await;
    load.stop().await?;
    let answers = meter.answers_since(from);
    let (stall, _) = report::longest_stall(&answers);
    println!("{victim} of a chain of three killed: no answer for {:.0} ms", stall.as_secs_f64() * 1e3);
    let events = [(killed, "the replica in the middle is killed")];
    report::reconfiguration(dir, &answers, LENGTH, &events, note)
}
