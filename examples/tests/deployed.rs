//! Two-phase commit between processes: each party a process of its own.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    process::{Child, Command, Stdio},
};

/// A node that is stopped when the test ends, however that may be.
struct Node(Child);

impl Node {
    /// Once it accepts connections.
    fn start(file: &str, name: &str) -> (Self, impl Read) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_two_phase_deployed"));
        let mut child = command.args([file, name]).stdout(Stdio::piped()).spawn().expect("it can be run");
        let mut output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it prints text");
        assert_eq!(line, format!("{name} is ready\n"));
        (Self(child), output)
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
    // Ports that are free now; the nodes take them at once.
    let free = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("the system has a free port"));
    let nodes = [("alpha", "coordinator"), ("beta", "from"), ("gamma", "to")];
    let tables = nodes.iter().zip(&free).map(|((node, hosts), port)| {
        let address = port.local_addr().expect("it is bound");
        format!("[node.{node}]\naddress = \"{address}\"\nhosts = [\"{hosts}\"]\n")
    });
    let text: String = tables.collect();
    drop(free);
    let file = tempfile::NamedTempFile::new().expect("there is a place for temporary files");
    fs::write(file.path(), text).expect("the file can be written");
    let file = file.path().to_str().expect("the path is text");

    let _from = Node::start(file, "beta");
    let _to = Node::start(file, "gamma");
    let (_coordinator, mut output) = Node::start(file, "alpha");
    let mut said = String::new();
    output.read_to_string(&mut said).expect("it prints text");
    assert_eq!(said, "transfer 70 of 100: Commit\n");
}
