//! What users say when they make a network or a store: words that the deployed side shares.

/// Which of the queued messages a receive may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Delivery {
    /// The oldest: one queue in order of arrival, as in P.
    #[default]
    Fifo,
    /// The oldest of any sender: each sender's messages stay in order, the merge is a choice. Like TCP.
    PerSender,
    /// Any: like UDP.
    Unordered,
}

/// What a store keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    /// The last value.
    Last,
    /// Every value, in order. `torn`: a crash may leave one incomplete.
    All {
        /// Whether a crash may leave the first record it loses incomplete.
        torn: bool,
    },
}
