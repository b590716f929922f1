//! Loops in which a monitor stays hot: found where they are fair, and shown by going around twice.

use crate::{Answers, Said, exhaustive, finds, passes};
use delay::{Cache, Checker, Granularity, Payload, Report, Stop, checkpoint, flip, monitor, sync::mpsc, task};
use delay_core::trace::{Trace, Verdict, text};

/// Hands the token on, again and again.
async fn pass(mut from: mpsc::Receiver<()>, to: mpsc::Sender<()>) {
    loop {
        checkpoint("passing");
        if from.recv().await.is_none() || to.send(()).await.is_err() {
            return;
        }
    }
}

/// Two processes pass a token and never serve the request. `late`: it is made only after a while.
async fn token(late: bool) {
    monitor::register(Answers::default());
    let (to_left, left) = mpsc::channel_with(1, Payload::visible());
    let (to_right, right) = mpsc::channel_with(1, Payload::visible());
    if !late {
        monitor::announce(Said::Asked);
    }
    let first = to_left.clone();
    let passing = task::spawn_named("left", pass(left, to_right));
    task::spawn_named("right", pass(right, to_left));
    let _ = first.send(()).await;
    if late {
        monitor::announce(Said::Asked);
    }
    let _ = passing.await;
}

/// The server is busy, and says so; the client tries again.
async fn retries() {
    monitor::register(Answers::default());
    let (ask, mut asked) = mpsc::channel_with(1, Payload::visible());
    let (answer, mut answered) = mpsc::channel_with(1, Payload::visible());
    task::spawn_named("server", async move {
        loop {
            checkpoint("serving");
            let Some("request") = asked.recv().await else { return };
            if answer.send("busy").await.is_err() {
                return;
            }
        }
    });
    monitor::announce(Said::Asked);
    loop {
        checkpoint("asking");
        let _ = ask.send("request").await;
        if answered.recv().await == Some("done") {
            return monitor::announce(Said::Answered);
        }
    }
}

/// What happened in the loop: first and second time around.
fn rounds(trace: &Trace) -> Vec<Vec<(&str, &str)>> {
    let events = trace.events.iter().map(|line| (line.process.as_str(), line.text.as_str()));
    let events: Vec<_> = events.collect();
    let marks: Vec<usize> = (0..events.len()).filter(|at| events[*at].0 == "--").collect();
    marks.windows(2).map(|around| events[around[0] + 1..around[1]].to_vec()).collect()
}

/// The lasso is found, its trace says where the loop is, and replays to the same.
#[track_caller]
fn finds_loop<F, Fut>(checker: Checker, body: F) -> Trace
where
    F: Fn() -> Fut + Send + Sync + Copy,
    Fut: Future<Output = ()>,
{
    let report = checker.check(body);
    finds(&report, "monitor Answers can stay hot for ever");
    assert!(report.sentences().starts_with("found among "), "{}", report.sentences());
    let trace = report.failure.expect("it was found").trace;
    let lasso = trace.lasso.expect("the trace knows its loop");
    assert_eq!(trace.steps, u64::from(lasso.start) + 2 * u64::from(lasso.length));
    let rounds = rounds(&trace);
    assert_eq!(rounds.len(), 2, "{}", text::print(&trace));
    assert!(rounds[0] == rounds[1] && !rounds[0].is_empty(), "{}", text::print(&trace));
    let read = text::parse(&text::print(&trace)).expect("what is printed reads");
    assert_eq!(checker.replay(&read, body), trace);
    trace
}

/// Everything was visited, and no loop is fair.
#[track_caller]
fn finds_none(report: &Report) {
    passes(report);
    assert!(report.sentences().contains("no fair loop stays hot: looked for in all "), "{}", report.sentences());
}

#[test]
fn a_token_that_goes_around_while_a_request_waits_is_found() {
    for explorer in ["rtc", "rr", "prr", "ordered", "rtc-recv"] {
        for granularity in [Granularity::Send, Granularity::Op] {
            finds_loop(Checker::new().explorer(explorer).granularity(granularity), || token(false));
        }
    }
}

#[test]
fn it_is_found_where_the_request_comes_late() {
    let trace = finds_loop(exhaustive(), || token(true));
    assert!(trace.lasso.is_some_and(|lasso| lasso.start > 0));
}

#[test]
fn it_is_found_where_explorer_states_are_told_apart() {
    finds_loop(exhaustive().cache(Cache::StateExplorer), || token(false));
}

