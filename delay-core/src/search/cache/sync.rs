//! What the cache synchronises by. A model test puts loom's in its place.

pub(super) use std::{
    hint::spin_loop,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64},
    },
};
