//! What stands on the wire: frames with their length before them, an introduction, then heartbeats and messages.
//!
//! An introduction begins with [`MAGIC`] and [`VERSION`] in every version of this format, so that nodes of different versions can say so.
//! Until it is over a frame has at most [`INTRODUCTION_BYTES_MAX`] bytes: a stranger costs next to nothing. A frame must be whole within the time
//! in which something must be heard, so that nobody holds a connection by one byte now and then.

use crate::api::{net::Unsent, record::clock};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{fmt, io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};
use tokio_util::bytes::{Buf, BufMut, BytesMut};

const MAGIC: [u8; 5] = *b"delay";
/// Of the format. Nodes of different versions do not talk to each other.
const VERSION: u16 = 2;
const INTRODUCTION_BYTES_MAX: usize = 512;
/// How much is written at once, if there is so much.
const BATCH_BYTES: usize = 1 << 16;
/// Room to read into once it is known who is there.
const READ_BYTES: usize = 1 << 15;
/// A small message with its names has room in so much, at once.
const FRAME_BYTES: usize = 64;
/// Before each frame: how many bytes it has.
const LENGTH_BYTES: usize = size_of::<u32>();

/// Who calls whom.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Hello {
    pub(super) from: String,
    pub(super) to: String,
    /// A number of the calling process's own: one that calls again is told from another of the same name.
    pub(super) process: u64,
}

/// The answer to a [`Hello`].
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Answer {
    /// Frames may have so many bytes.
    Welcome {
        frame_bytes_max: u64,
    },
    Refused(Refusal),
}

/// Why a node is not welcome.
#[derive(Serialize, Deserialize, Debug, Clone, Copy)]
pub(super) enum Refusal {
    /// The one called is somebody else.
    WrongNode,
    /// The one called does not know the caller.
    Stranger,
    /// The caller has proven to be somebody else.
    Impostor,
    /// Another process has called under the caller's name since.
    Replaced,
}

/// What stands before a message, or alone.
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Header<'a> {
    /// Still there.
    Beat,
    /// A message follows, from one endpoint to another.
    Message {
        from: &'a str,
        to: &'a str,
        /// When it left, for the clock of recordings; zero if nothing is recorded anywhere it knows of. Always as long, so that what fits into
        /// a frame does not depend on it.
        #[serde(with = "postcard::fixint::le")]
        clock: u64,
    },
}

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum Ended {
    Io(io::Error),
    /// By the other side.
    Closed,
    Silent(Duration),
    /// In the middle of a frame.
    Unfinished(Duration),
    Slow(Duration),
    /// Announced, and not read.
    Oversized {
        bytes: usize,
        bytes_max: usize,
    },
    Malformed(postcard::Error),
    /// A frame that has no place here.
    Unexpected,
    /// The other side speaks something else.
    Foreign,
    /// The other side speaks TLS where plain frames are expected.
    Tls,
    Version(u16),
    /// By the other side.
    Refused(Refusal),
    /// The other side, which says that it is `claimed`.
    Unwelcome {
        why: Refusal,
        claimed: String,
    },
    Unintroduced(Duration),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Closed => f.write_str("closed by the other side"),
            Self::Silent(time) => write!(f, "nothing was heard for {time:?}"),
            Self::Unfinished(time) => write!(f, "a frame was begun and was not whole within {time:?}"),
            Self::Slow(time) => write!(f, "nothing could be written for {time:?}"),
            Self::Oversized { bytes, bytes_max } => {
                write!(f, "a frame of {bytes} bytes was announced, at most {bytes_max} are allowed here")
            }
            Self::Malformed(error) => {
                write!(f, "a malformed frame ({error}): do all nodes run the same version of the program?")
            }
            Self::Unexpected => f.write_str("a frame that has no place here"),
            Self::Foreign => f.write_str("the other side does not speak this protocol: is the address a node's?"),
            Self::Tls => f.write_str(
                "the other side speaks TLS, and this node does not: is the table `[tls]` in the cluster file of every node?",
            ),
            Self::Version(theirs) => {
                write!(f, "the other side speaks version {theirs} and this one {VERSION}: run the same on every node")
            }
            Self::Refused(Refusal::WrongNode) => {
                f.write_str("the other side is another node: is the cluster file the same on every node?")
            }
            Self::Refused(Refusal::Stranger) => {
                f.write_str("the other side does not know this node: is the cluster file the same on every node?")
            }
            Self::Refused(Refusal::Impostor) => f.write_str(
                "the other side does not take this node's certificate for one of its name: is the cluster file the same on every node?",
            ),
            Self::Refused(Refusal::Replaced) => f.write_str(
                "another process has connected under this node's name since: stop one of the two, a node is one process",
            ),
            Self::Unwelcome { why, claimed } => {
                let why = match why {
                    Refusal::WrongNode => "calls another node: is the cluster file the same on every node?",
                    Refusal::Stranger => "is no other node here: is the cluster file the same on every node?",
                    Refusal::Impostor => "has not proven to be it: its certificate is for another name",
                    Refusal::Replaced => "was replaced by another process of this name: stop one of the two",
                };
                write!(f, "who says that it is {claimed:?} {why}")
            }
            Self::Unintroduced(time) => write!(f, "no introduction within {time:?}"),
        }
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<postcard::Error> for Ended {
    fn from(error: postcard::Error) -> Self {
        Self::Malformed(error)
    }
}

