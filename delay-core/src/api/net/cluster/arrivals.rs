//! Takes connections from other nodes and puts what they send into the inboxes of this one.
//!
//! Invariants: a node has at most one connection to here, and a new one is welcomed only when nothing of the last can arrive any more, so
//! that a node's messages stay in order; a connection that has not introduced itself holds next to nothing, and there are at most
//! `newcomers_max` of them.

use super::{
    Limits,
    limits::REPLACED_MAX,
    wire::{Answer, Ended, Header, Hello, Reader, Refusal, Writer, header, introduced, introduction, message},
};
use crate::api::{
    net::{
        Address, Envelope,
        outlet::Arrived,
        transport::{Caller, Identity, Transport},
    },
    record::clock,
};
use serde::de::DeserializeOwned;
use std::{
    collections::{BTreeMap, VecDeque},
    io::ErrorKind,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf, split},
    sync::{Mutex, Notify, Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;

/// Where messages from other nodes for an endpoint of this one wait.
pub(super) struct Inbox<M> {
    pub(super) address: Address,
    pub(super) arrived: mpsc::UnboundedSender<Arrived<M>>,
    pub(super) room: Arc<Semaphore>,
}

/// What every connection to this node needs.
pub(super) struct Arrivals<M> {
    pub(super) here: String,
    pub(super) limits: Limits,
    pub(super) inboxes: BTreeMap<String, Inbox<M>>,
    pub(super) others: BTreeMap<String, Other>,
}

/// Another node.
#[derive(Default)]
pub(super) struct Other {
    /// The names it hosts.
    pub(super) hosts: BTreeMap<String, Address>,
    /// Told when it has connected to here: it is up, and can be called without waiting any longer.
    pub(super) is_up: Arc<Notify>,
    /// How many of its messages since it has connected were from or to names that are not hosted there or here.
    strays: AtomicU64,
}

/// A node's place among those that are connected.
#[derive(Default)]
struct Seat {
    /// The process that has connected last.
    process: Option<u64>,
    /// Those before it, the last first. They are not let in again: two that live would push each other out for ever.
    replaced: VecDeque<u64>,
    /// Its connection, that may have ended.
    serving: Option<AbortOnDropHandle<()>>,
}

impl Seat {
    fn occupy(&mut self, process: u64) {
        if let Some(last) = self.process.replace(process)
            && last != process
        {
            self.replaced.push_front(last);
            self.replaced.truncate(REPLACED_MAX);
        }
    }
}

type Seats = Mutex<BTreeMap<String, Seat>>;

/// Accepts connections for as long as it is not aborted. Everything it has started ends with it.
pub(super) async fn accept<M, T>(arrivals: Arc<Arrivals<M>>, transport: Arc<T>)
where
    M: DeserializeOwned + Send + 'static,
    T: Transport,
{
    let seats = Arc::new(Seats::default());
    let mut newcomers = JoinSet::new();
    // The last so many, most of which have introduced themselves and are gone from here.
    let mut recent: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let caller = match transport.accept().await {
            Ok(caller) => caller,
            // Somebody hung up too early: that holds up nobody else.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => continue,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Out of file descriptors, most likely: some will come free.
                sleep(arrivals.limits.retry).await;
                continue;
            }
        };
        while newcomers.try_join_next().is_some() {}
        // In a flood of silent ones, a node that introduces itself is gone from here before so many others have come.
        if recent.len() >= arrivals.limits.newcomers_max
            && let Some(oldest) = recent.pop_front()
        {
            oldest.abort();
        }
        recent.push_back(newcomers.spawn(welcome(Arc::clone(&arrivals), Arc::clone(&seats), caller)));
    }
}

/// Learns whose connection it is, and has it served.
async fn welcome<M, S>(arrivals: Arc<Arrivals<M>>, seats: Arc<Seats>, caller: Caller<S>)
where
    M: DeserializeOwned + Send + 'static,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let Caller { origin, opening } = caller;
    let patience = arrivals.limits.connect;
    let introduce = async {
        let (stream, identity) = opening.await?;
        let (read, write) = split(stream);
        let mut connection = Connection { reader: Reader::new(read), writer: Writer::new(write) };
        let hello = connection.introduce(&arrivals, &identity).await?;
        Ok((connection, hello))
    };
    let introduced = timeout(patience, introduce).await.unwrap_or(Err(Ended::Unintroduced(patience)));
    let (mut connection, Hello { from: node, process, .. }) = match introduced {
        Ok(introduced) => introduced,
        Err(ended) => return tracing::warn!(origin, %ended, "a connection was refused"),
    };
    let mut seats = seats.lock().await;
    let seat = seats.entry(node.clone()).or_default();
    if seat.replaced.contains(&process) {
        drop(seats);
        let ended = connection.refuse(&arrivals, Refusal::Replaced, node).await;
        return tracing::warn!(origin, %ended, "a connection was refused");
    }
    if let Some(last) = &mut seat.serving {
        if seat.process != Some(process) && !last.is_finished() {
            tracing::warn!(
                node,
                origin,
                "another process has connected under the name of a node that was connected: it takes over. If both run, stop one"
            );
        }
        // It stays in its seat until it has ended: this may be cut short, too.
        last.abort();
        let _ = last.await;
        seat.serving = None;
    }
    seat.occupy(process);
    let serve = async move {
        match connection.serve(&arrivals, &node).await {
            Ended::Closed => tracing::info!(node, "the node closed its connection"),
            ended => tracing::warn!(node, origin, %ended, "the node's connection was closed"),
        }
    };
    seat.serving = Some(AbortOnDropHandle::new(tokio::spawn(serve)));
}

