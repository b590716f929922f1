//! Strangers that flood, lie, or speak something else: they are shown out, and nobody else notices.

use crate::{
    events::Events,
    rig::{Calm, Dice, Stranger, Text, VERSION, WELCOME, framed, guard, hello, limits, message, three},
};
use delay::net::cluster::Limits;
use std::{
    net::SocketAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::io::AsyncWriteExt;

/// Bytes that are nearly what a node sends: whatever comes of them, the process and its other connections live.
#[tokio::test]
async fn mutated_frames_do_no_harm() {
    let _calm = Calm::watched();
    let (nets, gamma) = without_beta(limits()).await;
    let mut c = nets[2].endpoint("c");
    let mut dice = Dice(5);
    let valid: Vec<Vec<u8>> = std::iter::once(hello(VERSION, "beta", "gamma"))
        .chain((0..6).map(|n| message("b", "c", &"x".repeat(n * 40))))
        .chain([vec![0]])
        .map(|frame| framed(&frame))
        .collect();
    for _ in 0..1_000 {
        let mut bytes = valid.concat();
        // Half of them get past the introduction.
        let from = [0, valid[0].len()][dice.below(2)];
        for _ in 0..=dice.below(4) {
            mutate(&mut dice, &mut bytes, from);
        }
        let mut stranger = Stranger::calls(gamma).await;
        stranger.bytes(&bytes).await;
        let _ = stranger.0.shutdown().await;
        stranger.ends().await;
        while c.try_recv().is_some() {}
    }
    drop(c);
    let (a, mut b2) = (nets[0].endpoint("a"), nets[0].endpoint("a2"));
    a.send(b2.address(), "well".to_owned()).await.expect("it is there");
    guard(b2.recv()).await;
}

/// Changes, repeats, moves or loses a few bytes after the first so many.
fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>, from: usize) {
    let Some(most) = bytes.len().checked_sub(from + 1).filter(|most| *most > 0) else { return };
    let at = from + dice.below(most);
    let end = (at + 1 + dice.below(8)).min(bytes.len());
    match dice.below(5) {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = [0, 0x7f, 0x80, 0xff][dice.below(4)],
        2 => drop(bytes.drain(at..end)),
        3 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        _ => bytes.truncate(at),
    }
}

/// All that a stranger can do at once, and for as long as it likes: what the node holds for it stays within the limits.
#[test]
fn memory_is_bounded_under_siege() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let used = allocation_counter::measure(|| runtime.block_on(siege()));
    // Three nodes and the strangers' own side included.
    assert!(used.bytes_max < 200_000, "{} bytes", used.bytes_max);
}

async fn siege() {
    let (nets, gamma) = without_beta(limits()).await;
    // Nobody receives from c. Silent ones, some in the middle of an introduction.
    for _ in 0..20 {
        let mut silent = Vec::new();
        for n in 0..100 {
            let mut stranger = Stranger::calls(gamma).await;
            if n % 2 == 0 {
                stranger.bytes(&framed(&[b'x'; 500])[..400]).await;
            }
            silent.push(stranger);
        }
    }
    let valid = framed(&message("b", "c", &"x".repeat(4_000)));
    for _ in 0..20 {
        // As fast as it is taken, and further in the middle of a message.
        let stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
        let mut sent = 0;
        let full = Duration::from_millis(20);
        while sent < 10_000_000
            && let Ok(Ok(())) = tokio::time::timeout(full, stranger.0.writable()).await
        {
            sent += stranger.0.try_write(&valid[sent % valid.len()..]).unwrap_or(0);
        }
        // To nobody: each is dropped.
        let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
        for _ in 0..100 {
            stranger.message("b", "nobody", &"x".repeat(4_000)).await;
        }
        stranger.message("nobody", "c", "").await;
        stranger.bytes(&u32::MAX.to_be_bytes()).await;
        stranger.ends().await;
    }
    let mut c = nets[2].endpoint("c");
    let mut held = 0;
    while let Some(got) = c.try_recv() {
        held += got.message.len();
    }
    assert!(held <= limits().inbox_bytes_max, "{held} bytes were in the inbox");
}

/// Nodes reach each other.
async fn all_is_well([alpha, _beta, gamma]: &[Text; 3]) {
    let (a, mut c) = (alpha.endpoint("a"), gamma.endpoint("c"));
    a.send(alpha.address("c"), "well".to_owned()).await.expect("c is there");
    assert_eq!(guard(c.recv()).await.message, "well");
}