/// Reads frames.
pub(super) struct Reader<R> {
    stream: R,
    read: BytesMut,
    /// Room to read into.
    room: usize,
    frame_bytes_max: usize,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// For an introduction.
    pub(super) fn new(stream: R) -> Self {
        Self { stream, read: BytesMut::new(), room: INTRODUCTION_BYTES_MAX, frame_bytes_max: INTRODUCTION_BYTES_MAX }
    }

    /// Now that it is known who is there.
    pub(super) fn admit(&mut self, frame_bytes_max: usize) {
        (self.room, self.frame_bytes_max) = (READ_BYTES, frame_bytes_max);
    }

    /// The next frame. Can be dropped and called again without losing anything.
    pub(super) async fn next(&mut self) -> Result<BytesMut, Ended> {
        loop {
            if let Some(frame) = self.whole()? {
                return Ok(frame);
            }
            if self.read.capacity() == self.read.len() {
                self.read.reserve(self.room);
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(Ended::Closed);
            }
        }
    }

    /// A frame of what was read. Of one that is not whole the rest has room then, as its length was checked.
    fn whole(&mut self) -> Result<Option<BytesMut>, Ended> {
        let Some(length) = self.read.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let (bytes, bytes_max) = (u32::from_be_bytes(*length) as usize, self.frame_bytes_max);
        if bytes > bytes_max {
            // A record of TLS begins with its kind and 3; as a length that is more than any introduction has.
            let is_tls = matches!(length, [0x14..=0x17, 3, ..]) && bytes_max == INTRODUCTION_BYTES_MAX;
            return Err(if is_tls { Ended::Tls } else { Ended::Oversized { bytes, bytes_max } });
        }
        let missing = (LENGTH_BYTES + bytes).saturating_sub(self.read.len());
        if missing > 0 {
            self.read.reserve(missing);
            return Ok(None);
        }
        self.read.advance(LENGTH_BYTES);
        Ok(Some(self.read.split_to(bytes)))
    }

    /// The next frame, unless there is silence or it takes too long.
    pub(super) async fn next_within(&mut self, silence: Duration) -> Result<BytesMut, Ended> {
        match timeout(silence, self.next()).await {
            Ok(next) => next,
            Err(_) if self.read.is_empty() => Err(Ended::Silent(silence)),
            Err(_) => Err(Ended::Unfinished(silence)),
        }
    }
}

