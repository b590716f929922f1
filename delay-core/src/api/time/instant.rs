//! Points in time: virtual ones inside a controlled execution, tokio's outside.

use super::{Duration, nanos};
use crate::live::context;
use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    ops,
};

/// What the virtual clock shows at the start, so that instants before it can be named, as they can on a real machine.
const EPOCH: u64 = 365 * 24 * 3600 * 1_000_000_000;

/// A point in time. Mirrors `tokio::time::Instant`.
///
/// A virtual instant and a real one cannot be compared.
///
/// ```
/// # use delay_core::api::time::{self, Duration, Instant};
/// async fn body() {
///     let start = Instant::now();
///     time::sleep(Duration::from_secs(5)).await;
///     assert!(start.elapsed() >= Duration::from_secs(5));
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Instant(At);

#[derive(Clone, Copy)]
enum At {
    /// Virtual nanoseconds since `EPOCH` before the start. Invariant: nobody can tell what `unseen` ones are without
    /// it being an observation.
    Virtual {
        nanos: u64,
        seen: bool,
    },
    Real(tokio::time::Instant),
}

impl Instant {
    /// The present. Inside a controlled execution an observation.
    #[must_use]
    pub fn now() -> Self {
        match context::with(|context| context.world.look_at_clock()) {
            Some(now) => Self::seen(now),
            None => Self(At::Real(tokio::time::Instant::now())),
        }
    }

    /// A virtual time since the start that the process knows.
    pub(super) fn seen(since_start: u64) -> Self {
        Self(At::Virtual { nanos: EPOCH.saturating_add(since_start), seen: true })
    }

    /// A virtual time since the start of which nothing is known until somebody looks.
    pub(super) fn unseen(since_start: u64) -> Self {
        Self(At::Virtual { nanos: EPOCH.saturating_add(since_start), seen: false })
    }

    pub(super) fn of_tokio(instant: tokio::time::Instant) -> Self {
        Self(At::Real(instant))
    }

    /// The tokio instant.
    ///
    /// # Panics
    /// If it is virtual.
    #[track_caller]
    pub(super) fn tokio(self) -> tokio::time::Instant {
        match self.0 {
            At::Real(instant) => instant,
            At::Virtual { .. } => panic!("a virtual instant is used outside its controlled execution"),
        }
    }

    /// Virtual nanoseconds since the start; 0 if it lies before.
    #[track_caller]
    pub(super) fn since_start(self) -> u64 {
        match self.look() {
            At::Virtual { nanos, .. } => nanos.saturating_sub(EPOCH),
            At::Real(_) => panic!("a real instant is used inside a controlled execution: take it there"),
        }
    }

    /// What it is, for somebody who is going to know it.
    fn look(self) -> At {
        if let At::Virtual { nanos, seen: false } = self.0 {
            context::with(|context| context.world.see_time(nanos));
            return At::Virtual { nanos, seen: true };
        }
        self.0
    }

    /// The instant of a standard one. It is real.
    #[must_use]
    pub fn from_std(std: std::time::Instant) -> Self {
        Self(At::Real(tokio::time::Instant::from_std(std)))
    }

    /// The standard instant.
    ///
    /// # Panics
    /// If it is virtual: it stands for no time of this machine.
    #[must_use]
    #[track_caller]
    pub fn into_std(self) -> std::time::Instant {
        self.tokio().into_std()
    }

    /// How long after `earlier` it is; nothing if it is not.
    #[must_use]
    #[track_caller]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// How long after `earlier` it is, if it is.
    #[must_use]
    #[track_caller]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        match (self.look(), earlier.look()) {
            (At::Virtual { nanos: to, .. }, At::Virtual { nanos: from, .. }) => {
                to.checked_sub(from).map(Duration::from_nanos)
            }
            (At::Real(to), At::Real(from)) => to.checked_duration_since(from),
            (At::Virtual { .. }, At::Real(_)) | (At::Real(_), At::Virtual { .. }) => mixed(),
        }
    }

    /// How long after `earlier` it is; nothing if it is not.
    #[must_use]
    #[track_caller]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// How long ago it was.
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// The instant so much later, if there is one.
    #[must_use]
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        match self.0 {
            At::Virtual { nanos: at, seen } => {
                let at = at.checked_add(u64::try_from(duration.as_nanos()).ok()?)?;
                Some(Self(At::Virtual { nanos: at, seen }))
            }
            At::Real(at) => at.checked_add(duration).map(Self::of_tokio),
        }
    }

    /// The instant so much earlier, if there is one.
    #[must_use]
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        match self.0 {
            At::Virtual { nanos: at, seen } => {
                Some(Self(At::Virtual { nanos: at.checked_sub(nanos(duration))?, seen }))
            }
            At::Real(at) => at.checked_sub(duration).map(Self::of_tokio),
        }
    }
}

#[cold]
#[track_caller]
fn mixed() -> ! {
    panic!("a virtual instant is compared with a real one: take both inside the same execution")
}

impl PartialEq for Instant {
    fn eq(&self, other: &Self) -> bool {
        match (self.look(), other.look()) {
            (At::Virtual { nanos: one, .. }, At::Virtual { nanos: two, .. }) => one == two,
            (At::Real(one), At::Real(two)) => one == two,
            (At::Virtual { .. }, At::Real(_)) | (At::Real(_), At::Virtual { .. }) => false,
        }
    }
}

impl Eq for Instant {}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Instant {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.look(), other.look()) {
            (At::Virtual { nanos: one, .. }, At::Virtual { nanos: two, .. }) => one.cmp(&two),
            (At::Real(one), At::Real(two)) => one.cmp(&two),
            (At::Virtual { .. }, At::Real(_)) | (At::Real(_), At::Virtual { .. }) => mixed(),
        }
    }
}

impl Hash for Instant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.look() {
            At::Virtual { nanos, .. } => nanos.hash(state),
            At::Real(at) => at.hash(state),
        }
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.look() {
            At::Virtual { nanos, .. } => match nanos.checked_sub(EPOCH) {
                Some(after) => write!(f, "{:?} after the start", Duration::from_nanos(after)),
                None => write!(f, "{:?} before the start", Duration::from_nanos(EPOCH - nanos)),
            },
            At::Real(at) => at.fmt(f),
        }
    }
}

impl From<std::time::Instant> for Instant {
    fn from(std: std::time::Instant) -> Self {
        Self::from_std(std)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        instant.into_std()
    }
}

impl ops::Add<Duration> for Instant {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        self.checked_add(later).expect("overflow when adding duration to instant")
    }
}

impl ops::AddAssign<Duration> for Instant {
    fn add_assign(&mut self, later: Duration) {
        *self = *self + later;
    }
}

impl ops::Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, earlier: Duration) -> Self {
        self.checked_sub(earlier).expect("overflow when subtracting duration from instant")
    }
}

impl ops::SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, earlier: Duration) {
        *self = *self - earlier;
    }
}

impl ops::Sub for Instant {
    type Output = Duration;

    #[track_caller]
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}
