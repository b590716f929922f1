//! One of several equal parts of a search, each for a process of its own.
//!
//! Invariants: every number belongs to just one shard; to which is decided by the number alone, so that shards need not talk
//! to each other.

/// A part of a search: of what is numbered from 0, every n-th.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Shard {
    /// From 1.
    number: u32,
    of: u32,
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl Shard {
    /// The only part of a search that is not divided.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// The shard with this number, from 1, of so many. None if there is no such shard.
    pub const fn new(number: u32, of: u32) -> Option<Self> {
        if number >= 1 && number <= of { Some(Self { number, of }) } else { None }
    }

    /// Which it is, from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    pub const fn of(self) -> u32 {
        self.of
    }

    /// Whether the search is not divided.
    pub const fn is_whole(self) -> bool {
        self.of == 1
    }

    /// The first of its numbers that is not below `from`.
    pub(super) fn first_from(self, from: u64) -> u64 {
        let of = u64::from(self.of);
        let offset = (u64::from(self.number - 1) + of - from % of) % of;
        from.saturating_add(offset)
    }

    /// Whether a number belongs to it.
    pub(super) fn owns(self, number: u64) -> bool {
        self.first_from(number) == number
    }

    /// The other shards of the search.
    pub(super) fn others(self) -> impl Iterator<Item = Self> {
        (1..=self.of).filter(move |number| *number != self.number).map(move |number| Self { number, of: self.of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_belongs_to_just_one_shard() {
        for of in 1..=7 {
            let shards: Vec<Shard> = (1..=of).filter_map(|number| Shard::new(number, of)).collect();
            assert_eq!(shards.len(), of as usize);
            for number in 0..50 {
                let owners = shards.iter().filter(|shard| shard.owns(number));
                assert_eq!(owners.count(), 1, "{number} of {of}");
                for shard in &shards {
                    let first = shard.first_from(number);
                    assert!(
                        (number..number + u64::from(of)).contains(&first) && shard.owns(first),
                        "{shard:?} {number}"
                    );
                }
            }
            assert!(shards.iter().all(|shard| shard.others().count() == of as usize - 1));
        }
        assert!(Shard::WHOLE.owns(u64::MAX) && Shard::WHOLE.is_whole());
    }

    #[test]
    fn there_is_no_shard_0_and_none_past_the_last() {
        for (number, of) in [(0, 1), (1, 0), (0, 0), (3, 2)] {
            assert_eq!(Shard::new(number, of), None, "{number}/{of}");
        }
    }
}
