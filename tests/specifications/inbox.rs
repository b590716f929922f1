//! Selective receive: P's `defer`, `ignore` and unhandled messages.

use crate::{exhaustive, found, passes};
use delay::{
    Payload, checkpoint,
    inbox::{Inbox, Source},
    net::{Delivery, Envelope, Network},
    receive,
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    task,
};
use delay_core::{verdict::Violation, world::masked::Part};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Message {
    Request(u32),
    Note(String),
    Vote(bool),
    Ping,
}
use Message::{Note, Ping, Request, Vote};

fn channel() -> (UnboundedSender<Message>, UnboundedReceiver<Message>) {
    mpsc::unbounded_channel_with(Payload::visible())
}

fn filled(messages: impl IntoIterator<Item = Message>) -> Inbox<UnboundedReceiver<Message>> {
    let (sender, receiver) = channel();
    for message in messages {
        sender.send(message).expect("the receiver is there");
    }
    Inbox::new(receiver)
}

/// What comes out, request by request, after a vote was waited for.
async fn requests_after_a_vote(mut inbox: Inbox<impl Source<Message = Message>>) -> Vec<u32> {
    let vote = receive!(inbox, "waiting for a vote", {
        Vote(vote) => vote,
        defer Request(_),
        ignore Ping | Note(_),
    });
    assert!(vote);
    let mut requests = Vec::new();
    loop {
        let request = receive!(inbox, "idle", {
            Request(n) => n,
            ignore Ping,
            closed => break,
        });
        requests.push(request);
    }
    requests
}

#[test]
fn deferred_messages_come_first_and_in_their_order() {
    passes(&exhaustive().check(|| async {
        let sent = [Request(1), Ping, Request(2), Note("x".to_owned()), Vote(true), Request(3), Ping];
        assert_eq!(requests_after_a_vote(filled(sent)).await, [1, 2, 3]);
    }));
}

#[test]
fn a_state_may_defer_what_was_deferred_before() {
    passes(&exhaustive().check(|| async {
        let mut inbox = filled([Request(1), Note("a".to_owned()), Request(2), Note("b".to_owned()), Vote(true), Ping]);
        receive!(inbox, "voting", { Vote(_) => {} defer Request(_) | Note(_), });
        // From between two deferred ones; the others stay where they are.
        let note = receive!(inbox, "noting", { Note(note) => note, defer Request(_), });
        assert_eq!(note, "a");
        receive!(inbox, "pinged", { Ping => (), defer Request(_) | Note(_) });
        let left: Vec<_> = inbox.deferred().cloned().collect();
        assert_eq!(left, [Request(1), Request(2), Note("b".to_owned())]);
    }));
}

#[test]
fn the_first_arm_that_matches_counts() {
    passes(&exhaustive().check(|| async {
        let mut inbox = filled([Request(1), Request(7), Request(8), Vote(false)]);
        let late = true;
        let first = receive!(inbox, "picky", {
            Request(n) if n > 5 && !late => n,
            defer Request(n) if n == 1,
            ignore Request(n) if n == 7,
            Request(n) => n + 100,
            _ => 0,
        });
        assert_eq!(first, 108);
        assert_eq!(inbox.deferred().cloned().collect::<Vec<_>>(), [Request(1)]);
    }));
}

#[test]
fn handlers_may_leave_the_function_and_loops_around() {
    async fn body(messages: Vec<Message>) -> Result<u32, String> {
        let mut inbox = filled(messages);
        let mut sum = 0;
        loop {
            receive!(inbox, "summing", {
                Request(0) => return Ok(1_000),
                Request(n) => {
                    task::yield_now().await;
                    sum += n;
                }
                Ping => continue,
                Note(text) => sum += text.parse::<u32>().map_err(|error| error.to_string())?,
                Vote(_) => break,
            });
            sum += 1;
        }
        Ok(sum)
    }
    passes(&exhaustive().check(|| async {
        assert_eq!(body(vec![Request(2), Ping, Note("5".to_owned()), Vote(true)]).await, Ok(9));
        assert_eq!(body(vec![Request(2), Request(0)]).await, Ok(1_000));
        assert_eq!(body(vec![Note("x".to_owned())]).await, Err("invalid digit found in string".to_owned()));
    }));
}

async fn coordinator() {
    let (sender, receiver) = channel();
    let server = task::spawn_named("coordinator", async move {
        let mut inbox = Inbox::new(receiver);
        receive!(inbox, format_args!("round {}", 3), {
            Vote(_) => {}
            defer Request(_),
        });
    });
    sender.send(Request(1)).expect("the coordinator is there");
    task::yield_now().await;
    sender.send(Ping).expect("the coordinator is there");
    let _ = server.await;
}

