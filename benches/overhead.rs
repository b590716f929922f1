//! What our types cost in production: the same code over tokio's types and over ours, outside a controlled execution.
//!
//! Both sides take turns of less than a millisecond within each sample, so that whatever else the machine does hits both alike; what is measured is
//! how many times as long ours takes. With `--instructions` the instructions are counted instead, by valgrind, which no other load disturbs.
//!
//! `cargo bench --bench overhead` has the controlled side compiled in, `cargo bench -p delay-plain --bench overhead` compiled out.

use criterion::{
    Criterion, SamplingMode, Throughput,
    measurement::{Measurement, ValueFormatter},
};
use std::{
    any::TypeId,
    env,
    process::Command,
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Runtime};

/// Operations of one run: so few that a turn is over before the processor is likely to be taken away.
const OPS: u32 = 200;

/// The workloads over the types of a crate. Each does so many operations.
macro_rules! workloads {
    ($side:ident, $types:ident) => {
        mod $side {
            use std::{future::ready, sync::Arc, time::Duration};
            use $types::{
                sync::{Mutex, mpsc, oneshot},
                task, time,
            };

            pub(crate) async fn ping_pong(ops: u32) {
                let (ping, mut pinged) = mpsc::channel(1);
                let (pong, mut ponged) = mpsc::channel(1);
                let echo = task::spawn(async move {
                    while let Some(n) = pinged.recv().await {
                        pong.send(n).await.expect("it waits");
                    }
                });
                for n in 0..ops {
                    ping.send(n).await.expect("it echoes");
                    assert_eq!(ponged.recv().await, Some(n));
                }
                drop(ping);
                echo.await.expect("it does not panic");
            }

            pub(crate) async fn ping_pong_unbounded(ops: u32) {
                let (ping, mut pinged) = mpsc::unbounded_channel();
                let (pong, mut ponged) = mpsc::unbounded_channel();
                let echo = task::spawn(async move {
                    while let Some(n) = pinged.recv().await {
                        pong.send(n).expect("it waits");
                    }
                });
                for n in 0..ops {
                    ping.send(n).expect("it echoes");
                    assert_eq!(ponged.recv().await, Some(n));
                }
                drop(ping);
                echo.await.expect("it does not panic");
            }

            pub(crate) async fn fan_in(ops: u32) {
                let (give, mut take) = mpsc::channel(64);
                for _ in 0..4 {
                    let give = give.clone();
                    task::spawn(async move {
                        for n in 0..ops / 4 {
                            give.send(n).await.expect("it takes all");
                        }
                    });
                }
                drop(give);
                let mut taken = 0;
                while take.recv().await.is_some() {
                    taken += 1;
                }
                assert_eq!(taken, ops);
            }

            pub(crate) async fn fan_in_unbounded(ops: u32) {
                let (give, mut take) = mpsc::unbounded_channel();
                for _ in 0..4 {
                    let give = give.clone();
                    task::spawn(async move {
                        for n in 0..ops / 4 {
                            give.send(n).expect("it takes all");
                        }
                    });
                }
                drop(give);
                let mut taken = 0;
                while take.recv().await.is_some() {
                    taken += 1;
                }
                assert_eq!(taken, ops);
            }

            pub(crate) async fn request_reply(ops: u32) {
                let (ask, mut asked) = mpsc::channel::<(u32, oneshot::Sender<u32>)>(8);
                let server = task::spawn(async move {
                    while let Some((n, reply)) = asked.recv().await {
                        reply.send(n + 1).expect("it waits");
                    }
                });
                for n in 0..ops {
                    let (reply, answer) = oneshot::channel();
                    ask.send((n, reply)).await.expect("it serves");
                    assert_eq!(answer.await.expect("it answers"), n + 1);
                }
                drop(ask);
                server.await.expect("it does not panic");
            }

            pub(crate) async fn mutex(ops: u32) {
                let sum = Arc::new(Mutex::new(0));
                let adders = [(); 4].map(|()| {
                    let sum = Arc::clone(&sum);
                    task::spawn(async move {
                        for _ in 0..ops / 4 {
                            let mut sum = sum.lock().await;
                            *sum += 1;
                            // The others come to wait for it.
                            task::yield_now().await;
                        }
                    })
                });
                for adder in adders {
                    adder.await.expect("it does not panic");
                }
                assert_eq!(*sum.lock().await, ops);
            }

            pub(crate) async fn spawn_join(ops: u32) {
                for n in 0..ops {
                    assert_eq!(task::spawn(async move { n }).await.expect("it does not panic"), n);
                }
            }

            /// Of zero, a sleep would last until the timer's next millisecond.
            pub(crate) async fn sleep_ready(ops: u32) {
                let past = time::Instant::now() - Duration::from_secs(1);
                for _ in 0..ops {
                    time::sleep_until(past).await;
                }
            }

            pub(crate) async fn timeout_ready(ops: u32) {
                for n in 0..ops {
                    assert!(time::timeout(Duration::from_secs(1), ready(n)).await.is_ok());
                }
            }

            /// Runs a workload by its name, as a task of the runtime.
            pub(crate) fn run(runtime: &tokio::runtime::Runtime, name: &str, ops: u32) {
                macro_rules! named {
                    ($workload:ident) => {
                        runtime.block_on(async { tokio::spawn($workload(ops)).await.expect("it does not panic") })
                    };
                }
                match name {
                    "ping_pong" => named!(ping_pong),
                    "ping_pong_unbounded" => named!(ping_pong_unbounded),
                    "fan_in" => named!(fan_in),
                    "fan_in_unbounded" => named!(fan_in_unbounded),
                    "request_reply" => named!(request_reply),
                    "mutex" => named!(mutex),
                    "spawn_join" => named!(spawn_join),
                    "sleep_ready" => named!(sleep_ready),
                    "timeout_ready" => named!(timeout_ready),
                    other => panic!("there is no workload {other:?}"),
                }
            }
        }
    };
}

