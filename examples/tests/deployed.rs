//! Two-phase commit between processes: each party a process of its own.

use delay::record::{self, Extent, Lack, Observer};
use delay_examples::two_phase_commit::observer;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
};
use tempfile::TempDir;

/// The nodes and what each hosts.
const NODES: [(&str, &str); 3] = [("alpha", "coordinator"), ("beta", "from"), ("gamma", "to")];

/// `cargo delay check alpha.jsonl beta.jsonl gamma.jsonl`.
#[delay::observer]
fn atomic() -> Observer {
    observer(2)
}

/// A cluster file, and a place for recordings.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        // Ports that are free now; the nodes take them at once.
        let free = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("the system has a free port"));
        let tables = NODES.iter().zip(&free).map(|((node, hosts), port)| {
            let address = port.local_addr().expect("it is bound");
            format!("[node.{node}]\naddress = \"{address}\"\nhosts = [\"{hosts}\"]\n")
        });
        let text: String = tables.collect();
        let place = Self(tempfile::tempdir().expect("there is a place for temporary files"));
        fs::write(place.file("cluster.toml"), text).expect("the file can be written");
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn recordings(&self) -> [PathBuf; 3] {
        NODES.map(|(node, _)| self.file(&format!("{node}.jsonl")))
    }
}

/// A node that is stopped when the test ends, however that may be.
struct Node(Child, BufReader<ChildStdout>);

impl Node {
    /// Once it accepts connections.
    fn start(place: &Place, name: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_two_phase_deployed"));
        command.arg(place.file("cluster.toml")).arg(name).args(more);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it can be run");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it prints text");
        assert_eq!(line, format!("{name} is ready\n"));
        Self(child, output)
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
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("it ends").success());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_transfer_is_committed_between_processes() {
    let place = Place::new();
    let _accounts = ["beta", "gamma"].map(|name| Node::start(&place, name, &[]));
    assert_eq!(Node::start(&place, "alpha", &[]).says(), "transfer 70 of 100: Commit\n");
}

#[test]
fn a_recorded_transfer_is_checked_against_the_monitor_of_the_tests() {
    let place = Place::new();
    let accounts = ["beta", "gamma"].map(|name| Node::recorded(&place, name));
    let mut coordinator = Node::recorded(&place, "alpha");
    assert_eq!(coordinator.says(), "transfer 70 of 100: Commit\n");
    coordinator.stop();
    accounts.into_iter().for_each(Node::stop);

    let checked = record::check(place.recordings(), atomic(), Extent::Whole).expect("they can be read");
    checked.assert_holds();
    assert_eq!((checked.processes, checked.gaps.as_slice()), (3, [].as_slice()));
    // Two votes and the decision; that it is obeyed may not have been recorded when the accounts were stopped.
    assert!((3..=5).contains(&checked.heard), "{checked}");

    // Without the accounts nobody has agreed to what is decided: the recordings of a part of the processes are not those of the run.
    let alone = record::check(&place.recordings()[..1], atomic(), Extent::Whole).expect("it can be read");
    assert_eq!(alone.violations[0].what, "transaction 1 is committed, but only 0 of 2 have agreed");
}

#[test]
fn nodes_that_are_killed_leave_recordings_that_can_be_checked() {
    let place = Place::new();
    let accounts = ["beta", "gamma"].map(|name| Node::recorded(&place, name));
    let mut coordinator = Node::recorded(&place, "alpha");
    assert_eq!(coordinator.says(), "transfer 70 of 100: Commit\n");
    coordinator.stop();
    drop(accounts);
    let checked = record::check(place.recordings(), atomic(), Extent::Part).expect("they can be read");
    let killed: Vec<&str> = checked.gaps.iter().map(|gap| gap.process.as_str()).collect();
    assert_eq!(killed, ["beta", "gamma"], "{checked}");
    assert!(checked.gaps.iter().all(|gap| matches!(gap.what, Lack::Unended | Lack::Torn)), "{checked}");
}