/// Nobody is called beta but the stranger: the real one is gone.
async fn without_beta(limits: Limits) -> ([Text; 3], SocketAddr) {
    let (nets, [_, _, gamma]) = three(limits).await;
    nets[1].shutdown(Duration::from_mins(1)).await.expect("nothing is queued");
    (nets, gamma)
}

#[tokio::test]
async fn malformed_frames_close_their_connection() {
    let (events, _guard) = Events::listen();
    let (nets, gamma) = without_beta(limits()).await;
    let frames: [&[u8]; 7] = [
        b"",
        b"\x07",
        b"\x00and more",
        b"\x01\x01b",
        b"\x01\x01b\x01c\x05shor",
        b"\x01\x01b\x01c\x02long",
        b"\x01\x01b\x01c\x02\xff\xff",
    ];
    for frame in frames {
        let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
        stranger.frame(frame).await;
        stranger.ends().await;
        let told = events.with("the node's connection was closed").await;
        assert!(told.contains("a malformed frame") || told.contains("a frame that has no place here"), "{told}");
        events.clear();
    }
    all_is_well(&nets).await;
}

#[tokio::test]
async fn an_oversized_frame_closes_its_connection_before_it_is_read() {
    let (events, _guard) = Events::listen();
    let (nets, gamma) = without_beta(limits()).await;
    let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
    // 4 GiB are announced and never sent.
    stranger.bytes(&u32::MAX.to_be_bytes()).await;
    stranger.ends().await;
    events.with("a frame of 4294967295 bytes was announced, at most 4096 are allowed here").await;
    // Before the introduction next to nothing is allowed.
    let mut stranger = Stranger::calls(gamma).await;
    stranger.bytes(&1_000_u32.to_be_bytes()).await;
    stranger.ends().await;
    events.with("a frame of 1000 bytes was announced, at most 512 are allowed here").await;
    all_is_well(&nets).await;
}

#[tokio::test]
async fn who_speaks_something_else_is_shown_out() {
    let (nets, gamma) = without_beta(limits()).await;
    let mut http = Stranger::calls(gamma).await;
    http.bytes(b"GET / HTTP/1.1\r\n\r\n").await;
    http.ends().await;
    let mut dice = Dice(1);
    for _ in 0..200 {
        let mut stranger = Stranger::calls(gamma).await;
        let bytes = dice.bytes(256);
        stranger.frame(&bytes).await;
        stranger.ends().await;
        let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
        // A kind of frame that does not exist, whatever follows.
        stranger.frame(&[&[2 + bytes[0] % 100], &bytes[..]].concat()).await;
        stranger.ends().await;
    }
    all_is_well(&nets).await;
}

#[tokio::test]
async fn a_wrong_version_is_told_ours() {
    let (nets, gamma) = without_beta(limits()).await;
    let mut stranger = Stranger::calls(gamma).await;
    stranger.introduces(VERSION + 1, "beta", "gamma").await;
    assert_eq!(stranger.answer().await[..7], WELCOME[..7]);
    stranger.ends().await;
    all_is_well(&nets).await;
}

#[tokio::test]
async fn who_is_not_of_the_cluster_or_calls_somebody_else_is_refused() {
    let (nets, gamma) = without_beta(limits()).await;
    for (from, to, refusal) in [("zeta", "gamma", 1), ("gamma", "gamma", 1), ("beta", "alpha", 0)] {
        let mut stranger = Stranger::calls(gamma).await;
        stranger.introduces(VERSION, from, to).await;
        assert_eq!(stranger.answer().await, [&WELCOME[..7], &[1, refusal]].concat(), "{from} to {to}");
        stranger.ends().await;
    }
    all_is_well(&nets).await;
}

#[tokio::test]
async fn messages_from_or_to_names_that_are_not_hosted_there_are_dropped() {
    let (events, _guard) = Events::listen();
    let (nets, gamma) = without_beta(limits()).await;
    let mut c = nets[2].endpoint("c");
    let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
    stranger.message("b", "nobody", "no such recipient").await;
    stranger.message("b", "a", "not hosted here").await;
    stranger.message("a", "c", "not hosted there").await;
    stranger.message("b", "c", "good").await;
    let got = guard(c.recv()).await;
    assert_eq!((got.from.name(), got.message.as_str()), ("b", "good"));
    let told = events.all();
    let told: Vec<_> = told.iter().filter(|told| told.contains("messages are dropped")).collect();
    assert!(matches!(told[..], [told] if told.contains("from=b to=nobody")), "{told:?}");
}