/// Writes frames.
pub(super) struct Writer<W> {
    stream: W,
    batch: BytesMut,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { stream, batch: BytesMut::new() }
    }

    /// Puts a frame into the next batch; whether there is place for another one.
    pub(super) fn put(&mut self, frame: &[u8]) -> bool {
        let Ok(length) = u32::try_from(frame.len()) else { bug!("a frame of {} bytes passed the limits", frame.len()) };
        self.batch.put_u32(length);
        self.batch.put_slice(frame);
        self.batch.len() < BATCH_BYTES
    }

    /// Writes the batch. The patience is for each part of it that the other side takes.
    pub(super) async fn flush(&mut self, patience: Duration) -> Result<(), Ended> {
        let slow = |_| Ended::Slow(patience);
        while self.batch.has_remaining() {
            let written = timeout(patience, self.stream.write_buf(&mut self.batch)).await.map_err(slow)??;
            if written == 0 {
                return Err(Ended::Closed);
            }
        }
        timeout(patience, self.stream.flush()).await.map_err(slow)??;
        // The room of a large batch is given back.
        if self.batch.capacity() > 2 * BATCH_BYTES {
            self.batch = BytesMut::new();
        }
        Ok(())
    }

    pub(super) async fn beat(&mut self, patience: Duration) -> Result<(), Ended> {
        self.put(&postcard::to_allocvec(&Header::Beat)?);
        self.flush(patience).await
    }

    /// Tells the other side that nothing more will come.
    pub(super) async fn finish(&mut self, patience: Duration) -> Result<(), Ended> {
        Ok(timeout(patience, self.stream.shutdown()).await.map_err(|_| Ended::Slow(patience))??)
    }
}

/// A frame of an introduction.
pub(super) fn introduction(content: &impl Serialize) -> Result<Vec<u8>, Ended> {
    let mut frame = MAGIC.to_vec();
    frame.extend(VERSION.to_le_bytes());
    Ok(postcard::to_extend(content, frame)?)
}

/// What a frame of an introduction says.
pub(super) fn introduced<T: DeserializeOwned>(frame: &[u8]) -> Result<T, Ended> {
    let Some((version, content)) = frame.strip_prefix(&MAGIC).and_then(<[u8]>::split_first_chunk) else {
        return Err(Ended::Foreign);
    };
    match u16::from_le_bytes(*version) {
        VERSION => Ok(postcard::from_bytes(content)?),
        theirs => Err(Ended::Version(theirs)),
    }
}

/// A message as a frame.
pub(super) fn frame<M: Serialize>(from: &str, to: &str, message: &M, bytes_max: usize) -> Result<Vec<u8>, Unsent> {
    let header = Header::Message { from, to, clock: clock::carried() };
    let header = postcard::to_extend(&header, Vec::with_capacity(FRAME_BYTES));
    let frame = header.and_then(|header| postcard::to_extend(message, header)).map_err(|_| Unsent::Unencodable)?;
    if frame.len() > bytes_max {
        return Err(Unsent::Oversized { bytes: frame.len(), bytes_max });
    }
    Ok(frame)
}

/// A header, and what follows it.
pub(super) fn header(frame: &[u8]) -> Result<(Header<'_>, &[u8]), Ended> {
    Ok(postcard::take_from_bytes(frame)?)
}

/// A message that fills what follows its header.
pub(super) fn message<M: DeserializeOwned>(body: &[u8]) -> Result<M, Ended> {
    match postcard::take_from_bytes(body)? {
        (message, []) => Ok(message),
        (_, [_, ..]) => Err(Ended::Unexpected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::record::clock::Stamp;

    #[test]
    fn a_message_carries_the_time_of_what_was_recorded_before_it() {
        let before = frame("a", "b", &7_u8, 100).unwrap();
        clock::not_before(Stamp::of_parts((1_764_329_700_123_456, 7)).unwrap());
        let after = frame("a", "b", &7_u8, 100).unwrap();
        assert_eq!(before.len(), after.len(), "what fits does not depend on it");
        let Ok((Header::Message { from: "a", to: "b", clock }, [7])) = header(&after) else { panic!("{after:?}") };
        assert!(clock >= (1_764_329_700_123_456 << 12) + 7, "{clock}");
    }
}
