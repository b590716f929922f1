//! The catalogue: four protocols as their authors would write them, each correct and with seeded bugs.
//!
//! A protocol is a room: `protocol.rs` is plain async Rust over `delay::{net, sync, task, time}`, `spec.rs` a safety
//! monitor fed by what the protocol announces, `bugs.rs` the mutations it can be built with. The drivers are the
//! `#[delay_test]`s in `tests/<protocol>.rs`: they start the protocol, choose what its environment does, and wait for
//! its result. A correct variant ends with its coverage, a seeded bug with the schedule that shows it.
//!
//! | protocol | source | what is shown of the correct variant |
//! |---|---|---|
//! | [`two_phase_commit`] | Gray 1978 | one transaction, two undecided participants, a coordinator that may lose patience at any time, a network that reorders: all 10,522 states |
//! | [`chain_replication`] | van Renesse, Schneider 2004 | three servers of which any one fails at any time, an update and a read: all 4,065 states |
//! | [`paxos`] | Lamport 2001 | two proposers, three acceptors, each proposer cut off from one: all 1,735 states in macro steps |
//! | [`ring_election`] | Chang, Roberts 1979 | every ring of four: all 882 states; every ring of three with links that reorder: all 310 |
//!
//! | bug | its mutation | violates | found by | after |
//! |---|---|---|---|---|
//! | T1 | [`CountsStaleVotes`](two_phase_commit::Bug::CountsStaleVotes) | monitor | `prr`, `ses`, 2 delays | 612 states |
//! | T2 | [`CountsVotesTwice`](two_phase_commit::Bug::CountsVotesTwice) | monitor | `rtc`, `ses`, 2 delays | 170 states |
//! | T3 | [`CommitsEarly`](two_phase_commit::Bug::CommitsEarly) | monitor | `rtc`, `ss`, 3 delays | 6,089 executions |
//! | T6 | [`KeepsOneTransaction`](two_phase_commit::Bug::KeepsOneTransaction) | assertion | `random` | 1 execution |
//! | C2 | [`IndexesEmptySent`](chain_replication::Bug::IndexesEmptySent) | index out of bounds | `rtc`, `ses`, 0 delays | 27 states |
//! | C5 | [`TakesFromAnybody`](chain_replication::Bug::TakesFromAnybody) | monitor | `rr`, `ses`, 8 delays | 595 states |
//! | C6 | [`HeadForgets`](chain_replication::Bug::HeadForgets) | monitor | `prr`, `ss`, 0 delays | 1 execution |
//! | C8 | [`SilentIfEmpty`](chain_replication::Bug::SilentIfEmpty) | deadlock | `rtc`, `ses+ss`, 1 delay | 101 states |
//! | C11 | [`KeepsSent`](chain_replication::Bug::KeepsSent) | deadlock | `ordered`, `ses`, 1 delay | 86 states |
//! | X1 | [`ForgetsPromise`](paxos::Bug::ForgetsPromise) | monitor | `rtc`, `ses`, 1 delay | 261 states |
//! | X2 | [`TakesFirstValue`](paxos::Bug::TakesFirstValue) | monitor | `random` | 2 executions |
//! | X4 | [`AcceptsLowerBallot`](paxos::Bug::AcceptsLowerBallot) | monitor | `rr`, `ss`, 0 delays | 1 execution |
//! | X5 | [`ForgetsAccepted`](paxos::Bug::ForgetsAccepted) | monitor | `ordered`, `ses`, 0 delays | 40 states |
//! | L1 | [`ForwardsSmaller`](ring_election::Bug::ForwardsSmaller) | monitor | `rtc`, `ses`, 0 delays | 18 states |
//! | L1 | [`SwallowsLarger`](ring_election::Bug::SwallowsLarger) | deadlock | `rr`, `ses`, 0 delays | 6 states |
//! | L2 | [`TrustsOrder`](ring_election::Bug::TrustsOrder) | monitor | `rtc`, `ss`, 2 delays | 378 executions |
//!
//! The identifiers are those of the list the bugs were drawn from: public models of the P language and Zing, and issues
//! of real systems.
//!
//! `src/bin/two_phase_on_tokio.rs` runs two-phase commit on tokio, and `tests/custom_explorer.rs` brings an explorer of
//! its own.

pub mod chain_replication;
pub mod dispatcher;
pub mod durable_paxos;
pub mod failure_detector;
pub mod paxos;
pub mod reliable_channel;
pub mod replicated_commit;
pub mod ring_election;
pub mod timer_client;
pub mod two_phase_commit;