struct Connection<S> {
    reader: Reader<ReadHalf<S>>,
    writer: Writer<WriteHalf<S>>,
}

impl<S: AsyncRead + AsyncWrite> Connection<S> {
    /// Who is at the other side, if it is a node of ours, can be it, and means us.
    async fn introduce<M>(&mut self, arrivals: &Arrivals<M>, identity: &Identity) -> Result<Hello, Ended> {
        let hello = match introduced::<Hello>(&self.reader.next().await?) {
            Ok(hello) => hello,
            Err(ended) => {
                if let Ended::Version(_) = ended {
                    // Of the answer they will understand our version.
                    self.answer(&Answer::Refused(Refusal::Stranger), arrivals).await?;
                }
                return Err(ended);
            }
        };
        let why = if hello.to != arrivals.here {
            Refusal::WrongNode
        } else if !arrivals.others.contains_key(&hello.from) {
            Refusal::Stranger
        } else if !identity.may_be(&hello.from) {
            Refusal::Impostor
        } else {
            return Ok(hello);
        };
        Err(self.refuse(arrivals, why, hello.from).await)
    }

    /// Says why, as far as the other side listens.
    async fn refuse<M>(&mut self, arrivals: &Arrivals<M>, why: Refusal, claimed: String) -> Ended {
        match self.answer(&Answer::Refused(why), arrivals).await {
            Ok(()) | Err(_) => Ended::Unwelcome { why, claimed },
        }
    }

    async fn answer<M>(&mut self, answer: &Answer, arrivals: &Arrivals<M>) -> Result<(), Ended> {
        self.writer.put(&introduction(answer)?);
        self.writer.flush(arrivals.limits.connect).await
    }

    /// Takes messages until the connection ends.
    async fn serve<M: DeserializeOwned>(mut self, arrivals: &Arrivals<M>, node: &str) -> Ended {
        let frame_bytes_max = arrivals.limits.frame_bytes_max as u64;
        if let Err(ended) = self.answer(&Answer::Welcome { frame_bytes_max }, arrivals).await {
            return ended;
        }
        tracing::info!(node, "the node has connected");
        if let Some(other) = arrivals.others.get(node) {
            other.strays.store(0, Ordering::Relaxed);
            other.is_up.notify_one();
        }
        let Limits { frame_bytes_max, heartbeat, write, .. } = arrivals.limits;
        self.reader.admit(frame_bytes_max);
        let Self { mut reader, mut writer } = self;
        // Whether or not there is room in the inboxes: a slow node is not a dead one.
        let beats = async {
            loop {
                sleep(heartbeat).await;
                if let Err(ended) = writer.beat(write).await {
                    return ended;
                }
            }
        };
        let ended = tokio::select! {
            ended = beats => ended,
            ended = arrivals.take_in(&mut reader, node) => ended,
        };
        if let Ended::Closed = ended {
            // Tells them that all was read.
            let _ = writer.finish(write).await;
        }
        ended
    }
}

impl<M: DeserializeOwned> Arrivals<M> {
    async fn take_in<R: AsyncRead + Unpin>(&self, reader: &mut Reader<R>, node: &str) -> Ended {
        loop {
            let taken = match reader.next_within(self.limits.silence).await {
                Ok(frame) => self.take(&frame, node).await,
                Err(ended) => return ended,
            };
            if let Err(ended) = taken {
                return ended;
            }
        }
    }

    /// Puts a message into its inbox, as soon as there is room.
    async fn take(&self, frame: &[u8], node: &str) -> Result<(), Ended> {
        let (from, to, body) = match header(frame)? {
            (Header::Beat, []) => return Ok(()),
            (Header::Beat, [_, ..]) => return Err(Ended::Unexpected),
            (Header::Message { from, to, clock }, body) => {
                clock::heard(clock);
                (from, to, body)
            }
        };
        let Some(other) = self.others.get(node) else { bug!("{node} was welcomed and is not known") };
        let (Some(from), Some(inbox)) = (other.hosts.get(from), self.inboxes.get(to)) else {
            // One event for each connection: a flood of messages is no flood of events.
            if other.strays.fetch_add(1, Ordering::Relaxed) == 0 {
                tracing::warn!(
                    node,
                    from,
                    to,
                    "messages are dropped: the one is not hosted there, or the other not here; is the cluster file the same on every node?"
                );
            }
            return Ok(());
        };
        let message = message(body)?;
        let room = Arc::clone(&inbox.room).acquire_many_owned(Limits::cost(frame.len())).await;
        let Ok(room) = room else { return Ok(()) };
        let envelope = Envelope { from: *from, message };
        if inbox.arrived.send(Arrived::from_afar(envelope, room)).is_err() {
            tracing::debug!(node, to = inbox.address.name(), "a message was dropped: the endpoint was");
        }
        Ok(())
    }
}
