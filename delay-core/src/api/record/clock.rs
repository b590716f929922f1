//! The time of a recording: a hybrid logical clock, one a process, that messages between nodes carry along.
//!
//! Source: Kulkarni, Demirbas, Madappa, Avva and Leone, "Logical physical clocks" (OPODIS 2014), Figure 5. A time is (l, c): l the
//! largest physical time heard of, c what tells events of one l apart. Differs from Figure 5: both are packed into one number, 52 bits of
//! microseconds and 12 of c, so that (l, c) + 1 is an addition and an overflow of c carries into l instead of being an error.
//!
//! Invariants: of two recorded events of which one can have led to the other, the later one has the larger time; within a process times
//! only grow. A clock that is far ahead is not believed: one broken clock must not take all others with it.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Bits of c.
const COUNT_BITS: u32 = 12;

/// A time. Zero is before every event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// As it is written: microseconds since 1970, and c.
    pub(super) fn parts(self) -> (u64, u64) {
        (self.0 >> COUNT_BITS, self.0 & ((1 << COUNT_BITS) - 1))
    }

    /// None if there is no such time.
    pub(crate) fn of_parts((micros, count): (u64, u64)) -> Option<Self> {
        let fits = micros < 1 << (64 - COUNT_BITS) && count < 1 << COUNT_BITS;
        fits.then_some(Self((micros << COUNT_BITS) | count))
    }
}

/// `2026-11-28T11:35:00.123456Z`.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (micros, _) = self.parts();
        let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
    }
}

/// The date so many days after the first of January 1970. Counts from the first of March of a year divisible by 400, so that the day that
/// may be missing is the last of a year.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let days = days + 719_468;
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

/// The largest time this process has given or heard of.
static LAST: AtomicU64 = AtomicU64::new(0);
/// How many times were not believed since [`disbelieved`] was asked.
static DISBELIEVED: AtomicU64 = AtomicU64::new(0);

/// The time of an event that happens now.
pub(super) fn tick() -> Stamp {
    tick_of(&LAST, micros())
}

/// What a message that leaves now carries along: later than nothing that was recorded before it. Zero if nothing is recorded
/// and nothing was heard of.
#[cfg(feature = "tcp")]
pub(crate) fn carried() -> u64 {
    LAST.load(Ordering::Relaxed)
}

/// A message has brought a time along.
#[cfg(feature = "tcp")]
pub(crate) fn heard(carried: u64) {
    if carried != 0 && !hear_of(&LAST, carried, micros()) && DISBELIEVED.fetch_add(1, Ordering::Relaxed) == 0 {
        tracing::warn!(
            "the clock of another node is more than an hour ahead, and is not believed: recordings may be out of order"
        );
    }
}

/// How many times were not believed since this was asked last.
pub(super) fn disbelieved() -> u64 {
    if DISBELIEVED.load(Ordering::Relaxed) == 0 { 0 } else { DISBELIEVED.swap(0, Ordering::Relaxed) }
}

/// A process that goes on with a recording is not earlier than what it recorded.
pub(crate) fn not_before(stamp: Stamp) {
    LAST.fetch_max(stamp.0, Ordering::Relaxed);
}

fn tick_of(last: &AtomicU64, micros: u64) -> Stamp {
    let now = micros << COUNT_BITS;
    let next = |last: u64| now.max(last + 1);
    match last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last))) {
        Ok(last) | Err(last) => Stamp(next(last)),
    }
}

/// Whether it was believed.
#[cfg(any(test, feature = "tcp"))]
fn hear_of(last: &AtomicU64, carried: u64, micros: u64) -> bool {
    let is_far_ahead = carried >> COUNT_BITS > micros + crate::limits::AHEAD_MAX_MICROS;
    if !is_far_ahead {
        last.fetch_max(carried, Ordering::Relaxed);
    }
    !is_far_ahead
}

