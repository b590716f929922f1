//! The state cache: which fingerprints a search has met, in a table that its threads share.
//!
//! [`slots`] is the table itself: open addressing, without a lock. [`table`] gives each thread its access, counts, grows, and keeps to a budget of
//! bytes. Their words of synchronisation come from `sync.rs` alone, so that the same source is run by loom, under all orders that the
//! memory model allows (`delay-core/tests/cache_model.rs`).
//!
//! Memory: a slot is as many words of 8 bytes as a key has, and 7 of 8 slots are used before a table grows: to twice its size while it is below 1 GiB,
//! then by 3 in 10. So a key of 64 bits takes 9.1 bytes in a full table, 18.3 in one that has just doubled, and at most 11.9 in one above 1 GiB: 100 million keys
//! are in 1 GiB, 10.7 bytes each.

pub mod slots;
mod sync;
pub mod table;

/// What became of an insertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// The key was not there, and is now.
    New,
    /// The key was there.
    Known,
    /// The key is not there, and the budget has no room for it.
    Full,
}

#[cfg(test)]
mod tests;
