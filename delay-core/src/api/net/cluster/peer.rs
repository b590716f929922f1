//! Carries the queue for another node there: connects, writes, notices that nobody is there, connects again.
//!
//! Invariant: a frame is taken out of the queue once and never written again, so that it arrives at most once; and connections
//! follow each other, so that frames arrive in order.

use super::{
    Limits,
    queue::{Drain, Outgoing},
    wire::{Answer, Ended, Header, Hello, Reader, Writer, header, introduced, introduction},
};
use crate::api::{net::transport::Transport, random::entropy};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf, split},
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};

pub(super) struct Peer<T> {
    pub(super) transport: Arc<T>,
    /// Our own name, and our process's number.
    pub(super) here: String,
    pub(super) process: u64,
    pub(super) node: String,
    pub(super) address: String,
    pub(super) limits: Limits,
    pub(super) drain: Drain,
    /// Whether only what is queued is still to be sent.
    pub(super) closing: watch::Receiver<bool>,
    /// Told when the node has connected to here.
    pub(super) is_up: Arc<Notify>,
}

type Halves<S> = (Reader<ReadHalf<S>>, Writer<WriteHalf<S>>);

impl<T: Transport> Peer<T> {
    /// Until everything was sent after `closing`.
    pub(super) async fn run(mut self) {
        let mut pause = self.limits.retry;
        // Said once, as long as it stays the same.
        let mut told = String::new();
        loop {
            let ended = match self.connect().await {
                Ok(halves) => {
                    told.clear();
                    let since = Instant::now();
                    let carried = self.carry(halves).await;
                    self.drain.connected.send_replace(false);
                    let Err(ended) = carried else { return };
                    // Who takes connections and ends them at once is not called without pause.
                    if since.elapsed() >= self.limits.retry_max {
                        pause = self.limits.retry;
                    }
                    ended
                }
                Err(ended) => ended,
            };
            let (node, address) = (&self.node, &self.address);
            let ended = ended.to_string();
            if ended == told {
                tracing::debug!(node, address, ended, "still not connected");
            } else {
                tracing::warn!(node, address, ended, "not connected; tries again");
                told = ended;
            }
            if !self.wait(jittered(pause)).await {
                return;
            }
            pause = (pause * 2).min(self.limits.retry_max);
        }
    }

    /// A pause; whether there is still something to do after it.
    async fn wait(&mut self, pause: Duration) -> bool {
        tokio::select! {
            () = sleep(pause) => {}
            () = self.is_up.notified() => {}
            () = closes(&mut self.closing) => {}
        }
        if !*self.closing.borrow() {
            return true;
        }
        self.drain.close();
        if self.drain.frames.is_empty() {
            return false;
        }
        // Closing cut the pause short once; from here on it must not be cut again.
        sleep(pause).await;
        true
    }

    async fn connect(&self) -> Result<Halves<T::Stream>, Ended> {
        let introduce = async {
            let (read, write) = split(self.transport.connect(&self.node, &self.address).await?);
            let (mut reader, mut writer) = (Reader::new(read), Writer::new(write));
            let hello = Hello { from: self.here.clone(), to: self.node.clone(), process: self.process };
            writer.put(&introduction(&hello)?);
            writer.flush(self.limits.connect).await?;
            match introduced(&reader.next().await?)? {
                Answer::Welcome { frame_bytes_max } => {
                    let theirs = usize::try_from(frame_bytes_max).unwrap_or(usize::MAX);
                    self.drain.frame_bytes_max.store(self.limits.frame_bytes_max.min(theirs), Ordering::Relaxed);
                    Ok((reader, writer))
                }
                Answer::Refused(refusal) => Err(Ended::Refused(refusal)),
            }
        };
        timeout(self.limits.connect, introduce).await.unwrap_or(Err(Ended::Unintroduced(self.limits.connect)))
    }

    /// Writes what is queued, until the connection ends or, after `closing`, nothing is left.
    async fn carry(&mut self, (mut reader, mut writer): Halves<T::Stream>) -> Result<(), Ended> {
        let lost = self.drain.lost.swap(0, Ordering::Relaxed);
        tracing::info!(node = self.node, address = self.address, lost, "connected");
        self.drain.connected.send_replace(true);
        let limits = self.limits.clone();
        tokio::select! {
            ended = listen(&mut reader, limits.silence) => return Err(ended),
            written = self.write(&mut writer) => written?,
        }
        writer.finish(limits.write).await?;
        // The other side closes when it has read everything. A socket closed before, with heartbeats unread, would take back what
        // it has sent.
        match listen(&mut reader, limits.silence).await {
            Ended::Closed => Ok(()),
            ended => Err(ended),
        }
    }

    async fn write<W: AsyncWrite + Unpin>(&mut self, writer: &mut Writer<W>) -> Result<(), Ended> {
        loop {
            let Self { limits, drain, closing, .. } = &mut *self;
            let next = tokio::select! {
                biased;
                () = closes(closing), if !drain.frames.is_closed() => {
                    drain.close();
                    continue;
                }
                next = timeout(limits.heartbeat, drain.frames.recv()) => next,
            };
            match next {
                Ok(Some(first)) => self.write_batch(first, writer).await?,
                Ok(None) => return Ok(()),
                Err(_) => writer.beat(self.limits.write).await?,
            }
        }
    }

    /// Writes a frame and what has queued up behind it. All of it keeps its room meanwhile.
    async fn write_batch<W: AsyncWrite + Unpin>(
        &mut self,
        first: Outgoing,
        writer: &mut Writer<W>,
    ) -> Result<(), Ended> {
        let Self { limits, drain, node, .. } = self;
        let bytes_max = drain.frame_bytes_max.load(Ordering::Relaxed);
        let mut put = |frame: &[u8]| {
            if frame.len() <= bytes_max {
                return writer.put(frame);
            }
            let bytes = frame.len();
            tracing::warn!(
                node,
                bytes,
                bytes_max,
                "a message was lost: it was sent before the node said what it accepts"
            );
            true
        };
        let Outgoing { frame, room: mut rooms } = first;
        let mut has_place = put(&frame);
        while has_place && let Ok(Outgoing { frame, room }) = drain.frames.try_recv() {
            rooms.merge(room);
            has_place = put(&frame);
        }
        writer.flush(limits.write).await
    }
}

/// Hears the heartbeats of the other side until they end.
async fn listen<R: AsyncRead + Unpin>(reader: &mut Reader<R>, silence: Duration) -> Ended {
    loop {
        let frame = match reader.next_within(silence).await {
            Ok(frame) => frame,
            Err(ended) => return ended,
        };
        match header(&frame) {
            Ok((Header::Beat, [])) => {}
            Ok(_) => return Ended::Unexpected,
            Err(ended) => return ended,
        }
    }
}

/// Until the network is to be closed, or is gone.
async fn closes(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}

/// Between half a pause and a whole one, so that nodes that lost each other do not call at the same time again and again.
fn jittered(pause: Duration) -> Duration {
    pause / 2 + pause.mul_f64((entropy() % 1024) as f64 / 2048.0)
}
