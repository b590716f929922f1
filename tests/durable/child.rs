//! The process that keeps stores: this test binary, run once more with a script. Each test thus has a process of its own.

use delay::{
    Payload,
    node::Node,
    storage::{self, Cell, Log},
    sync::oneshot,
};
use std::{
    io::{Read, Write},
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
};

const SCRIPT: &str = "DELAY_TEST_SCRIPT";
/// Between the words of a command, and between commands: names may be any other text.
const WORD: char = '\u{1}';
const COMMAND: char = '\u{2}';
/// What a child tells begins with it, unlike what the test harness says.
const TOLD: &str = "told: ";

/// A script from its commands.
pub(crate) fn script(commands: &[&[&str]]) -> String {
    let commands: Vec<String> = commands.iter().map(|words| words.join(&WORD.to_string())).collect();
    commands.join(&COMMAND.to_string())
}

/// A process that runs the script.
pub(crate) fn child(script: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", "child::plays_its_part", "--nocapture", "--test-threads=1"]).env(SCRIPT, script);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a line of a child's output tells.
pub(crate) fn told(line: &str) -> Option<&str> {
    // The harness may have begun the line.
    line.split_once(TOLD).map(|(_, told)| told)
}

/// Runs a script to its end, and gives back what it told.
#[track_caller]
pub(crate) fn run(script: &str) -> Vec<String> {
    let Output { status, stdout, stderr } = child(script).output().expect("it starts");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("text").lines().filter_map(told).map(str::to_owned).collect()
}

/// Runs a script that fails, and gives back what it says.
#[track_caller]
pub(crate) fn failure(script: &str) -> String {
    let Output { status, stdout, stderr } = child(script).output().expect("it starts");
    assert!(!status.success(), "it succeeds: {}", String::from_utf8_lossy(&stdout));
    String::from_utf8(stderr).expect("text")
}

fn tell(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{TOLD}{text}").and_then(|()| out.flush()).expect("somebody reads");
}

#[test]
fn plays_its_part() {
    let Ok(script) = std::env::var(SCRIPT) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(play(script));
}

async fn play(script: String) {
    for command in script.split(COMMAND) {
        let words: Vec<String> = command.split(WORD).map(str::to_owned).collect();
        match words[0].as_str() {
            "keep" => match storage::keep_in(&words[1]) {
                Ok(()) => {}
                Err(error) => tell(&format!("refused: {error}")),
            },
            "on" => on_a_node(words[1].clone(), words[2..].to_vec()).await,
            "until-killed" => until_killed().await,
            "wait" => {
                tell("waits");
                std::io::stdin().read_to_end(&mut Vec::new()).expect("it ends");
            }
            _ => access(&words).await,
        }
    }
}

/// An access by a task of the node.
async fn on_a_node(name: String, words: Vec<String>) {
    let (done, is_done) = oneshot::channel();
    let done = Arc::new(Mutex::new(Some(done)));
    Node::start(name, move || {
        let (done, words) = (Arc::clone(&done), words.clone());
        async move {
            access(&words).await;
            let done = done.lock().expect("nobody panics").take();
            done.expect("it starts once").send(()).expect("it is waited for");
        }
    });
    is_done.await.expect("the access has not failed");
}

async fn access(words: &[String]) {
    let (what, name) = (words[0].as_str(), words[1].as_str());
    match what {
        "append" => {
            let log = Log::<String>::open(name);
            log.append(words[2].clone()).await;
            log.sync().await;
        }
        "log" => tell(&format!("{:?}", Log::<String>::open(name).read().await.records)),
        "torn" => {
            let read = Log::<String>::with_torn_records(name, Payload::visible()).read().await;
            tell(&format!("{:?} {}", read.records, read.is_torn));
        }
        "write" => {
            let cell = Cell::<String>::open(name);
            cell.write(words[2].clone()).await;
            cell.sync().await;
        }
        "cell" => tell(&format!("{:?}", Cell::<String>::open(name).read().await)),
        other => panic!("there is no command {other}"),
    }
}

/// Appends, syncs and acknowledges, from where it was, in records of many sizes.
async fn until_killed() {
    let (log, cell) = (Log::<(u64, Vec<u8>)>::open("log"), Cell::<u64>::open("cell"));
    let records = log.read().await.records;
    for (record, number) in records.iter().zip(0..) {
        assert_eq!(*record, (number, filling(number)), "a record is as it was appended");
    }
    tell(&format!("holds {} {}", records.len(), cell.read().await.unwrap_or(0)));
    let mut next = records.len() as u64;
    loop {
        for _ in 0..=next % 3 {
            log.append((next, filling(next))).await;
            next += 1;
        }
        log.sync().await;
        tell(&format!("appended {next}"));
        cell.write(next).await;
        cell.sync().await;
        tell(&format!("wrote {next}"));
    }
}

fn filling(number: u64) -> Vec<u8> {
    let length = if number.is_multiple_of(7) { 9_000 } else { number % 50 };
    (0..length).map(|at| (at ^ number) as u8).collect()
}