#[test]
fn an_unhandled_message_names_process_state_and_message() {
    let report = exhaustive().check(coordinator);
    let failure = report.failure.expect("nobody handles a ping");
    assert_eq!(
        failure.violation,
        Violation::Unhandled {
            process: "coordinator".to_owned(),
            state: "round 3".to_owned(),
            message: "Ping".to_owned()
        }
    );
    assert_eq!(failure.violation.to_string(), "unhandled message: coordinator in state \"round 3\" received Ping");
}

#[test]
fn an_end_nobody_expects_is_named() {
    let text = found(&exhaustive().check(|| async {
        let mut inbox = filled([Request(1)]);
        receive!(inbox, "voting", { Vote(_) => {} defer Request(_), });
    }));
    assert!(text.contains("main in state \"voting\" received the end of its channel"), "{text}");
}

#[test]
fn an_endpoint_is_a_source() {
    passes(&exhaustive().check(|| async {
        let net = Network::with_payload(Delivery::Unordered, Payload::visible());
        let mut inbox = Inbox::from(net.endpoint("server"));
        let to = inbox.source().address();
        for (name, message) in [("ada", Vote(true)), ("bob", Request(4))] {
            let client = net.endpoint(name);
            task::spawn_named(name, async move { client.send(to, message).await });
        }
        let voter = receive!(inbox, "voting", {
            Envelope { from, message: Vote(_) } => from,
            defer Envelope { message: Request(_), .. },
        });
        assert_eq!(voter.name(), "ada");
        let n = receive!(inbox, "serving", { Envelope { message: Request(n), .. } => n });
        assert_eq!(n, 4);
    }));
}

#[tokio::test]
async fn it_runs_on_tokio() {
    let sent = [Request(1), Ping, Request(2), Vote(true), Request(3)];
    assert_eq!(requests_after_a_vote(filled(sent)).await, [1, 2, 3]);

    let (sender, receiver) = mpsc::channel(4);
    sender.send(Request(5)).await.expect("the receiver is there");
    let mut inbox = Inbox::new(receiver);
    let n = tokio::spawn(async move { receive!(inbox, "idle", { Request(n) => n, _ => 0 }) }).await;
    assert_eq!(n.expect("it does not panic"), 5);
}

#[tokio::test]
async fn on_tokio_an_unhandled_message_panics_with_the_same_words() {
    let ended = tokio::spawn(async {
        let mut inbox = filled([Ping]);
        receive!(inbox, "idle", { Request(_) => {} });
    });
    let panic = ended.await.expect_err("nobody handles a ping").into_panic();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert_eq!(text, "unhandled message: a task in state \"idle\" received Ping");
}

/// A server that defers two requests and then forgets its past, but for its inbox if `honest`.
async fn with_checkpoint(honest: bool) {
    let (sender, receiver) = channel();
    let clients = [Request(2), Request(1)].map(|request| {
        let sender = sender.clone();
        task::spawn(async move {
            task::yield_now().await;
            let _ = sender.send(request);
        })
    });
    task::spawn(async move {
        let mut inbox = Inbox::new(receiver);
        receive!(inbox, "voting", { Vote(_) => {} defer Request(_) });
        if honest {
            checkpoint(&inbox);
        } else {
            checkpoint(&());
        }
        task::yield_now().await;
        let first = receive!(inbox, "serving", { Request(n) => n });
        assert!(first == 1, "the second came first");
    });
    for client in clients {
        let _ = client.await;
    }
    let _ = sender.send(Vote(true));
}

#[test]
fn a_checkpoint_that_names_the_inbox_is_sound() {
    let text = found(&exhaustive().check(|| with_checkpoint(true)));
    assert!(text.contains("the second came first"), "{text}");
}

#[test]
fn a_checkpoint_that_forgets_the_inbox_is_caught_by_the_audit_alone() {
    let text = found(&exhaustive().check(|| with_checkpoint(false)));
    assert!(text.contains("the second came first"), "{text}");
    // A search with a mask is not audited; this one leaves nothing out that there is.
    passes(&exhaustive().mask(Part::Observed).check(|| with_checkpoint(false)));
    let text = found(&exhaustive().mask(Part::Observed).check(|| with_checkpoint(true)));
    assert!(text.contains("the second came first"), "{text}");
}

#[test]
fn an_inbox_hashes_as_its_deferred_messages() {
    passes(&exhaustive().check(|| async {
        let mut prints = Vec::new();
        for messages in [vec![Request(1), Vote(true)], vec![Vote(true)], vec![Request(1), Vote(true)]] {
            let mut inbox = filled(messages);
            receive!(inbox, "voting", { Vote(_) => {} defer Request(_), });
            prints.push(delay_core::hash::Print::of_value(delay_core::hash::Domain::Content, &inbox));
        }
        assert_ne!(prints[0], prints[1]);
        assert_eq!(prints[0], prints[2]);
    }));
}
