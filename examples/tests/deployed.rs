//! Two-phase commit between processes: each party a process of its own.

mod place;

use delay::record::{self, Extent, Lack, Observer};
use delay_examples::two_phase_commit::observer;
use place::{Place, Process};
use std::{
    io::{BufReader, Read},
    path::PathBuf,
    process::{ChildStdout, Command, Stdio},
};

/// The nodes and what each hosts.
const NODES: [(&str, &str); 3] = [("alpha", "coordinator"), ("beta", "from"), ("gamma", "to")];

/// `cargo delay check alpha.jsonl beta.jsonl gamma.jsonl`.
#[delay::observer]
fn atomic() -> Observer {
    observer(2)
}

fn place() -> Place {
    Place::new("", &NODES.map(|(node, hosts)| (node, vec![hosts])))
}

fn recordings(place: &Place) -> [PathBuf; 3] {
    NODES.map(|(node, _)| place.file(&format!("{node}.jsonl")))
}

/// A node that is stopped when the test ends, however that may be.
struct Node(Process, BufReader<ChildStdout>);

impl Node {
    /// Once it accepts connections.
    fn start(place: &Place, name: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_two_phase_deployed"));
        command.arg(place.file("cluster.toml")).arg(name).args(more).stdin(Stdio::piped());
        let (process, output) = Process::start(&mut command, name);
        Self(process, output)
    }

    fn recorded(place: &Place, name: &str) -> Self {
        let path = place.file(&format!("{name}.jsonl"));
        Self::start(place, name, &["--record", path.to_str().expect("the path is text")])
    }

    /// What it says until it ends.
    fn says(&mut self) -> String {
        let mut said = String::new();
        self.1.read_to_string(&mut said).expect("it prints text");
        said
    }

    /// Closes its standard input, and waits for its end.
    fn stop(mut self) {
        let Process(child) = &mut self.0;
        drop(child.stdin.take());
        assert!(child.wait().expect("it ends").success());
    }
}

#[test]
fn a_transfer_is_committed_between_processes() {
    let place = place();
    let _accounts = ["beta", "gamma"].map(|name| Node::start(&place, name, &[]));
    assert_eq!(Node::start(&place, "alpha", &[]).says(), "transfer 70 of 100: Commit\n");
}

#[test]
fn a_recorded_transfer_is_checked_against_the_monitor_of_the_tests() {
    let place = place();
    let accounts = ["beta", "gamma"].map(|name| Node::recorded(&place, name));
    let mut coordinator = Node::recorded(&place, "alpha");
    assert_eq!(coordinator.says(), "transfer 70 of 100: Commit\n");
    coordinator.stop();
    accounts.into_iter().for_each(Node::stop);

    let checked = record::check(recordings(&place), atomic(), Extent::Whole).expect("they can be read");
    checked.assert_holds();
    assert_eq!((checked.processes, checked.gaps.as_slice()), (3, [].as_slice()));
    // Two votes and the decision; that it is obeyed may not have been recorded when the accounts were stopped.
    assert!((3..=5).contains(&checked.heard), "{checked}");

    // Without the accounts nobody has agreed to what is decided: the recordings of a part of the processes are not those of the run.
    let alone = record::check(&recordings(&place)[..1], atomic(), Extent::Whole).expect("it can be read");
    assert_eq!(alone.violations[0].what, "transaction 1 is committed, but only 0 of 2 have agreed");
}

#[test]
fn nodes_that_are_killed_leave_recordings_that_can_be_checked() {
    let place = place();
    let accounts = ["beta", "gamma"].map(|name| Node::recorded(&place, name));
    let mut coordinator = Node::recorded(&place, "alpha");
    assert_eq!(coordinator.says(), "transfer 70 of 100: Commit\n");
    coordinator.stop();
    drop(accounts);
    let checked = record::check(recordings(&place), atomic(), Extent::Part).expect("they can be read");
    let killed: Vec<&str> = checked.gaps.iter().map(|gap| gap.process.as_str()).collect();
    assert_eq!(killed, ["beta", "gamma"], "{checked}");
    assert!(checked.gaps.iter().all(|gap| matches!(gap.what, Lack::Unended | Lack::Torn)), "{checked}");
}
