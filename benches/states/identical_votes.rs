//! Two-phase commit among participants that are identical tasks, or tasks of their own: each tells the coordinator where to reach it.

use delay::{
    Payload, flip,
    sync::{mpsc, oneshot},
    task,
};

struct Joins {
    decision: oneshot::Sender<bool>,
    vote: bool,
}

pub(crate) async fn identical_votes(participants: usize, are_identical: bool) {
    let (vote, mut votes) = mpsc::unbounded_channel();
    let participant = move || async move {
        task::yield_now().await;
        let (decision, decided) = oneshot::channel_with(Payload::visible());
        let yes = flip().await;
        let _ = vote.send(Joins { decision, vote: yes });
        let commits = decided.await.expect("the coordinator decides");
        assert!(yes || !commits);
    };
    let _participants = if are_identical {
        task::spawn_identical(participants, participant)
    } else {
        let mut each = task::JoinSet::new();
        for participant in vec![participant; participants] {
            each.spawn(async move { participant().await });
        }
        each
    };
    let (mut all, mut waiting) = (true, Vec::new());
    for _ in 0..participants {
        let Some(Joins { decision, vote }) = votes.recv().await else { return };
        all &= vote;
        waiting.push(decision);
    }
    for decision in waiting {
        task::yield_now().await;
        let _ = decision.send(all);
    }
}
