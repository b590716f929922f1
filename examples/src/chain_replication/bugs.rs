//! The seeded bugs of chain replication.

/// Which bug the servers have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// None: the protocol as it should be.
    None,
    /// C2: a server that gets a new successor looks for what to send again without asking whether there is anything.
    IndexesEmptySent,
    /// C5: a server takes updates from anybody. One that a failed predecessor still had under way arrives a second time
    /// from the new one.
    TakesFromAnybody,
    /// C6: the head passes updates on and does not carry them out itself; once it is all that is left, it answers from
    /// a register it never wrote.
    HeadForgets,
    /// C8: a server without updates does not tell the master that it has a new predecessor, and the chain is never
    /// mended.
    SilentIfEmpty,
    /// C11: a server that becomes the tail does not answer the updates it had only passed on so far.
    KeepsSent,
}
