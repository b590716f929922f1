//! A process that is killed again and again: nothing it acknowledged is lost, and nobody has to repair anything.

use crate::child::{child, script, told};
use std::io::{BufRead, BufReader, Read};

const ROUNDS: usize = 30;

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = script(&[&["keep", directory.path().to_str().expect("text")], &["until-killed"]]);
    let mut seed: u64 = 30;
    // Knuth's MMIX generator; its upper half is random enough.
    let mut below = |limit: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % limit
    };
    let (mut appended, mut wrote) = (0, 0);
    for round in 0..ROUNDS {
        let mut process = child(&script).spawn().expect("it starts");
        let lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let (after, spins) = (below(25), below(200_000));
        let mut heard = 0;
        let mut has_started = false;
        for line in lines {
            let line = line.expect("text");
            let Some(told) = told(&line) else { continue };
            let words: Vec<&str> = told.split(' ').collect();
            let number = |at: usize| words[at].parse::<u64>().expect("a number");
            match words[0] {
                "holds" => {
                    assert!(number(1) >= appended, "round {round}: {told}, but {appended} were acknowledged");
                    assert!(number(2) >= wrote, "round {round}: {told}, but {wrote} was acknowledged");
                    (appended, wrote, has_started) = (number(1), number(2), true);
                }
                "appended" => appended = number(1),
                "wrote" => wrote = number(1),
                other => panic!("{other}"),
            }
            if heard == after {
                // It goes on meanwhile; where it is hit is not up to us.
                (0..spins).for_each(|_| std::hint::spin_loop());
                process.kill().expect("it runs");
            }
            heard += 1;
        }
        process.wait().expect("it was killed");
        let mut complaint = String::new();
        process.stderr.take().expect("piped").read_to_string(&mut complaint).expect("text");
        assert!(has_started, "round {round}: {complaint}");
    }
    assert!(appended >= ROUNDS as u64 / 2, "it got on: {appended}");
}
