//! What is recorded, and what checking it comes to.

use crate::rig::{Answers, Files, Said, check, first, last, said, specification, turn, vocabulary};
use delay::{
    announce,
    linearizability::{self, KeyValue, KeyValueOp, Linearizable, Returned, invoke, ret},
    monitor::{self, Monitor},
    net::{
        Delivery, Network,
        cluster::{Cluster, Limits},
        transport::Tcp,
    },
    record::{self, Extent, Observer, Received, Sent, Verdict, Vocabulary},
};
use std::fs;
use tokio::net::TcpListener;

#[test]
fn what_is_announced_is_recorded_and_checked() {
    let _turn = turn();
    let files = Files::new();
    let path = files.path("alpha.jsonl");
    announce(Said::Asked(1));
    let recording = record::start(&path, "alpha", vocabulary()).expect("it can be written");
    announce(Said::Asked(2));
    announce("of no name");
    announce(Said::Answered(2));
    let recorded = recording.finish().expect("it was written");
    assert_eq!((recorded.lines, recorded.lost), (4, 0));
    announce(Said::Asked(3));
    let checked = check(&[&path]).expect("it can be read");
    assert_eq!(
        checked.to_string(),
        "checked 2 events of 1 process against monitor Answers, which heard 2: no objection"
    );
    checked.assert_holds();
}

#[test]
fn a_violation_is_told_with_its_place_and_what_came_before() {
    let files = Files::new();
    let alpha = [first("alpha", "1"), said(1, 10, &Said::Asked(1)), said(2, 40, &Said::Answered(2)), last(3)];
    let beta = [first("beta", "2"), said(1, 20, &Said::Answered(1)), said(2, 30, &Said::Asked(3)), last(3)];
    let (alpha, beta) = (files.with("alpha.jsonl", alpha.concat()), files.with("beta.jsonl", beta.concat()));
    let checked = check(&[&alpha, &beta]).expect("they can be read");
    assert_eq!(checked.verdict(), Verdict::Violated);
    let expected = "\
monitor Answers: 2 was answered and had not asked
  at DIR/alpha.jsonl:3, process alpha, 2025-11-28T11:35:00.000040Z

  2025-11-28T11:35:00.000010Z  alpha  Asked(1)  (alpha.jsonl:2)
  2025-11-28T11:35:00.000020Z  beta   Answered(1)  (beta.jsonl:2)
  2025-11-28T11:35:00.000030Z  beta   Asked(3)  (beta.jsonl:3)
  2025-11-28T11:35:00.000040Z  alpha  Answered(2)  (alpha.jsonl:3)

checked 4 events of 2 processes against monitor Answers, which heard 4";
    assert_eq!(files.stable(&checked), expected);
    // The other way around the same: the clocks decide.
    assert_eq!(files.stable(&check(&[&beta, &alpha]).expect("they can be read")), expected);
    let alone = check(&[&beta]).expect("it can be read");
    assert_eq!(alone.violations[0].what, "1 was answered and had not asked");
}

#[test]
fn what_is_owed_at_the_end_counts_unless_the_recording_is_a_part() {
    let files = Files::new();
    let path = files.with("a", [first("alpha", "1"), said(1, 1, &Said::Asked(1)), last(2)].concat());
    let checked = check(&[&path]).expect("it can be read");
    assert_eq!(checked.verdict(), Verdict::Violated);
    assert!(checked.to_string().starts_with(
        "monitor Answers is hot at the end of the recording: something is owed that has not happened\n(if the recording is a part"
    ));
    let observer = Observer::new(vocabulary(), specification);
    let part = record::check([&path], observer, Extent::Part).expect("it can be read");
    assert_eq!(part.verdict(), Verdict::Holds);
    assert_eq!(part.warnings(), ["monitor Answers is hot at the end of the recording, which is a part"]);
}

#[test]
fn what_nobody_hears_is_no_success() {
    let files = Files::new();
    let path = files.with("a", [first("alpha", "1"), said(1, 1, &Said::Asked(1)), last(2)].concat());
    let observer = Observer::new(Vocabulary::new().event::<u8>("sayd"), specification);
    let checked = record::check([&path], observer, Extent::Whole).expect("it can be read");
    assert_eq!(checked.verdict(), Verdict::Unheard);
    assert_eq!(
        checked.warnings(),
        ["monitor Answers heard nothing", "1 event `said` met, a name the observer does not know"]
    );
}

