//! x
use delay::{Cache, Checker, Granularity, Mode, Payload, sync::mpsc, task};

fn fanin(n: u64) -> impl Fn() -> std::pin::Pin<Box<dyn Future<Output = ()>>> + Send + Sync {
    move || {
        Box::pin(async move {
            let (tx, mut rx) = mpsc::unbounded_channel_with(Payload::<u64>::visible());
            task::spawn_named("R", async move {
                for _ in 0..n {
                    rx.recv().await;
                }
            });
            for i in 0..n {
                let tx = tx.clone();
                task::spawn_named(format!("S{i}"), async move {
                    task::yield_now().await;
                    let _ = tx.send(i);
                    std::future::pending::<()>().await;
                });
            }
            std::mem::forget(tx);
        })
    }
}

#[test]
fn counts() {
    for n in 2..4 {
        for g in [Granularity::Send, Granularity::Op] {
            for e in ["rtc", "rr"] {
                let c = Checker::new().explorer(e).granularity(g);
                let r = c.check(fanin(n));
                println!("{n} {g:?} {e} {:?} {}", r.stop, r.sentences());
                println!("{:?}", r.coverage.states_per_bound);
                let r = c.cache(Cache::Off).check(fanin(n));
                println!("{n} {g:?} {e} {:?} {}", r.stop, r.sentences());
                let r = c.mode(Mode::Ss).max_delays(3).check(fanin(n));
                println!("{:?} {}", r.stop, r.sentences());
            }
        }
    }
}
