//! Our types against tokio's: the same code, the same results.

mod driver;

use delay::{net, sync::mpsc, task};

#[test]
fn smoke() {
    let seen = driver::every_schedule(|| async {
        let (tx, mut rx) = mpsc::channel(1);
        for i in 0..3 {
            let tx = tx.clone();
            task::spawn(async move { tx.send(i).await.unwrap() });
        }
        drop(tx);
        let mut all = vec![];
        while let Some(i) = rx.recv().await {
            all.push(i);
        }
        all
    });
    println!("{seen:?}");
    assert_eq!(seen.len(), 6);
}

#[test]
fn smoke_net() {
    for delivery in [net::Delivery::Fifo, net::Delivery::PerSender, net::Delivery::Unordered] {
        let seen = driver::every_schedule(|| async move {
            let net = net::Network::<(u8, u8)>::new(delivery);
            let mut main = net.endpoint("main");
            for i in 0..2 {
                let ep = net.endpoint(format!("p{i}"));
                let to = net.address("main");
                task::spawn(async move {
                    ep.send(to, (i, 0)).await.unwrap();
                    ep.send(to, (i, 1)).await.unwrap();
                });
            }
            let mut all = vec![];
            for _ in 0..4 {
                all.push(main.recv().await.message);
            }
            let flip = delay::flip().await;
            assert!(delay::choose(3).await < 3);
            (all, flip)
        });
        println!("{delivery:?}: {} outcomes", seen.len());
    }
}
