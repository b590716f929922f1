//! What the environment may do wrong, and how often.

/// A way in which the environment can fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Kind {
    /// A message is lost.
    Drop,
    /// A message arrives once more.
    Duplicate,
    /// A message overtakes those before it.
    Reorder,
    /// A message is held back: others, and timers, can come first.
    Delay,
    /// The nodes fall apart into two sides that do not reach each other, until the partition heals.
    Partition,
    /// A node loses its processes and all it has not stored.
    Crash,
    /// A node that crashed starts again.
    Restart,
}

impl Kind {
    /// All kinds, in the order in which they are written down.
    pub const ALL: [Self; 7] =
        [Self::Drop, Self::Duplicate, Self::Reorder, Self::Delay, Self::Partition, Self::Crash, Self::Restart];

    /// Its name in attributes and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Delay => "delay",
            Self::Partition => "partition",
            Self::Crash => "crash",
            Self::Restart => "restart",
        }
    }

    /// Whether it happens to a message.
    pub const fn is_of_messages(self) -> bool {
        matches!(self, Self::Drop | Self::Duplicate | Self::Reorder | Self::Delay)
    }
}

/// How many faults of each kind may happen: each kind has a budget of its own.
///
/// ```
/// use delay_core::world::fault::Faults;
/// const LOSSY: Faults = Faults::NONE.drop(2).duplicate(1);
/// assert_ne!(LOSSY, Faults::NONE);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Faults([u32; Kind::ALL.len()]);

impl Faults {
    /// Nothing goes wrong.
    pub const NONE: Self = Self([0; Kind::ALL.len()]);

    /// So many messages may be lost.
    #[must_use]
    pub const fn drop(self, most: u32) -> Self {
        self.with(Kind::Drop, most)
    }

    /// So many messages may arrive twice.
    #[must_use]
    pub const fn duplicate(self, most: u32) -> Self {
        self.with(Kind::Duplicate, most)
    }

    /// So many messages may overtake others, on a network that keeps their order otherwise.
    #[must_use]
    pub const fn reorder(self, most: u32) -> Self {
        self.with(Kind::Reorder, most)
    }

    /// So many messages may be held back.
    #[must_use]
    pub const fn delay(self, most: u32) -> Self {
        self.with(Kind::Delay, most)
    }

    /// The nodes may be partitioned so often.
    #[must_use]
    pub const fn partition(self, most: u32) -> Self {
        self.with(Kind::Partition, most)
    }

    /// So many nodes may crash.
    #[must_use]
    pub const fn crash(self, most: u32) -> Self {
        self.with(Kind::Crash, most)
    }

    /// So many nodes that crashed start again.
    #[must_use]
    pub const fn restart(self, most: u32) -> Self {
        self.with(Kind::Restart, most)
    }

    pub(crate) const fn with(mut self, kind: Kind, most: u32) -> Self {
        self.0[kind as usize] = most;
        self
    }

    /// How many faults of a kind may still happen.
    #[inline]
    pub const fn left(&self, kind: Kind) -> u32 {
        self.0[kind as usize]
    }

    /// Whether any may happen.
    pub fn is_any(&self) -> bool {
        *self != Self::NONE
    }
}

/// Which budget the faults of a message, or of a node, are taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Rule(pub(super) u16);

impl Rule {
    /// The budget of the test.
    pub const TEST: Self = Self(0);
}

/// What becomes of the messages to a node that is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Mail {
    /// They are lost, those that wait there when it crashes too.
    #[default]
    Lost,
    /// They wait until it is up again.
    Kept,
}

/// Which timers may fire when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Time {
    /// Any, any time after it was set: P's timers.
    #[default]
    Any,
    /// The one whose deadline comes first, when nothing else can happen.
    Ordered,
}

impl Time {
    /// Its name in attributes and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Ordered => "ordered",
        }
    }
}