#[test]
fn a_request_that_is_tried_again_and_again_is_found() {
    let trace = finds_loop(exhaustive(), retries);
    let rounds = rounds(&trace);
    for (process, what) in [("main", "sends"), ("server", "sends"), ("main", "receives"), ("server", "receives")] {
        let is_there = rounds[0].iter().any(|(who, text)| *who == process && text.contains(what));
        assert!(is_there, "{process} {what}: {}", text::print(&trace));
    }
}

#[test]
fn a_trace_that_misplaces_its_loop_shows_none() {
    let trace = finds_loop(exhaustive(), || token(false));
    let lasso = trace.lasso.expect("it is one");
    for (start, length) in [(lasso.start, lasso.length + 1), (0, lasso.length), (lasso.start, lasso.length - 1)] {
        let lasso = Some(delay_core::live::Lasso { start, length });
        let now = exhaustive().replay(&Trace { lasso, ..trace.clone() }, || token(false));
        assert_ne!(now.verdict, Verdict::Fail, "{lasso:?}: {}", text::print(&now));
    }
    // Without its loop it is an execution that goes on.
    let now = exhaustive().max_steps(500).replay(&Trace { lasso: None, ..trace.clone() }, || token(false));
    assert_eq!(now.verdict, Verdict::Pass);
}

#[test]
fn a_trace_whose_bug_was_fixed_passes() {
    let trace = finds_loop(exhaustive(), || token(false));
    assert_eq!(exhaustive().replay(&trace, token_without_request).verdict, Verdict::Pass);
}

/// As [`token`], and nobody asks.
async fn token_without_request() {
    let (to_left, left) = mpsc::channel_with(1, Payload::visible());
    let (to_right, right) = mpsc::channel_with(1, Payload::visible());
    let first = to_left.clone();
    let passing = task::spawn_named("left", pass(left, to_right));
    task::spawn_named("right", pass(right, to_left));
    let _ = first.send(()).await;
    let _ = passing.await;
}

#[test]
fn nothing_is_said_of_loops_where_nothing_is_ever_owed() {
    let report = exhaustive().check(token_without_request);
    passes(&report);
    assert!(!report.sentences().contains("loop"), "{}", report.sentences());
}

/// After much that may come in any order, a token may go around.
async fn crowded() {
    let crowd: Vec<_> = (0..4)
        .map(|_| {
            task::spawn(async {
                for _ in 0..4 {
                    task::yield_now().await;
                }
            })
        })
        .collect();
    for one in crowd {
        let _ = one.await;
    }
    if flip().await {
        token(false).await;
    }
}

#[test]
fn a_stopped_search_looks_at_what_it_knows() {
    // The second bound begins with the loop and goes on with the crowd, until there are too many states.
    let found = exhaustive().max_states(60).check(crowded);
    finds(&found, "monitor Answers can stay hot for ever");
    assert_eq!(found.coverage.completed_bound, Some(0));
}

#[test]
fn a_stopped_search_claims_nothing_of_what_it_does_not_know() {
    let report = exhaustive().max_states(3).check(|| token(false));
    assert_eq!(report.stop, Stop::States);
    assert!(report.sentences().contains("nothing is claimed of others"), "{}", report.sentences());
    assert!(!report.sentences().contains("no fair loop stays hot:"), "{}", report.sentences());
}

mod fairness {
    //! Loops that only an unfair execution goes around.

    use super::{Answers, Said, checkpoint, exhaustive, finds_loop, finds_none, monitor, pass};
    use delay::{
        Payload, fair_choose, fair_flip, flip,
        net::{Delivery, Network},
        sync::mpsc,
        task,
        time::{Duration, sleep},
    };

    /// One process goes on and on; another could answer at any time.
    async fn busy_and_server(turns: impl AsyncFn()) {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        let (done, mut is_done) = mpsc::channel_with::<()>(1, Payload::visible());
        task::spawn_named("server", async move {
            task::yield_now().await;
            monitor::announce(Said::Answered);
            let _ = done.send(()).await;
        });
        loop {
            checkpoint("busy");
            turns().await;
            if is_done.try_recv().is_ok() {
                return;
            }
        }
    }

    #[test]
    fn an_enabled_process_is_not_starved() {
        finds_none(&exhaustive().check(|| busy_and_server(async || task::yield_now().await)));
    }