/// Each message is received after it was sent.
#[derive(Hash, Default)]
struct OnItsWay(Vec<String>);

#[derive(Debug)]
enum Travels {
    Sent(String),
    Received(String),
}

impl From<Sent<String>> for Travels {
    fn from(sent: Sent<String>) -> Self {
        Self::Sent(format!("{sent:?}"))
    }
}

impl From<Received<String>> for Travels {
    fn from(Received { from, to, message }: Received<String>) -> Self {
        Self::Received(format!("{:?}", Sent { from, to, message }))
    }
}

impl Monitor for OnItsWay {
    type Event = Travels;

    fn on(&mut self, event: &Travels) -> Result<(), String> {
        match event {
            Travels::Sent(message) => self.0.push(message.clone()),
            Travels::Received(message) => {
                let at = self.0.iter().position(|sent| sent == message).ok_or("nobody had sent it")?;
                self.0.remove(at);
            }
        }
        Ok(())
    }

    fn is_hot(&self) -> bool {
        !self.0.is_empty()
    }
}

fn travels() -> Vocabulary {
    Vocabulary::new().messages::<String>("letters")
}

#[tokio::test]
#[expect(clippy::await_holding_lock, reason = "tests that record take turns")]
async fn messages_are_recorded_of_the_networks_that_were_named() {
    let _turn = turn();
    let files = Files::new();
    let path = files.path("both.jsonl");
    let (alpha, beta) =
        (TcpListener::bind("127.0.0.1:0").await.expect("free"), TcpListener::bind("127.0.0.1:0").await.expect("free"));
    let cluster = Cluster::new(Limits::default()).expect("good");
    let cluster = cluster.node("alpha", alpha.local_addr().expect("bound").to_string(), ["a", "a2"]).expect("a node");
    let cluster = cluster.node("beta", beta.local_addr().expect("bound").to_string(), ["b"]).expect("a node");
    let net = |node: &str, listener| -> Network<String> {
        cluster.host(node).expect("there").network_over(Tcp::from(listener), Delivery::PerSender).expect("good")
    };
    let (alpha, beta) = (net("alpha", alpha), net("beta", beta));
    let recording = record::start(&path, "both", travels()).expect("it can be written");
    recording.network(&alpha);
    recording.network(&beta);
    let (a, mut a2, mut b) = (alpha.endpoint("a"), alpha.endpoint("a2"), beta.endpoint("b"));
    a.send(alpha.address("b"), "far".to_owned()).await.expect("b is there");
    a.send(alpha.address("a2"), "near".to_owned()).await.expect("a2 is there");
    assert_eq!(b.recv().await.message, "far");
    assert_eq!(a2.try_recv().expect("it is there").message, "near");
    // Another network's are not.
    let other = Network::<String>::new(Delivery::Fifo);
    let from = other.endpoint("x");
    from.send(from.address(), "unheard".to_owned()).await.expect("it is there");
    recording.finish().expect("it was written");

    let observer = Observer::new(travels(), || {
        monitor::register(OnItsWay::default()).also::<Sent<String>>().also::<Received<String>>();
    });
    let checked = record::check([&path], observer, Extent::Whole).expect("it can be read");
    checked.assert_holds();
    assert_eq!((checked.heard, checked.warnings()), (4, Vec::new()));
    // As if the sender's recording had been left out.
    let text = fs::read_to_string(&path).expect("text");
    let received: Vec<&str> = text.lines().filter(|line| !line.contains(r#""type":"sent""#)).chain([""]).collect();
    let part = files.with("received.jsonl", received.join("\n"));
    let observer = Observer::new(travels(), || monitor::register(Deaf));
    let warnings = record::check([&part], observer, Extent::Whole).expect("it can be read").warnings();
    let unsent = "2 messages were received that no recording shows being sent: is the recording of a process left out, or of another run?";
    assert!(warnings.iter().any(|warning| warning.ends_with(unsent)), "{warnings:?}");
}

/// Hears nothing that is there.
#[derive(Hash)]
struct Deaf;

impl Monitor for Deaf {
    type Event = ();

    fn on(&mut self, (): &()) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn a_history_of_clients_is_checked_for_linearizability() {
    type Map = KeyValue<u32, u32>;
    fn vocabulary() -> Vocabulary {
        Vocabulary::new().event::<linearizability::Event<Map>>("history")
    }
    let _turn = turn();
    let files = Files::new();
    let check = |name: &str, stale: Option<u32>| {
        let path = files.path(name);
        let recording = record::start(&path, name, vocabulary()).expect("it can be written");
        invoke::<Map>("ada", KeyValueOp::Put(1, 10));
        ret::<Map>("ada", Returned::Done);
        invoke::<Map>("bob", KeyValueOp::Get(1));
        ret::<Map>("bob", Returned::Value(stale));
        recording.finish().expect("it was written");
        let observer = Observer::new(vocabulary(), || monitor::register(Linearizable::new(Map::default())));
        record::check([&path], observer, Extent::Whole).expect("it can be read")
    };
    check("good", Some(10)).assert_holds();
    let stale = check("stale", None);
    assert_eq!(
        stale.violations[0].what,
        "not linearizable: Get(1) of bob returned Value(None); allowed: Value(Some(10))"
    );
}

#[test]
fn a_recording_goes_on_where_another_ended_and_never_in_another_file() {
    let _turn = turn();
    let files = Files::new();
    let path = files.path("alpha.jsonl");
    for (n, torn) in [(1, ""), (2, "{\"seq\":3,\"type"), (3, "")] {
        let recording = record::start(&path, "alpha", vocabulary()).expect("it can be written");
        announce(Said::Asked(n));
        announce(Said::Answered(n));
        recording.finish().expect("it was written");
        let mut text = fs::read_to_string(&path).expect("text");
        if !torn.is_empty() {
            // As if it had been killed before its end.
            text.truncate(text.trim_end().rfind('\n').expect("several lines") + 1);
        }
        text.push_str(torn);
        fs::write(&path, text).expect("it can be written");
    }
    let checked = check(&[&path]).expect("it can be read");
    checked.assert_holds();
    assert_eq!((checked.heard, checked.gaps.len()), (6, 1), "{checked}");

    let source = files.with("main.rs", "fn main() {}\n");
    let error = record::start(&source, "alpha", vocabulary()).expect_err("it is no recording");
    assert_eq!(files.stable(&error), "cannot record into DIR/main.rs: the file is there and is no recording");
    assert_eq!(fs::read_to_string(&source).expect("text"), "fn main() {}\n");
}

#[test]
fn a_process_has_one_recording_at_a_time() {
    let _turn = turn();
    let files = Files::new();
    let recording = record::start(files.path("a"), "alpha", vocabulary()).expect("it can be written");
    let error = record::start(files.path("b"), "alpha", vocabulary()).expect_err("one is enough");
    assert_eq!(
        files.stable(&error),
        "cannot record into DIR/b: this process records already: finish that recording first"
    );
    drop(recording);
    record::start(files.path("b"), "alpha", vocabulary()).expect("now it can").finish().expect("it was written");
    let error = record::start(files.path("no/where"), "alpha", vocabulary()).expect_err("there is no such directory");
    assert!(files.stable(&error).starts_with("cannot record into DIR/no/where: "), "{error}");
}

#[test]
fn names_tell_types_apart() {
    let panic_of = |what: fn()| {
        let payload = std::panic::catch_unwind(what).expect_err("it is refused");
        payload.downcast_ref::<String>().expect("with a text").clone()
    };
    let again = panic_of(|| drop(vocabulary().event::<u8>("said")));
    assert_eq!(again, "the vocabulary has event named \"said\" already: names tell types apart");
    let twice = panic_of(|| drop(vocabulary().event::<Said>("told")));
    assert_eq!(twice, "the vocabulary has Said already, under the name \"said\": a type has one name");
    let _ = Answers::default();
}
