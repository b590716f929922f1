//! Histories as production records them: long, over many keys, with calls that never return.

use delay::{
    linearizability::{Event, KeyValue, KeyValueOp, Linearizable, Returned, Sequential},
    monitor::Monitor,
};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

type Map = KeyValue<u32, u64>;

/// What a client called, and its result once it took effect.
type Pending = (KeyValueOp<u32, u64>, Option<Returned<Option<u64>>>);

/// Calls of so many clients on so many keys, each with an effect at some moment between its invocation and its return. One of `lost_every` is
/// given up, before or after it took effect.
fn history(calls: usize, clients: usize, keys: u32, lost_every: u64) -> Vec<Event<Map>> {
    let mut rng = SmallRng::seed_from_u64(43);
    let mut map = Map::default();
    let mut history = Vec::new();
    let mut pending: Vec<Option<Pending>> = vec![None; clients];
    let mut called = 0;
    while called < calls || pending.iter().any(Option::is_some) {
        let client = rng.random_range(0..clients);
        let name = client.to_string();
        match pending[client].take() {
            None if called == calls => {}
            None => {
                called += 1;
                let key = rng.random_range(0..keys);
                let op = if rng.random_range(0..2) == 0 {
                    KeyValueOp::Get(key)
                } else {
                    KeyValueOp::Put(key, called as u64)
                };
                history.push(Event::Invoke { client: name, op });
                pending[client] = Some((op, None));
            }
            Some(_) if lost_every > 0 && rng.random_range(0..lost_every) == 0 => {
                history.push(Event::Abandon { client: name });
            }
            Some((op, None)) => pending[client] = Some((op, Some(map.apply(&op)))),
            Some((_, Some(ret))) => history.push(Event::Return { client: name, ret }),
        }
    }
    history
}

fn judge(history: &[Event<Map>]) -> Result<(), String> {
    let mut monitor = Linearizable::new(Map::default());
    history.iter().try_for_each(|event| monitor.on(event))
}

#[test]
fn a_long_history_over_many_keys_is_judged() {
    let mut history = history(50_000, 16, 1_000, 0);
    assert_eq!(judge(&history), Ok(()));
    let stale = history.iter_mut().rev().find_map(|event| match event {
        Event::Return { ret: Returned::Value(value @ Some(_)), .. } => Some(value),
        Event::Return { .. } | Event::Invoke { .. } | Event::Abandon { .. } => None,
    });
    *stale.expect("somebody reads") = Some(0);
    assert!(judge(&history).expect_err("nobody ever wrote that").contains("returned Value(Some(0)); allowed: "));
}

#[test]
fn a_history_with_many_calls_that_were_given_up_is_judged() {
    let history = history(5_000, 16, 50, 20);
    let given_up = history.iter().filter(|event| matches!(event, Event::Abandon { .. })).count();
    assert!(given_up > 250, "{given_up}");
    assert_eq!(judge(&history), Ok(()));
}
