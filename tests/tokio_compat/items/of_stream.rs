//! The items of tokio-stream.

use super::{item, items};
use futures::{Stream, stream::FusedStream};
use std::{
    error::Error,
    fmt::{Debug, Display},
    future::Ready,
};

/// A stream.
type Bytes = futures::stream::Empty<u8>;

items! {
    tokio_stream => delay::tokio_stream, base tokio => delay;
    { type [] Elapsed {} is { Debug, Display, Eq, Error, Into[Into<std::io::Error>], PartialEq } }
    { type [] Empty[u8] {} is { Debug, Send, Stream, Sync } }
    { type [] Iter[std::vec::IntoIter<u8>] {} is { Debug, Stream } }
    { type [] Once[u8] {} is { Debug, Stream } }
    { type [] Pending[u8] {} is { Debug, Send, Stream, Sync } }
    { trait [] StreamExt for [Bytes] { all[fn(u8) -> bool], any[fn(u8) -> bool], chain[Bytes], chunks_timeout,
        collect[Vec<u8>], filter[fn(&u8) -> bool], filter_map[u8, fn(u8) -> Option<u8>], fold[u8, fn(u8, u8) -> u8],
        fuse, map[u8, fn(u8) -> u8], map_while[u8, fn(u8) -> Option<u8>], merge[Bytes], next, peekable, skip,
        skip_while[fn(&u8) -> bool], take, take_while[fn(&u8) -> bool], then[fn(u8) -> Ready<u8>, Ready<u8>],
        throttle, timeout, timeout_repeating } }
    { type [] StreamMap[u8, Bytes] { capacity, clear, contains_key, insert, is_empty, iter, iter_mut, keys, len, new,
        next_many, poll_next_many, remove, values, values_mut, with_capacity } is { Debug, Default,
        Extend[Extend<(u8, Bytes)>], FromIterator[FromIterator<(u8, Bytes)>], Stream } }
    { type [] StreamNotifyClose[Bytes] { into_inner, new } is { Stream } }
    { type [adapters] Chain[Bytes, Bytes] {} is { FusedStream, Stream } }
    { type [adapters] ChunksTimeout[Bytes] { into_remainder } is { Debug, Stream } }
    { type [adapters] Filter[Bytes, fn(&u8) -> bool] {} is { Debug, FusedStream, Stream } }
    { type [adapters] FilterMap[Bytes, fn(u8) -> Option<u8>] {} is { Debug, FusedStream, Stream } }
    { type [adapters] Fuse[Bytes] {} is { Debug, FusedStream, Stream } }
    { type [adapters] Map[Bytes, fn(u8) -> u8] {} is { Debug, FusedStream, Stream } }
    { type [adapters] MapWhile[Bytes, fn(u8) -> Option<u8>] {} is { Debug, FusedStream, Stream } }
    { type [adapters] Merge[Bytes, Bytes] {} is { FusedStream, Stream } }
    { type [adapters] Peekable[Bytes] { peek } is { Stream } }
    { type [adapters] Skip[Bytes] {} is { Debug, FusedStream, Stream } }
    { type [adapters] SkipWhile[Bytes, fn(&u8) -> bool] {} is { Debug, FusedStream, Stream } }
    { type [adapters] Take[Bytes] {} is { Debug, FusedStream, Stream } }
    { type [adapters] TakeWhile[Bytes, fn(&u8) -> bool] {} is { Debug, FusedStream, Stream } }
    { type [adapters] Then[Bytes, Ready<u8>, fn(u8) -> Ready<u8>] {} is { Debug, FusedStream, Stream } }
    { type [adapters] Timeout[Bytes] {} is { Debug, Stream } }
    { type [adapters] TimeoutRepeating[Bytes] {} is { Debug, Stream } }
    { fn [] empty[u8] }
    { fn [] iter[Vec<u8>] }
    { fn [] once[u8] }
    { fn [] pending[u8] }
    { type [wrappers] BroadcastStream[u8] { new } is { Debug, From[From<base::sync::broadcast::Receiver<u8>>], Stream
        } }
    { type [wrappers] IntervalStream { into_inner, new } is { AsMut[AsMut<base::time::Interval>],
        AsRef[AsRef<base::time::Interval>], Debug, FusedStream, Stream } }
    { type [wrappers] JoinSetStream[u8] { into_inner, new } is { AsMut[AsMut<base::task::JoinSet<u8>>],
        AsRef[AsRef<base::task::JoinSet<u8>>], Debug, From[From<base::task::JoinSet<u8>>], Stream } }
    { type [wrappers] ReceiverStream[u8] { close, into_inner, new } is {
        AsMut[AsMut<base::sync::mpsc::Receiver<u8>>], AsRef[AsRef<base::sync::mpsc::Receiver<u8>>], Debug,
        From[From<base::sync::mpsc::Receiver<u8>>], Stream } }
    { type [wrappers] UnboundedReceiverStream[u8] { close, into_inner, new } is {
        AsMut[AsMut<base::sync::mpsc::UnboundedReceiver<u8>>], AsRef[AsRef<base::sync::mpsc::UnboundedReceiver<u8>>],
        Debug, From[From<base::sync::mpsc::UnboundedReceiver<u8>>], Stream } }
    { type [wrappers] WatchStream[u8] { from_changes, new } is { Debug, From[From<base::sync::watch::Receiver<u8>>],
        Stream } }
    { type [wrappers::errors] BroadcastStreamRecvError { Lagged } is { Clone, Debug, Display, Eq, Error, PartialEq }
        }
}
