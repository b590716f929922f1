//! Takes connections from other nodes and puts what they send into the inboxes of this one.
//!
//! Invariants: a node has at most one connection to here, and a new one is welcomed only when nothing of the last can arrive any more, so
//! that a node's messages stay in order; a connection that has not introduced itself holds next to nothing, and there are at most
//! `newcomers_max` of them.

use super::{
    Limits,
    wire::{Answer, Ended, Header, Hello, Reader, Refusal, Writer, header, introduced, introduction, message},
};
use crate::api::net::{Address, Envelope, outlet::Arrived, transport::Transport};
use serde::de::DeserializeOwned;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
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
}

/// The connection of each node that has one.
type Connections = Mutex<BTreeMap<String, AbortOnDropHandle<()>>>;

/// Accepts connections for as long as it is not aborted. Everything it has started ends with it.
pub(super) async fn accept<M, T>(arrivals: Arc<Arrivals<M>>, transport: Arc<T>)
where
    M: DeserializeOwned + Send + 'static,
    T: Transport,
{
    let connections = Arc::new(Connections::default());
    let mut newcomers = JoinSet::new();
    // The last so many, most of which have introduced themselves and are gone from here.
    let mut recent: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let (stream, origin) = match transport.accept().await {
            Ok(accepted) => accepted,
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
        let welcome = welcome(Arc::clone(&arrivals), Arc::clone(&connections), stream, origin);
        recent.push_back(newcomers.spawn(welcome));
    }
}

/// Learns whose connection it is, and has it served.
async fn welcome<M, S>(arrivals: Arc<Arrivals<M>>, connections: Arc<Connections>, stream: S, origin: String)
where
    M: DeserializeOwned + Send + 'static,
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (read, write) = split(stream);
    let mut connection =
        Connection { reader: Reader::new(read), writer: Writer::new(write, arrivals.limits.frame_bytes_max) };
    let patience = arrivals.limits.connect;
    let introduced = timeout(patience, connection.introduce(&arrivals)).await;
    let node = match introduced.unwrap_or(Err(Ended::Unintroduced(patience))) {
        Ok(node) => node,
        Err(ended) => return tracing::warn!(origin, %ended, "a connection was refused"),
    };
    let mut connections = connections.lock().await;
    if let Some(last) = connections.remove(&node) {
        last.abort();
        let _ = last.await;
    }
    let serve = {
        let node = node.clone();
        async move {
            match connection.serve(&arrivals, &node).await {
                Ended::Closed => tracing::info!(node, "the node closed its connection"),
                ended => tracing::warn!(node, origin, %ended, "the node's connection was closed"),
            }
        }
    };
    connections.insert(node, AbortOnDropHandle::new(tokio::spawn(serve)));
}

struct Connection<S> {
    reader: Reader<ReadHalf<S>>,
    writer: Writer<WriteHalf<S>>,
}

impl<S: AsyncRead + AsyncWrite> Connection<S> {
    /// The name of the node at the other side, if it is one of ours and means us.
    async fn introduce<M>(&mut self, arrivals: &Arrivals<M>) -> Result<String, Ended> {
        let refusal = match introduced::<Hello>(&self.reader.next().await?) {
            Ok(Hello { from, to }) => match arrivals.others.contains_key(&from) {
                _ if to != arrivals.here => Ended::Refused(Refusal::WrongNode),
                true => return Ok(from),
                false => Ended::Refused(Refusal::Stranger),
            },
            Err(ended) => ended,
        };
        match refusal {
            Ended::Refused(why) => self.answer(&Answer::Refused(why), arrivals).await?,
            // Of the answer they will understand our version.
            Ended::Version(_) => self.answer(&Answer::Refused(Refusal::Stranger), arrivals).await?,
            _ => {}
        }
        Err(refusal)
    }

    async fn answer<M>(&mut self, answer: &Answer, arrivals: &Arrivals<M>) -> Result<(), Ended> {
        self.writer.put(introduction(answer)?)?;
        self.writer.flush(arrivals.limits.connect).await
    }

    /// Takes messages until the connection ends.
    async fn serve<M: DeserializeOwned>(mut self, arrivals: &Arrivals<M>, node: &str) -> Ended {
        if let Err(ended) = self.answer(&Answer::Welcome, arrivals).await {
            return ended;
        }
        tracing::info!(node, "the node has connected");
        if let Some(other) = arrivals.others.get(node) {
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
        tokio::select! {
            ended = beats => ended,
            ended = arrivals.take_in(&mut reader, node) => ended,
        }
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
            (Header::Message { from, to }, body) => (from, to, body),
        };
        let sender = self.others.get(node).and_then(|other| other.hosts.get(from));
        let (Some(from), Some(inbox)) = (sender, self.inboxes.get(to)) else {
            tracing::warn!(node, from, to, "a message was dropped: the one is not hosted there, or the other not here");
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
