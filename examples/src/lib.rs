//! The catalogue: ten protocols, and the services they lead to, as their authors would write them, each correct and with seeded bugs.
//!
//! A protocol is a room: `protocol.rs` is plain async Rust over `delay::{net, sync, task, time}`, `spec.rs` the monitors fed
//! by what the protocol announces, for safety and where `is_hot` stands for liveness, `bugs.rs` the mutations it can be
//! built with, `abstraction.rs` what stands in for it in the tests of its clients. The drivers are the
//! `#[delay_test]`s in `tests/<protocol>.rs`: they start the protocol, choose what its environment does, and wait for
//! its result. A correct variant ends with its coverage, a seeded bug with the schedule that shows it.
//!
//! | protocol | source | what is shown of the correct variant |
//! |---|---|---|
//! | [`two_phase_commit`] | Gray 1978 | one transaction, two undecided participants, a coordinator that may lose patience at any time, a network that reorders: all 10,522 states |
//! | [`chain_replication`] | van Renesse, Schneider 2004 | three servers of which any one fails at any time, an update and a read: all 4,065 states |
//! | [`paxos`] | Lamport 2001 | two proposers, three acceptors, each proposer cut off from one: all 3,859 states in macro steps |
//! | [`ring_election`] | Chang, Roberts 1979 | every ring of four: all 882 states; every ring of three with links that reorder: all 310 |
//! | [`durable_paxos`] | Lamport 2001, section 2.5 | two proposers, and between them an acceptor that crashes and starts again at any time: all 8,409 states in macro steps |
//! | [`timer_client`] | the P report, listing 1 | three requests to a server that may keep silent, with the abstract timer: all 2,136 states; with a timer on a clock: all 1,407; the one conforms to the other |
//! | [`reliable_channel`] | the P report, listings 2 to 8 | two values over a network that reorders, loses a packet and repeats one: all 3,021 states; it conforms to its abstraction; a client over both |
//! | [`failure_detector`] | the P report, chain replication's | slow messages, a node that crashes at any time: all 287 states; fast ones, two nodes of which one crashes, a message that is lost: all 796; with fast ones it conforms to a perfect one |
//! | [`dispatcher`] | the P report, section 7 | two requests, two replicas, two changes of the membership: all 5,741 states in macro steps; it conforms to its abstraction |
//! | [`replicated_commit`] | the P report, listings 9 and 10 | two coordinators, two participants that are single nodes: all 998 states; primary and backup, whose primary may crash, conform to the single node; one coordinator over two of these: all 1,068 in macro steps |
//!
//! [`services`] are the P report's services as they are deployed: a hash table, lists, and accounts with atomic transfers, replicated by
//! chains or by majorities. Each of their protocols is a room of its own:
//!
//! | protocol | source | what is shown of the correct variant |
//! |---|---|---|
//! | [`services::chain`] | van Renesse, Schneider 2004; the P report, section 6 | two replicas, a head that is suspected wrongly: all 3,569 states in macro steps; one that crashes and starts again: all 2,942; one whose request or answer is lost: all 64; one message that is lost, and time: all 1,058; replicas that join, up to 3 delays; with master and dispatcher, of two replicas either one gone, up to 2; it conforms to the single node, up to 2 |
//! | [`services::multi_paxos`] | Lamport 2001, section 3 | two leaders that share one acceptor, up to 4 delays; a message that is lost, and time: all 1,130; an acceptor that crashes: all 67 states; one that is behind: all 25; it conforms to the single node, up to 1 |
//! | [`services::commit`] | the P report, section 6; Gray, Lamport 2006 | a transfer over single nodes that somebody else may end: all 3,752 states |
//!
//! The P report is Desai, Jackson, Phanishayee, Qadeer, Seshia, "Building reliable distributed systems with P", 2015.
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
//! | C8 | [`SilentIfEmpty`](chain_replication::Bug::SilentIfEmpty) | deadlock | `rtc`, `ses+ss`, 1 delay | 100 states |
//! | C11 | [`KeepsSent`](chain_replication::Bug::KeepsSent) | deadlock | `ordered`, `ses`, 1 delay | 86 states |
//! | X1 | [`ForgetsPromise`](paxos::Bug::ForgetsPromise) | monitor | `rtc`, `ses`, 1 delay | 261 states |
//! | X2 | [`TakesFirstValue`](paxos::Bug::TakesFirstValue) | monitor | `random` | 2 executions |
//! | X4 | [`AcceptsLowerBallot`](paxos::Bug::AcceptsLowerBallot) | monitor | `rr`, `ss`, 0 delays | 1 execution |
//! | X5 | [`ForgetsAccepted`](paxos::Bug::ForgetsAccepted) | monitor | `ordered`, `ses`, 0 delays | 40 states |
//! | L1 | [`ForwardsSmaller`](ring_election::Bug::ForwardsSmaller) | monitor | `rtc`, `ses`, 0 delays | 18 states |
//! | L1 | [`SwallowsLarger`](ring_election::Bug::SwallowsLarger) | deadlock | `rr`, `ses`, 0 delays | 6 states |
//! | L2 | [`TrustsOrder`](ring_election::Bug::TrustsOrder) | monitor | `rtc`, `ss`, 2 delays | 378 executions |
//! |  | [`PromiseNotSynced`](durable_paxos::Bug::PromiseNotSynced) | monitor | `rtc`, `ses`, 7 delays | 6,965 states |
//! |  | [`AcceptanceNotSynced`](durable_paxos::Bug::AcceptanceNotSynced) | monitor | `rtc`, `ses`, 4 delays | 2,942 states |
//! |  | [`StoresPromisesOnly`](durable_paxos::Bug::StoresPromisesOnly) | monitor | `rtc`, `ses`, 3 delays | 1,866 states |
//! | T10 | [`LeavesTimeout`](timer_client::Bug::LeavesTimeout) | monitor | `rtc`, `ses`, 3 delays | 175 states |
//! |  | [`CannotFireNow`](timer_client::Bug::CannotFireNow) | unhandled message | `rr`, `ses`, 2 delays | 25 states |
//! |  | [`DropsTimeout`](timer_client::Bug::DropsTimeout) | deadlock | `ordered`, `ses`, 2 delays | 28 states |
//! | N1 | [`DeliversAgain`](reliable_channel::Bug::DeliversAgain) | monitor | `rtc`, `ses`, 1 delay | 14 states |
//! | N3 | [`GivesUpSilently`](reliable_channel::Bug::GivesUpSilently) | hot monitor | `rtc`, `ses`, 2 delays | 53 states |
//! |  | [`CountsStaleAcks`](reliable_channel::Bug::CountsStaleAcks) | hot monitor | `rtc`, `ses`, 2 delays | 103 states |
//! | F1 | [`CountsStalePongs`](failure_detector::Bug::CountsStalePongs) | monitor | `rtc`, `ses`, 4 delays | 868 states |
//! | F3 | [`KeepsItToItself`](failure_detector::Bug::KeepsItToItself) | hot monitor | `rr`, `ses`, 1 delay | 47 states |
//! |  | [`AsksOnce`](failure_detector::Bug::AsksOnce) | monitor | `rtc`, `ses`, 1 delay | 21 states |
//! |  | [`TakesOlderMembership`](dispatcher::Bug::TakesOlderMembership) | hot monitor | `rtc`, `ses`, 2 delays | 496 states |
//! |  | [`ForgetsRefused`](dispatcher::Bug::ForgetsRefused) | hot monitor | `rr`, `ses`, 0 delays | 25 states |
//! |  | [`SendsAllAgain`](dispatcher::Bug::SendsAllAgain) | monitor | `rtc`, `ses`, 1 delay | 75 states |
//! | T3 | [`SkipsLast`](replicated_commit::Bug::SkipsLast) | monitor | `rtc`, `ses`, 1 delay | 81 states |
//! |  | [`LeavesOthersWaiting`](replicated_commit::Bug::LeavesOthersWaiting) | hot monitor | `rr`, `ses`, 1 delay | 81 states |
//! | S1 | [`AppliesAgain`](replicated_commit::Bug::AppliesAgain) | assertion, conformance | `rtc`, `ses`, 2 delays | 521 states |
//! |  | [`AnswersFirst`](replicated_commit::Bug::AnswersFirst) | conformance | `rtc`, `ses` | |
//!
//! | C5 | [`TakesOlderViews`](services::chain::Bug::TakesOlderViews) | assertion | `rtc`, `ses`, 2 delays | 246 states |
//! | C12 | [`AnswersBeforeTheTail`](services::chain::Bug::AnswersBeforeTheTail) | linearizability, conformance | `rtc`, `ses`, 3 delays | 900 states |
//! | S1 | [`ForgetsTickets`](services::chain::Bug::ForgetsTickets) | linearizability | `rtc`, `ses`, 1 delay | 32 states |
//! |  | [`ForwardsBeforeStoring`](services::chain::Bug::ForwardsBeforeStoring) | assertion | `rtc`, `ses`, 3 delays | 709 states |
//! |  | [`JoinsWithoutTransfer`](services::chain::Bug::JoinsWithoutTransfer) | linearizability | `rtc`, `ses`, 3 delays | 7,289 states |
//! |  | [`KeepsWhatDiffers`](services::chain::Bug::KeepsWhatDiffers) | monitor | `rtc`, `ses`, 3 delays | 11,562 states |
//! |  | [`ForgetsView`](services::chain::Bug::ForgetsView) | monitor | `rtc`, `ses`, 4 delays | 1,565 states |
//! | X4 | [`ForgetsPromise`](services::multi_paxos::Bug::ForgetsPromise) | monitor | `rtc`, `ses`, 3 delays | 3,747 states |
//! | X2 | [`TakesFirstValue`](services::multi_paxos::Bug::TakesFirstValue) | monitor | `rr`, `ses`, 6 delays | 13,514 states |
//! | M1 | [`ErasesAccepted`](services::multi_paxos::Bug::ErasesAccepted) | monitor | `rtc`, `ses`, 3 delays | 3,124 states |
//! | M3 | [`PromisesLower`](services::multi_paxos::Bug::PromisesLower) | monitor | `rtc`, `ses`, 1 delay | 229 states |
//! | M5 | [`CountsAnySlot`](services::multi_paxos::Bug::CountsAnySlot) | monitor | `rtc`, `ses`, 3 delays | 9,209 states |
//! | M6 | [`AppliesPastGap`](services::multi_paxos::Bug::AppliesPastGap) | monitor | `rtc`, `ses`, 1 delay | 522 states |
//! |  | [`PromiseNotSynced`](services::multi_paxos::Bug::PromiseNotSynced) | assertion | `rtc`, `ses`, 3 delays | 98 states |
//! |  | [`NoCatchUp`](services::multi_paxos::Bug::NoCatchUp) | monitor | `rtc`, `ses`, 0 delays | 10 states |
//! | T3 | [`SkipsLast`](services::commit::Bug::SkipsLast) | assertion | `rtc`, `ses`, 1 delay | 137 states |
//! |  | [`TrustsItself`](services::commit::Bug::TrustsItself) | assertion | `rtc`, `ses`, 3 delays | 1,705 states |
//!
//! The identifiers are those of the list the bugs were drawn from: public models of the P language and Zing, and issues
//! of real systems; those without one are ours.
//!
//! `src/bin/two_phase_on_tokio.rs` runs two-phase commit on tokio, `src/bin/two_phase_deployed.rs` between processes over TCP,
//! `src/bin/services.rs` is a node of replicated services, `src/bin/judge` kills these under a load and measures them, and `tests/custom_explorer.rs` brings an explorer of
//! its own.

pub mod chain_replication;
pub mod dispatcher;
pub mod durable_paxos;
pub mod failure_detector;
pub mod paxos;
pub mod reliable_channel;
pub mod replicated_commit;
pub mod ring_election;
pub mod services;
pub mod timer_client;
pub mod two_phase_commit;
