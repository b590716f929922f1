//! Rounds of `kill -9` under a load, and what became of it.
//!
//! A round kills one replica; sometimes again as soon as it runs, before it can have caught up; sometimes all of a group at once. They start
//! again as they were, at once or when the others have gone on without. At the end each replica in turn is one of those that are left when
//! as many are down as may be, and everything is read: so every replica is back, with all it should have.

use crate::{
    deployment::{Deployment, Shape},
    history::{Judged, Log},
    load::{Client, Load, Witness},
    service::{self, Deployed},
    watch::Watch,
};
use std::{
    collections::BTreeMap,
    error::Error,
    fmt,
    io::{IsTerminal, stderr},
    sync::Arc,
    time::{Duration, Instant},
};

/// A service that answers nobody for so long is given up.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Answers between a kill and a restart, and between a restart and the next kill, are at most so many.
const ANSWERS: u64 = 200;

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) shape: Shape,
    pub(crate) clients: usize,
    pub(crate) rounds: u32,
    /// Of all that is drawn: who is killed and when, and what clients ask.
    pub(crate) seed: u64,
    pub(crate) stores: Stores,
}

/// What becomes of the stores of replicas that are killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stores {
    /// They start again with them.
    Kept,
    /// All replicas of a group lose them at once, in every round: no service can bear that, and the judge must see it.
    Lost,
}

/// What was seen.
#[derive(Debug)]
pub(crate) struct Summary {
    judged: Judged,
    seconds: f64,
    /// How often each replica was killed.
    kills: BTreeMap<String, u32>,
    /// Of each round the longest time without an answer, in order of length.
    stalls: Vec<Duration>,
    /// Longest time from a restart until all replicas were there.
    slowest_return: Duration,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { judged, seconds, kills, stalls, slowest_return } = self;
        let Judged { answered, declined, unknown, refused: _ } = judged;
        let times: u32 = kills.values().sum();
        let kills: Vec<String> = kills.iter().map(|(replica, times)| format!("{replica} {times}")).collect();
        let stall = |share: usize| stalls.get((stalls.len() * share / 100).min(stalls.len().saturating_sub(1)));
        let [median, longest] = [50, 100].map(|share| stall(share).copied().unwrap_or_default().as_secs_f64());
        writeln!(f, "  calls answered      {answered}, of which {declined} declined, in {seconds:.0} s")?;
        writeln!(f, "  calls unknown       {unknown}")?;
        writeln!(f, "  kill -9             {times}: {}", kills.join(", "))?;
        writeln!(f, "  without an answer   {median:.2} s in the median round, {longest:.2} s in the longest")?;
        writeln!(f, "  back after restart  {:.2} s at most", slowest_return.as_secs_f64())?;
        write!(f, "  no acknowledged write is lost, the history is linearizable, every replica is back")
    }
}

/// Carries a plan out.
///
/// # Errors
/// If the history is not linearizable, the service stays silent, a process ends by itself or does not come back; what was kept stays where
/// the message says.
pub(crate) async fn carry_out<S: Deployed>(plan: &Plan) -> Result<Summary, Box<dyn Error>> {
    let mut deployment = Deployment::start(&plan.shape)?;
    let done = match Log::<S>::begin(&deployment.path("history.jsonl")) {
        Ok(log) => under_load(plan, &mut deployment, log).await,
        Err(error) => Err(error),
    };
    done.map_err(|error| {
        let kept = deployment.keep();
        format!("{error}\nthe history, what processes said and their stores are in {}", kept.display()).into()
    })
}

async fn under_load<S: Deployed>(
    plan: &Plan,
    deployment: &mut Deployment,
    log: Log<S>,
) -> Result<Summary, Box<dyn Error>> {
    let start = Instant::now();
    let connection = service::connect::<S>(deployment).await?;
    let mut clients = S::clients(&connection, plan.clients + 1).await?;
    let watch = service::watch(&connection, deployment)?;
    let Some(reader) = clients.pop() else { return Err("there must be a client".into()) };
    let log = Arc::new(log);
    let load = Load::start(clients, S::draw, plan.seed, &log);
    let rng = fastrand::Rng::with_seed(plan.seed);
    let (kills, stalls) = (BTreeMap::new(), Vec::new());
    let stores = plan.stores;
    let mut rounds = Rounds { deployment, watch, log, stores, rng, kills, stalls, slowest_return: Duration::ZERO };
    for round in 1..=plan.rounds {
        rounds.round().await.map_err(|error| format!("round {round}: {error}"))?;
        if stderr().is_terminal() {
            eprint!("\r{round} of {} rounds", plan.rounds);
        }
    }
    load.stop().await?;
    rounds.each_is_back(reader).await?;
    let Rounds { log, kills, mut stalls, slowest_return, .. } = rounds;
    let Some(log) = Arc::into_inner(log) else { return Err("a client did not stop".into()) };
    let judged = log.end();
    if let Some(why) = judged.refused {
        return Err(why.into());
    }
    stalls.sort_unstable();
    Ok(Summary { judged, seconds: start.elapsed().as_secs_f64(), kills, stalls, slowest_return })
}

