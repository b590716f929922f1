//! How far the replicas are, as they say themselves: whether all take part again, and whether all have the same.

use delay_examples::services::{
    deploy::{Observer, Served},
    replica::Status,
};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, timeout_at};

/// For so long the answers to one look are waited for.
const LOOK: Duration = Duration::from_millis(100);
/// And in so long all must have become as they should.
const RETURN_MAX: Duration = Duration::from_secs(30);

/// Looks at the replicas of all groups.
#[derive(Debug)]
pub(crate) struct Watch<M: Served> {
    /// One for each group.
    pub(crate) observers: Vec<Observer<M>>,
}

/// What each of a group's replicas said last.
type Seen = BTreeMap<&'static str, Option<Status>>;

impl<M: Served> Watch<M> {
    /// Once all replicas of each group have taken part in the same view, or under the same leader.
    ///
    /// # Errors
    /// If they do not, in time, with what they said last.
    pub(crate) async fn all_take_part(&mut self) -> Result<(), String> {
        // Under a load a replica is now ahead of what it knows to be done, now it is not: what it was once in a view is enough.
        let mut epochs = BTreeMap::new();
        self.until(|seen| {
            epochs.extend(
                seen.iter().filter_map(|(name, status)| Some((*name, status.filter(|status| status.is_in)?.epoch))),
            );
            seen.keys().all(|name| epochs.get(name).is_some_and(|epoch| Some(epoch) == epochs.get(first(seen))))
        })
        .await
    }

    /// Once all replicas of each group have carried out the same, which came to the same.
    ///
    /// # Errors
    /// As [`all_take_part`](Self::all_take_part).
    pub(crate) async fn all_are_equal(&mut self) -> Result<(), String> {
        let far = |status: Option<Status>| status.filter(|status| status.is_in).map(|it| (it.applied, it.digest));
        self.until(|seen| seen.values().all(|status| far(*status).is_some() && far(*status) == far(seen[first(seen)])))
            .await
    }

    async fn until(&mut self, mut is_so: impl FnMut(&Seen) -> bool) -> Result<(), String> {
        let end = Instant::now() + RETURN_MAX;
        for observer in &mut self.observers {
            let mut last = Seen::new();
            let looked = timeout_at(end, async {
                loop {
                    last = observer.look(LOOK).await.into_iter().collect();
                    if is_so(&last) {
                        return;
                    }
                    // Looks that are answered at once would be a load of their own.
                    tokio::time::sleep(LOOK / 10).await;
                }
            });
            if looked.await.is_err() {
                return Err(format!("after {RETURN_MAX:?} the replicas are not all back: {last:?}"));
            }
        }
        Ok(())
    }
}

fn first(seen: &Seen) -> &'static str {
    seen.keys().next().copied().unwrap_or_default()
}
