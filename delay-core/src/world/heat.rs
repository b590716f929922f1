//! Which monitors are hot: something good is owed and has not happened yet.
//!
//! Invariant: whether a monitor is hot is a function of its state, so the fingerprint has it already.

use super::World;

impl World {
    /// A monitor is hot from now on, or is not any more.
    pub(super) fn heat(&mut self, monitor: usize, is_hot: bool) {
        let now = self.choices;
        if is_hot {
            self.names.remember_heat();
        }
        let since = &mut self.hot_since[monitor];
        *since = if is_hot { since.or(Some(now)) } else { None };
    }

    /// The first monitor that is hot, and the choice in which it became so.
    pub fn hot(&self) -> Option<(usize, u64)> {
        self.hot_monitors().next()
    }

    /// The monitors that were hot all through the last step, as bits.
    pub fn steadily_hot(&self) -> u64 {
        let steady = self.hot_monitors().filter(|(_, since)| *since < self.choices);
        steady.fold(0, |bits, (monitor, _)| bits | 1 << monitor)
    }

    /// The monitors that are hot, each with the choice in which it became so.
    pub fn hot_monitors(&self) -> impl Iterator<Item = (usize, u64)> {
        self.hot_since.iter().enumerate().filter_map(|(monitor, since)| Some((monitor, (*since)?)))
    }
}