struct Rounds<'a, S: Deployed> {
    deployment: &'a mut Deployment,
    watch: Watch<S::Machine>,
    log: Arc<Log<S>>,
    stores: Stores,
    rng: fastrand::Rng,
    kills: BTreeMap<String, u32>,
    stalls: Vec<Duration>,
    slowest_return: Duration,
}

impl<S: Deployed> Rounds<'_, S> {
    async fn round(&mut self) -> Result<(), Box<dyn Error>> {
        let groups: Vec<&Vec<String>> = self.deployment.replicas().values().collect();
        let group = groups[self.rng.usize(..groups.len())].clone();
        let victim = group[self.rng.usize(..group.len())].clone();
        self.answers("before a kill").await?;
        self.log.forget_stall();
        match self.rng.u8(..10) {
            _ if self.stores == Stores::Lost => {
                self.kill(&group)?;
                group.iter().try_for_each(|replica| self.deployment.forget(replica))?;
                self.restart(&group).await?;
            }
            0 => {
                self.kill(&group)?;
                self.restart(&group).await?;
            }
            1..3 => {
                self.kill(std::slice::from_ref(&victim))?;
                self.deployment.restart(&victim)?;
                self.kill(std::slice::from_ref(&victim))?;
                self.restart(&[victim]).await?;
            }
            3..6 => {
                self.kill(std::slice::from_ref(&victim))?;
                self.restart(&[victim]).await?;
            }
            _ => {
                self.kill(std::slice::from_ref(&victim))?;
                self.answers(&format!("without {victim}")).await?;
                self.restart(&[victim]).await?;
            }
        }
        self.answers("after all were back").await?;
        self.stalls.push(self.log.progress().stall);
        Ok(self.deployment.are_alive()?)
    }

    fn kill(&mut self, victims: &[String]) -> Result<(), String> {
        for victim in victims {
            self.deployment.kill(victim)?;
            *self.kills.entry(victim.clone()).or_default() += 1;
        }
        Ok(())
    }

    /// Once all replicas take part again.
    async fn restart(&mut self, nodes: &[String]) -> Result<(), Box<dyn Error>> {
        let restart = Instant::now();
        for node in nodes {
            self.deployment.restart(node)?;
        }
        self.watch.all_take_part().await?;
        self.slowest_return = self.slowest_return.max(restart.elapsed());
        Ok(())
    }

    /// Waits for a few more.
    async fn answers(&mut self, when: &str) -> Result<(), Box<dyn Error>> {
        let more = self.rng.u64(1..=ANSWERS);
        tokio::select! {
            () = self.log.answers(more) => Ok(()),
            why = self.log.refused() => Err(why.into()),
            () = tokio::time::sleep(SILENCE_MAX) => {
                self.deployment.are_alive()?;
                Err(format!("{when}: {more} calls were not answered in {SILENCE_MAX:?}").into())
            }
        }
    }

    /// Takes as many replicas down as may be, so that each in turn is one of those that are left; they must have everything.
    async fn each_is_back(&mut self, mut reader: S::Client) -> Result<(), Box<dyn Error>> {
        let groups: Vec<Vec<String>> = self.deployment.replicas().values().cloned().collect();
        let failures = self.deployment.shape().failures();
        for place in 0..self.deployment.shape().replicas {
            let mut down = Vec::new();
            for step in 1..=failures {
                for group in &groups {
                    let victim = group[(place + step) % group.len()].clone();
                    self.kill(std::slice::from_ref(&victim))?;
                    // One after the other: a chain has to be repaired before it can bear the next.
                    self.read_all(&mut reader).await.map_err(|error| format!("without {victim}: {error}"))?;
                    down.push(victim);
                }
            }
            self.restart(&down).await?;
        }
        self.read_all(&mut reader).await?;
        Ok(self.watch.all_are_equal().await?)
    }

    async fn read_all(&self, reader: &mut S::Client) -> Result<(), Box<dyn Error>> {
        for op in S::reads() {
            self.log.calls("reader", &op);
            let read = reader.call(op.clone()).await;
            self.log.returned("reader", read.ok_or_else(|| format!("nobody answered {op:?}"))?);
        }
        Ok(())
    }
}