    #[test]
    fn an_explicit_choice_does_not_disable_the_others() {
        finds_none(&exhaustive().check(|| busy_and_server(async || assert!([false, true].contains(&flip().await)))));
    }

    #[test]
    fn a_timer_fires_at_last() {
        async fn timed(timed: bool) {
            monitor::register(Answers::default());
            monitor::announce(Said::Asked);
            task::spawn_named("server", async move {
                if timed {
                    sleep(Duration::from_secs(1)).await;
                    monitor::announce(Said::Answered);
                }
            });
            let (to_left, left) = mpsc::channel_with(1, Payload::visible());
            let (to_right, right) = mpsc::channel_with(1, Payload::visible());
            let first = to_left.clone();
            task::spawn(pass(left, to_right));
            task::spawn(pass(right, to_left));
            let _ = first.send(()).await;
        }
        finds_none(&exhaustive().check(|| timed(true)));
        finds_loop(exhaustive(), || timed(false));
    }

    /// An endpoint that sends itself ticks, while a request waits for it or not.
    async fn ticking(delivery: Delivery, asks: bool) {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        let network = Network::with_payload(delivery, Payload::<&str>::visible());
        let (mut server, client) = (network.endpoint("server"), network.endpoint("client"));
        let to = server.address();
        task::spawn_named("server", async move {
            let _ = server.send(to, "tick").await;
            loop {
                checkpoint("serving");
                match server.recv().await.message {
                    "tick" => drop(server.send(to, "tick").await),
                    _ => return monitor::announce(Said::Answered),
                }
            }
        });
        if asks {
            let _ = client.send(to, "request").await;
        }
    }

    #[test]
    fn a_message_that_can_be_taken_is_taken_at_last() {
        for delivery in [Delivery::Unordered, Delivery::PerSender, Delivery::Fifo] {
            finds_none(&exhaustive().check(|| ticking(delivery, true)));
            finds_loop(exhaustive(), || ticking(delivery, false));
        }
    }

    /// Which of two queues to look at first is up to chance.
    async fn two_queues() {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        let (ticks, mut tick) = mpsc::channel_with(1, Payload::visible());
        let (requests, mut request) = mpsc::channel_with(1, Payload::visible());
        task::spawn_named("server", async move {
            let _ = ticks.send(()).await;
            loop {
                checkpoint("serving");
                tokio::select! {
                    Some(()) = tick.recv() => drop(ticks.send(()).await),
                    Some(()) = request.recv() => return monitor::announce(Said::Answered),
                }
            }
        });
        let _ = requests.send(()).await;
    }

    #[test]
    fn a_select_does_not_starve_a_branch_with_a_message() {
        finds_none(&exhaustive().check(two_queues));
    }

    /// Tries until it gets through.
    async fn tries(gets_through: impl AsyncFn() -> bool) {
        monitor::register(Answers::default());
        monitor::announce(Said::Asked);
        loop {
            checkpoint("trying");
            if gets_through().await {
                return monitor::announce(Said::Answered);
            }
        }
    }

    #[test]
    fn a_fair_choice_takes_each_outcome_at_last() {
        finds_none(&exhaustive().check(|| tries(async || fair_flip().await)));
        finds_none(&exhaustive().check(|| tries(async || fair_choose(3).await == 2)));
        finds_loop(exhaustive(), || tries(async || flip().await));
        finds_loop(exhaustive(), || tries(async || delay::choose(3).await == 2));
        // Both outcomes lead around: fairness does not help.
        let trace = finds_loop(exhaustive(), || tries(async || fair_choose(2).await > 1));
        let outcomes: Vec<&str> = trace.events.iter().map(|line| line.text.as_str()).collect();
        assert!(outcomes.contains(&"chooses 0 of 2") && outcomes.contains(&"chooses 1 of 2"), "{outcomes:?}");
    }

    #[test]
    fn an_answer_within_a_step_ends_what_was_owed() {
        async fn answers(answers: bool) {
            monitor::register(Answers::default());
            monitor::announce(Said::Asked);
            loop {
                checkpoint("serving");
                task::yield_now().await;
                if answers {
                    monitor::announce(Said::Answered);
                    monitor::announce(Said::Asked);
                }
            }
        }
        finds_none(&exhaustive().check(|| answers(true)));
        finds_loop(exhaustive(), || answers(false));
    }
}
