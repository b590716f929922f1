//! A place for the files of a deployment, and the processes of its nodes.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
};
use tempfile::TempDir;

/// A cluster file, and room for others.
pub(crate) struct Place(TempDir);

impl Place {
    /// The cluster file begins with `limits`, and has a node for each of these names, with what it hosts.
    pub(crate) fn new(limits: &str, nodes: &[(&str, Vec<&str>)]) -> Self {
        // Ports that are free now; the nodes take them at once.
        let bind = |_| TcpListener::bind("127.0.0.1:0").expect("the system has a free port");
        let free: Vec<TcpListener> = nodes.iter().map(bind).collect();
        let tables = nodes.iter().zip(&free).map(|((node, hosts), port)| {
            let address = port.local_addr().expect("it is bound");
            format!("[node.{node}]\naddress = \"{address}\"\nhosts = {hosts:?}\n")
        });
        let text = limits.to_owned() + &tables.collect::<String>();
        let place = Self(tempfile::tempdir().expect("there is a place for temporary files"));
        fs::write(place.file("cluster.toml"), text).expect("the file can be written");
        place
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A node's process. Dropped, it is killed with SIGKILL.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Once it accepts connections; with what it says after that.
    pub(crate) fn start(command: &mut Command, node: &str) -> (Self, BufReader<ChildStdout>) {
        let mut process = Self(command.stdout(Stdio::piped()).spawn().expect("it can be run"));
        let mut output = BufReader::new(process.0.stdout.take().expect("it was asked for"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it prints text");
        assert_eq!(line, format!("{node} is ready\n"));
        (process, output)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
