//! The judge is judged: objects in memory that are wrong on purpose, under the load that the services get.

use crate::{
    history::{Judged, Log, judge_again},
    load::{Client, Load, Witness},
    subjects::{Bank, BankOp, BankRet, List, Slot, Subject},
};
use delay::linearizability::Sequential;
use delay_examples::services::machine::{lists, table};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};
use tokio::task;

/// Of so many calls that fall under it, a mistake is made in one.
const EVERY: u64 = 100;
const CALLS: u64 = 5_000;

/// What it does wrong, now and then, with a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    Nothing,
    /// A write is answered and not done.
    Lost,
    /// A write is done twice.
    Doubled,
    /// A read is answered from before the last write.
    Stale,
    /// Nobody says whether the call was carried out.
    Unknown,
    /// Nor was it, and it is when the next call comes, whose ever that is.
    Late,
}

/// All parts of an object, and what each was before its last write.
struct Object<S: Sequential> {
    parts: BTreeMap<u64, (S, S)>,
    late: Vec<S::Op>,
    calls: u64,
}

#[derive(Clone)]
struct StandIn<S: Sequential> {
    object: Arc<Mutex<Object<S>>>,
    wrong: Wrong,
    reads: fn(&S::Op) -> bool,
}

impl<S: Subject> Client<S> for StandIn<S> {
    async fn call(&mut self, op: S::Op) -> Option<S::Ret> {
        task::yield_now().await;
        let answer = self.object.lock().expect("no call panics").call(&op, self.wrong, (self.reads)(&op));
        task::yield_now().await;
        answer
    }
}

impl<S: Sequential + Default> Object<S> {
    fn call(&mut self, op: &S::Op, wrong: Wrong, reads: bool) -> Option<S::Ret> {
        for late in std::mem::take(&mut self.late) {
            self.write(&late);
        }
        self.calls += u64::from((wrong == Wrong::Stale) == reads);
        if wrong == Wrong::Nothing || (wrong == Wrong::Stale) != reads || !self.calls.is_multiple_of(EVERY) {
            return Some(if reads { self.part(op).0.apply(op) } else { self.write(op) });
        }
        match wrong {
            Wrong::Nothing | Wrong::Lost => Some(self.part(op).0.clone().apply(op)),
            Wrong::Doubled => {
                let first = self.write(op);
                self.write(op);
                Some(first)
            }
            Wrong::Stale => Some(self.part(op).1.apply(op)),
            Wrong::Unknown => {
                self.write(op);
                None
            }
            Wrong::Late => {
                self.late.push(op.clone());
                None
            }
        }
    }

    fn part(&mut self, op: &S::Op) -> &mut (S, S) {
        self.parts.entry(S::part(op)).or_default()
    }

    fn write(&mut self, op: &S::Op) -> S::Ret {
        let (now, before) = self.part(op);
        before.clone_from(now);
        now.apply(op)
    }
}

/// What the judge says of it, twice: as it goes along, and of the file.
async fn judged<S: Subject>(wrong: Wrong, reads: fn(&S::Op) -> bool) -> Judged {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let file = dir.path().join("history");
    let log = Arc::new(Log::<S>::begin(&file).expect("the file can be written"));
    let object = Object { parts: BTreeMap::new(), late: Vec::new(), calls: 0 };
    let client = StandIn { object: Arc::new(Mutex::new(object)), wrong, reads };
    let load = Load::start(vec![client; 3], S::draw, 7, &log);
    enough(&log).await;
    load.stop().await.expect("no client panics");
    let judged = Arc::into_inner(log).expect("the load has ended").end();
    let again = judge_again::<S>(&file).expect("what was written can be read");
    assert_eq!(again.refused, judged.refused);
    judged
}

async fn enough<S: Subject>(log: &Log<S>) {
    tokio::select! {
        () = log.answers(CALLS) => {}
        _ = log.refused() => {}
    }
}

async fn table(wrong: Wrong) -> Judged {
    judged::<Slot>(wrong, |op| matches!(op, table::Op::Get(_))).await
}

async fn lists(wrong: Wrong) -> Judged {
    judged::<List>(wrong, |op| matches!(op, lists::Op::Read(..))).await
}

#[tokio::test]
async fn what_is_right_is_accepted() {
    for judged in [table(Wrong::Nothing).await, lists(Wrong::Nothing).await] {
        assert_eq!(judged.refused, None);
        assert!(judged.answered >= CALLS && judged.unknown == 0, "{judged:?}");
    }
}

#[tokio::test]
async fn a_call_of_unknown_outcome_may_take_effect_at_once_or_later() {
    for wrong in [Wrong::Unknown, Wrong::Late] {
        for judged in [table(wrong).await, lists(wrong).await] {
            assert_eq!(judged.refused, None);
            assert!(judged.unknown >= 10, "{judged:?}");
        }
    }
}

#[tokio::test]
async fn a_lost_write_a_stale_read_and_a_doubled_write_are_refused() {
    let mut said = BTreeSet::new();
    for wrong in [Wrong::Lost, Wrong::Stale] {
        said.insert(table(wrong).await.refused.expect("it is wrong"));
    }
    for wrong in [Wrong::Lost, Wrong::Stale, Wrong::Doubled] {
        said.insert(lists(wrong).await.refused.expect("it is wrong"));
    }
    for why in said {
        assert!(why.starts_with("not linearizable: ") && why.contains("what was last said about it"), "{why}");
    }
}

/// Accounts behind a coordinator that declines now and then, for no reason.
#[derive(Clone)]
struct Accounts {
    bank: Arc<Mutex<(Bank, u64)>>,
    /// Whether a transfer that is declined has taken the money all the same, one time in fifty.
    takes: bool,
}

impl Client<Bank> for Accounts {
    async fn call(&mut self, op: BankOp) -> Option<BankRet> {
        task::yield_now().await;
        let mut bank = self.bank.lock().expect("no call panics");
        bank.1 += 1;
        if matches!(op, BankOp::Transfer { .. }) && bank.1.is_multiple_of(10) {
            if self.takes && bank.1.is_multiple_of(500) {
                bank.0.apply(&op);
            }
            return Some(BankRet::Transferred(false));
        }
        Some(bank.0.apply(&op))
    }
}

async fn accounts(takes: bool) -> Judged {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let file = dir.path().join("history");
    let log = Arc::new(Log::begin(&file).expect("the file can be written"));
    let mut client = Accounts { bank: Arc::default(), takes };
    let load = Load::start(vec![client.clone(); 3], Bank::draw, 7, &log);
    enough(&log).await;
    load.stop().await.expect("no client panics");
    for op in Bank::reads() {
        log.calls("reader", &op);
        let read = client.call(op).await.expect("it answers");
        log.returned("reader", read);
    }
    Arc::into_inner(log).expect("the load has ended").end()
}

#[tokio::test]
async fn a_transfer_may_be_declined_but_not_half_done() {
    let judged = accounts(false).await;
    assert_eq!(judged.refused, None);
    assert!(judged.declined >= CALLS / 10 && judged.unknown == 0, "{judged:?}");
    assert!(accounts(true).await.refused.is_some());
}