const NAMES: [&str; 9] = [
    "ping_pong",
    "ping_pong_unbounded",
    "fan_in",
    "fan_in_unbounded",
    "request_reply",
    "mutex",
    "spawn_join",
    "sleep_ready",
    "timeout_ready",
];

workloads!(theirs, tokio);
workloads!(ours, delay);

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime starts")
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime starts")
}

/// How many times as long ours takes.
struct Ratio;

impl Measurement for Ratio {
    type Intermediate = ();
    /// The ratio, times the number of turns it was measured in: criterion divides by it.
    type Value = f64;

    fn start(&self) {}

    fn end(&self, (): ()) -> f64 {
        unreachable!("turns are timed by themselves")
    }

    fn add(&self, one: &f64, two: &f64) -> f64 {
        one + two
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Times
    }
}

struct Times;

impl ValueFormatter for Times {
    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        "times tokio"
    }

    fn scale_throughputs(&self, _typical: f64, _throughput: &Throughput, _values: &mut [f64]) -> &'static str {
        "times tokio"
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "times tokio"
    }
}

/// The median of so many turns, times their number. In a turn both sides run twice, each once before the other.
fn ratio(runtime: &Runtime, name: &str, turns: u64) -> f64 {
    let timed = |run: fn(&Runtime, &str, u32)| {
        let start = Instant::now();
        run(runtime, name, OPS);
        start.elapsed()
    };
    let turn = |_| {
        let (theirs_first, ours_second) = (timed(theirs::run), timed(ours::run));
        let (ours_first, theirs_second) = (timed(ours::run), timed(theirs::run));
        (ours_first + ours_second).as_secs_f64() / (theirs_first + theirs_second).as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..turns).map(turn).collect();
    // What took the processor away from one side only is not among the middle ones.
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2] * turns as f64
}

fn measure() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .sample_size(50)
        .with_measurement(Ratio)
        .configure_from_args();
    for (flavor, runtime) in [("current_thread", current_thread()), ("multi_thread", multi_thread())] {
        let mut group = criterion.benchmark_group(flavor);
        // Every sample is the median of as many turns.
        group.sampling_mode(SamplingMode::Flat);
        for name in NAMES {
            group.bench_function(name, |bencher| bencher.iter_custom(|turns| ratio(&runtime, name, turns)));
        }
        group.finish();
    }
    criterion.final_summary();
}

/// Instructions of an operation: of a run of twice as many operations without those of a run.
fn instructions(side: &str, name: &str) -> f64 {
    let count = |ops: u32| -> f64 {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.arg(env::current_exe().expect("it runs")).args(["--once", side, name, &ops.to_string()]);
        let output = valgrind.output().expect("valgrind is installed");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let collected = told.lines().find_map(|line| line.split_once("Collected : "));
        collected.unwrap_or_else(|| panic!("valgrind says:\n{told}")).1.trim().parse().expect("a number")
    };
    (count(20 * OPS) - count(10 * OPS)) / f64::from(10 * OPS)
}

fn count() {
    println!("| instructions of an operation | tokio | delay | more |\n|---|---|---|---|");
    for name in NAMES {
        let (theirs, ours) = (instructions("theirs", name), instructions("ours", name));
        println!("| {name} | {theirs:.0} | {ours:.0} | {:+.1} % |", 100.0 * (ours / theirs - 1.0));
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--once", side, name, ops] = arguments[..] {
        let run = if side == "ours" { ours::run } else { theirs::run };
        return run(&current_thread(), name, ops.parse().expect("a number of operations"));
    }
    let is_plain = TypeId::of::<delay::sync::Mutex<()>>() == TypeId::of::<tokio::sync::Mutex<()>>();
    println!("the controlled side is compiled {}", if is_plain { "out" } else { "in" });
    if arguments.contains(&"--instructions") { count() } else { measure() }
}
