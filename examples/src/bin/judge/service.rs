//! The services as the judge's clients see them: through what a user of them would call.

use crate::{
    deployment::{CLIENTS, Deployment, client_name, watch_name},
    load::Client,
    subjects::{ACCOUNTS, Bank, BankOp, BankRet, List, OPENED_WITH, Slot, Subject},
    watch::Watch,
};
use delay_examples::services::{
    client::{self, CallError, Patience},
    commit::{Account, Bug, finish, transfer},
    deploy::{Connection, DeployError, Served},
    machine::{HashTable, Lists, Machine, Participant, participant},
};
use std::{error::Error, time::Duration};

/// A client asks again soon, and gives up late: what it gives up the judge has to think of for ever.
const PATIENCE: Patience = Patience { pause: Duration::from_millis(500), attempts: 60 };

/// How often a client tries to end a transaction that nobody has answered to.
const FINISHES_MAX: usize = 3;

/// Becomes the node of the judge's clients. Once for a deployment.
pub(crate) async fn connect<S: Deployed>(deployment: &Deployment) -> Result<Connection<S::Machine>, DeployError> {
    Connection::open(deployment.cluster(), deployment.services(), CLIENTS).await
}

/// Looks at all groups of a deployment. Once for a connection.
pub(crate) fn watch<M: Served>(connection: &Connection<M>, deployment: &Deployment) -> Result<Watch<M>, DeployError> {
    let observer = |group: &&'static str| connection.observer(&watch_name(group), group);
    Ok(Watch { observers: deployment.replicas().keys().map(observer).collect::<Result<_, _>>()? })
}

/// A subject, as it is deployed.
pub(crate) trait Deployed: Subject {
    /// What clients call.
    type Client: Client<Self>;
    /// What is replicated.
    type Machine: Served;

    /// So many clients.
    fn clients(
        connection: &Connection<Self::Machine>,
        count: usize,
    ) -> impl Future<Output = Result<Vec<Self::Client>, Box<dyn Error>>>;
}

impl Deployed for Slot {
    type Client = client::Client<HashTable>;
    type Machine = HashTable;

    async fn clients(connection: &Connection<HashTable>, count: usize) -> Result<Vec<Self::Client>, Box<dyn Error>> {
        one_group(connection, count)
    }
}

impl Deployed for List {
    type Client = client::Client<Lists>;
    type Machine = Lists;

    async fn clients(connection: &Connection<Lists>, count: usize) -> Result<Vec<Self::Client>, Box<dyn Error>> {
        one_group(connection, count)
    }
}

impl<S, M> Client<S> for client::Client<M>
where
    S: Subject<Op = M::Op, Ret = M::Ret>,
    M: Machine,
{
    async fn call(&mut self, op: S::Op) -> Option<S::Ret> {
        match client::Client::call(self, op).await {
            Ok(ret) => Some(ret),
            Err(CallError::Unknown { .. }) => None,
            Err(error) => panic!("the load asks for what cannot be: {error}"),
        }
    }
}

fn one_group<M: Served>(connection: &Connection<M>, count: usize) -> Result<Vec<client::Client<M>>, Box<dyn Error>> {
    (0..count).map(|number| Ok(connection.client(&client_name(number, "g"), "g", PATIENCE)?)).collect()
}

/// Transfers between accounts of two groups; even ones are at the first.
#[derive(Debug)]
pub(crate) struct Teller {
    groups: [client::Client<Participant>; 2],
}

impl Deployed for Bank {
    type Client = Teller;
    type Machine = Participant;

    async fn clients(connection: &Connection<Participant>, count: usize) -> Result<Vec<Teller>, Box<dyn Error>> {
        let mut tellers = Vec::new();
        for number in 0..count {
            let client = |group: &str| connection.client(&client_name(number, group), group, PATIENCE);
            tellers.push(Teller { groups: [client("a")?, client("b")?] });
        }
        if let Some(teller) = tellers.first_mut() {
            teller.open_all().await?;
        }
        Ok(tellers)
    }
}

impl Teller {
    async fn open_all(&mut self) -> Result<(), CallError> {
        for account in 0..ACCOUNTS {
            let open = participant::Op::Open(account.to_string(), OPENED_WITH);
            self.groups[group_of(account)].call(open).await?;
        }
        Ok(())
    }

    /// Until it is known what became of it, if anybody answers at all.
    async fn transfer(&mut self, from: u64, to: u64, amount: u32) -> Option<bool> {
        let [a, b] = &mut self.groups;
        let (first, other) = if group_of(from) == 0 { (a, b) } else { (b, a) };
        let (from, to) = (from.to_string(), to.to_string());
        let accounts = (Account { at: first, name: &from }, Account { at: other, name: &to });
        let mut ended = transfer(accounts.0, accounts.1, amount, Bug::None).await;
        for _ in 0..FINISHES_MAX {
            match ended {
                Ok(is_committed) => return Some(is_committed),
                Err(unfinished) => ended = finish(first, other, unfinished.transaction).await,
            }
        }
        ended.ok()
    }
}

impl Client<Bank> for Teller {
    async fn call(&mut self, op: BankOp) -> Option<BankRet> {
        match op {
            BankOp::Transfer { from, to, amount } => {
                let amount = u32::try_from(amount).unwrap_or(u32::MAX);
                self.transfer(from, to, amount).await.map(BankRet::Transferred)
            }
            BankOp::Balance { account } => {
                let balance = participant::Op::Balance(account.to_string());
                match self.groups[group_of(account)].call(balance).await {
                    Ok(participant::Ret::Balance(balance)) => Some(BankRet::Balance(balance)),
                    Ok(other) => panic!("asked for a balance, a participant said {other:?}"),
                    Err(_) => None,
                }
            }
        }
    }
}

fn group_of(account: u64) -> usize {
    usize::from(!account.is_multiple_of(2))
}
