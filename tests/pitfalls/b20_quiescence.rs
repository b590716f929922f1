//! A server that waits at the end is no deadlock; a body that waits is.

use crate::{exhaustive, finds, passes};
use delay::{Payload, Waiting, sync::mpsc, task};

/// A server that answers until nobody asks any more.
async fn server() {
    let (ask, mut asked) = mpsc::unbounded_channel_with(Payload::visible());
    task::spawn_named("server", async move {
        while let Some(question) = asked.recv().await {
            assert_eq!(question, 1);
        }
    });
    ask.send(1).expect("the server is there");
    std::mem::forget(ask);
}

#[test]
fn a_server_may_wait_at_the_end() {
    passes(&exhaustive().check(server));
}

#[test]
fn unless_the_test_forbids_it() {
    let report = exhaustive().waiting(Waiting::Deny).check(server);
    finds(&report, "left waiting at the end");
    finds(&report, "server waits for a message");
}

/// Each waits for the other's word before it gives its own, unless it is told to begin.
async fn polite() {
    let (left, mut from_left) = mpsc::unbounded_channel_with(Payload::visible());
    let (right, mut from_right) = mpsc::unbounded_channel_with(Payload::visible());
    let begins = delay::flip().await;
    let other = task::spawn_named("other", async move {
        let heard = from_left.recv().await;
        right.send(()).expect("the body listens");
        heard
    });
    if !begins {
        left.send(()).expect("the other listens");
    }
    from_right.recv().await;
    drop(left);
    other.await.expect("it ends");
}

#[test]
fn a_body_that_waits_for_ever_is_a_deadlock_that_says_who_waits_for_what() {
    let report = exhaustive().check(polite);
    finds(&report, "deadlock");
    finds(&report, "main waits for a message");
    finds(&report, "other waits for a message");
}