/// Microseconds since 1970, below 2^51: what is added to it stays within the bits there are.
#[expect(clippy::disallowed_methods, reason = "never in a controlled execution: recordings are of production")]
fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX).min((1 << 51) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;
    use proptest::prelude::*;

    fn stamp(micros: u64, count: u64) -> Stamp {
        Stamp::of_parts((micros, count)).unwrap()
    }

    #[test]
    fn times_grow_while_the_physical_clock_stands_or_goes_back() {
        let last = AtomicU64::new(0);
        let times: Vec<(u64, u64)> = [7, 7, 5, 8].map(|now| tick_of(&last, now).parts()).to_vec();
        assert_eq!(times, [(7, 0), (7, 1), (7, 2), (8, 0)]);
    }

    #[test]
    fn more_events_than_can_be_counted_in_a_microsecond_borrow_from_the_next() {
        let last = AtomicU64::new(stamp(7, (1 << COUNT_BITS) - 1).0);
        assert_eq!(tick_of(&last, 7).parts(), (8, 0));
    }

    #[test]
    fn what_was_heard_of_is_earlier_than_what_follows() {
        let last = AtomicU64::new(0);
        assert!(hear_of(&last, stamp(100, 4).0, 50));
        assert_eq!(tick_of(&last, 51).parts(), (100, 5));
        assert!(hear_of(&last, stamp(60, 0).0, 52), "an earlier time changes nothing");
        assert_eq!(tick_of(&last, 101).parts(), (101, 0));
    }

    #[test]
    fn a_clock_far_ahead_is_not_believed() {
        let last = AtomicU64::new(0);
        for carried in [u64::MAX, stamp(limits::AHEAD_MAX_MICROS + 51, 0).0] {
            assert!(!hear_of(&last, carried, 50));
        }
        assert!(hear_of(&last, stamp(limits::AHEAD_MAX_MICROS + 50, 0).0, 50));
    }

    #[test]
    fn times_are_shown_as_dates() {
        let shown = |seconds: u64| stamp(seconds * 1_000_000 + 42, 0).to_string();
        assert_eq!(shown(0), "1970-01-01T00:00:00.000042Z");
        assert_eq!(shown(951_782_400), "2000-02-29T00:00:00.000042Z");
        assert_eq!(shown(951_868_799), "2000-02-29T23:59:59.000042Z");
        assert_eq!(shown(4_107_542_400), "2100-03-01T00:00:00.000042Z");
        assert_eq!(shown(1_764_329_700), "2025-11-28T11:35:00.000042Z");
    }

    /// What one of three processes does; the physical clocks differ and may go back.
    #[derive(Debug, Clone)]
    enum Act {
        Event { process: usize, micros: u64 },
        Message { from: usize, to: usize, micros: u64 },
    }

    fn act() -> impl Strategy<Value = Act> {
        let micros = 0..1_000_u64;
        prop_oneof![
            (0..3_usize, micros.clone()).prop_map(|(process, micros)| Act::Event { process, micros }),
            (0..3_usize, 0..3_usize, micros).prop_map(|(from, to, micros)| Act::Message { from, to, micros }),
        ]
    }

    proptest! {
        /// Against vector clocks: whatever can have led to an event has an earlier time.
        #[test]
        fn the_order_of_times_respects_causality(acts in proptest::collection::vec(act(), 1..60)) {
            let clocks = [const { AtomicU64::new(0) }; 3];
            let mut vectors = [[0_u32; 3]; 3];
            let mut events: Vec<(Stamp, [u32; 3])> = Vec::new();
            for act in acts {
                match act {
                    Act::Event { process, micros } => {
                        vectors[process][process] += 1;
                        events.push((tick_of(&clocks[process], micros), vectors[process]));
                    }
                    Act::Message { from, to, micros } => {
                        let carried = clocks[from].load(Ordering::Relaxed);
                        prop_assert!(hear_of(&clocks[to], carried, micros));
                        let sent = vectors[from];
                        vectors[to].iter_mut().zip(sent).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
                    }
                }
            }
            for (time, vector) in &events {
                for (later, after) in &events {
                    let leads_to = vector != after && vector.iter().zip(after).all(|(a, b)| a <= b);
                    prop_assert!(!leads_to || time < later, "{time:?} {vector:?} {later:?} {after:?}");
                }
            }
        }
    }
}