/// A clock that is half an hour ahead takes the recording along. One from the end of time does not; its message counts all the same.
#[tokio::test]
async fn a_clock_that_is_far_ahead_is_not_believed() {
    let (nets, gamma) = without_beta(limits()).await;
    let mut c = nets[2].endpoint("c");
    let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than that");
    let ahead = u64::try_from((now + Duration::from_mins(30)).as_micros()).expect("it is not that late");
    for clock in [ahead << 12, u64::MAX] {
        stranger.message_at(clock, "b", "c", "late").await;
        assert_eq!(guard(c.recv()).await.message, "late");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("gamma.jsonl");
    let recording = delay::record::start(&path, "gamma", delay::record::Vocabulary::new()).expect("it can be written");
    recording.finish().expect("it was written");
    let text = std::fs::read_to_string(&path).expect("text");
    let times = text.lines().map(|line| -> u64 {
        let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        line["at"][0].as_u64().expect("it has a time")
    });
    assert!(times.clone().all(|time| (ahead..ahead + 3_600_000_000).contains(&time)), "{ahead}: {text}");
    assert!(text.contains(r#""type":"skew""#), "{text}");
}

/// Far more connections than are allowed to be silent: those before are closed, and a node still gets in.
#[tokio::test]
async fn a_flood_of_connections_is_bounded() {
    let patient = Limits { connect: Duration::from_mins(10), ..limits() };
    let (nets, gamma) = without_beta(patient).await;
    let mut flood = Vec::new();
    for n in 0..3_000 {
        flood.push(Stranger::calls(gamma).await);
        // Not more files than a process may have open.
        if n % 100 == 99 {
            flood.drain(..flood.len() - 100);
        }
    }
    let mut stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
    stranger.message("b", "c", "in").await;
    let mut c = nets[2].endpoint("c");
    assert_eq!(guard(c.recv()).await.message, "in");
    // The last are those that may still be there.
    flood.truncate(100 - limits().newcomers_max);
    for silent in flood {
        silent.ends().await;
    }
}

/// A node calls again before its last connection was given up: the new one counts, the old one is closed.
#[tokio::test]
async fn a_node_has_one_connection() {
    let (nets, gamma) = without_beta(limits()).await;
    let mut c = nets[2].endpoint("c");
    let mut old = Stranger::welcomed(gamma, "beta", "gamma").await;
    old.message("b", "c", "1").await;
    assert_eq!(guard(c.recv()).await.message, "1");
    let mut new = Stranger::welcomed(gamma, "beta", "gamma").await;
    old.message("b", "c", "too late").await;
    old.ends().await;
    new.message("b", "c", "2").await;
    assert_eq!(guard(c.recv()).await.message, "2");
}

/// A node that sends more than anybody receives is read no further, whatever it does.
#[tokio::test]
async fn a_flood_of_messages_is_bounded() {
    let (nets, gamma) = without_beta(limits()).await;
    let stranger = Stranger::welcomed(gamma, "beta", "gamma").await;
    let mut frame = b"\x01\x01b\x01c\0\0\0\0\0\0\0\0\xa0\x1f".to_vec(); // 4000 bytes follow
    frame.extend([b'x'; 4_000]);
    let frame = [&u32::try_from(frame.len()).expect("short").to_be_bytes(), &frame[..]].concat();
    // Nobody receives: in the end the socket takes nothing more.
    let mut sent = 0;
    let full = Duration::from_millis(300);
    while let Ok(Ok(())) = tokio::time::timeout(full, stranger.0.writable()).await {
        match stranger.0.try_write(&frame[sent % frame.len()..]) {
            Ok(n) => sent += n,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => panic!("the connection of a slow inbox was closed: {error}"),
        }
    }
    let mut c = nets[2].endpoint("c");
    let mut at_once = 0;
    while c.try_recv().is_some() {
        at_once += 1;
    }
    assert!(at_once <= 16_384 / 4_000, "{at_once} messages were in the inbox");
    // Now that there is room the rest comes.
    for _ in at_once..sent / frame.len() {
        assert_eq!(guard(c.recv()).await.message.len(), 4_000);
    }
}
