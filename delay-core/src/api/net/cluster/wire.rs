//! What stands on the wire: frames with their length before them, an introduction, then heartbeats and messages.
//!
//! An introduction begins with [`MAGIC`] and [`VERSION`] in every version of this format, so that nodes of different versions can say so.
//! Until it is over a frame has at most [`INTRODUCTION_BYTES_MAX`] bytes: a stranger costs next to nothing.

use crate::api::net::Unsent;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{fmt, io, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};
use tokio_util::{
    bytes::{Buf, Bytes, BytesMut},
    codec::{Decoder, Encoder, LengthDelimitedCodec},
};

const MAGIC: [u8; 5] = *b"delay";
/// Of the format. Nodes of different versions do not talk to each other.
const VERSION: u16 = 1;
const INTRODUCTION_BYTES_MAX: usize = 512;
/// How much is read or written at once, if there is so much.
pub(super) const BATCH_BYTES: usize = 1 << 16;

/// Who calls whom.
#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Hello {
    pub(super) from: String,
    pub(super) to: String,
}

/// The answer to a [`Hello`].
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Answer {
    Welcome,
    Refused(Refusal),
}

/// Why a node is not welcome.
#[derive(Serialize, Deserialize, Debug, Clone, Copy)]
pub(super) enum Refusal {
    /// The one called is somebody else.
    WrongNode,
    /// The one called does not know the caller.
    Stranger,
}

/// What stands before a message, or alone.
#[derive(Serialize, Deserialize, Debug)]
pub(super) enum Header<'a> {
    /// Still there.
    Beat,
    /// A message follows, from one endpoint to another.
    Message { from: &'a str, to: &'a str },
}

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum Ended {
    Io(io::Error),
    /// By the other side.
    Closed,
    Silent(Duration),
    Slow(Duration),
    Malformed(postcard::Error),
    /// A frame that has no place here.
    Unexpected,
    /// The other side speaks something else.
    Foreign,
    Version(u16),
    Refused(Refusal),
    Unintroduced(Duration),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                write!(f, "a frame longer than allowed ({error}): is `frame_bytes_max` the same on every node?")
            }
            Self::Io(error) => error.fmt(f),
            Self::Closed => f.write_str("closed by the other side"),
            Self::Silent(time) => write!(f, "nothing was heard for {time:?}"),
            Self::Slow(time) => write!(f, "nothing could be written for {time:?}"),
            Self::Malformed(error) => {
                write!(f, "a malformed frame ({error}): do all nodes run the same version of the program?")
            }
            Self::Unexpected => f.write_str("a frame that has no place here"),
            Self::Foreign => f.write_str("the other side does not speak this protocol: is the address a node's?"),
            Self::Version(theirs) => {
                write!(f, "the other side speaks version {theirs} and this one {VERSION}: run the same on every node")
            }
            Self::Refused(Refusal::WrongNode) => {
                f.write_str("the other side is another node: is the cluster file the same on every node?")
            }
            Self::Refused(Refusal::Stranger) => {
                f.write_str("the other side does not know this node: is the cluster file the same on every node?")
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
    codec: LengthDelimitedCodec,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// For an introduction.
    pub(super) fn new(stream: R) -> Self {
        Self { stream, read: BytesMut::new(), codec: codec(INTRODUCTION_BYTES_MAX) }
    }

    /// Now that it is known who is there.
    pub(super) fn admit(&mut self, frame_bytes_max: usize) {
        self.codec.set_max_frame_length(frame_bytes_max);
    }

    /// The next frame. Can be dropped and called again without losing anything.
    pub(super) async fn next(&mut self) -> Result<BytesMut, Ended> {
        loop {
            if let Some(frame) = self.codec.decode(&mut self.read)? {
                return Ok(frame);
            }
            // What a long frame needs was reserved by the codec, which has checked its length.
            if self.read.capacity() == self.read.len() {
                self.read.reserve(INTRODUCTION_BYTES_MAX);
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                return Err(Ended::Closed);
            }
        }
    }

    /// The next frame, unless there is silence.
    pub(super) async fn next_within(&mut self, silence: Duration) -> Result<BytesMut, Ended> {
        timeout(silence, self.next()).await.unwrap_or(Err(Ended::Silent(silence)))
    }
}

/// Writes frames.
pub(super) struct Writer<W> {
    stream: W,
    batch: BytesMut,
    codec: LengthDelimitedCodec,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) fn new(stream: W, frame_bytes_max: usize) -> Self {
        Self { stream, batch: BytesMut::new(), codec: codec(frame_bytes_max.max(INTRODUCTION_BYTES_MAX)) }
    }

    /// Puts a frame into the next batch; whether there is place for another one.
    pub(super) fn put(&mut self, frame: Bytes) -> Result<bool, Ended> {
        self.codec.encode(frame, &mut self.batch)?;
        Ok(self.batch.len() < BATCH_BYTES)
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
        self.put(postcard::to_allocvec(&Header::Beat)?.into())?;
        self.flush(patience).await
    }

    /// Tells the other side that nothing more will come.
    pub(super) async fn finish(&mut self) -> Result<(), Ended> {
        Ok(self.stream.shutdown().await?)
    }
}

fn codec(frame_bytes_max: usize) -> LengthDelimitedCodec {
    LengthDelimitedCodec::builder().max_frame_length(frame_bytes_max).new_codec()
}

/// A frame of an introduction.
pub(super) fn introduction(content: &impl Serialize) -> Result<Bytes, Ended> {
    let mut frame = MAGIC.to_vec();
    frame.extend(VERSION.to_le_bytes());
    Ok(postcard::to_extend(content, frame)?.into())
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
pub(super) fn frame<M: Serialize>(from: &str, to: &str, message: &M, bytes_max: usize) -> Result<Bytes, Unsent> {
    let header = postcard::to_allocvec(&Header::Message { from, to });
    let frame = header.and_then(|header| postcard::to_extend(message, header)).map_err(|_| Unsent::Unencodable)?;
    if frame.len() > bytes_max {
        return Err(Unsent::Oversized { bytes: frame.len(), bytes_max });
    }
    Ok(frame.into())
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
