//! The states of monitors, and which are hot: something good is owed and has not happened yet.
//!
//! Invariant: whether a monitor is hot is a function of its state, so the fingerprint has it already.

use super::{
    World,
    access::{Kind, Place},
    beyond::Beyond,
    journal::Act,
    parts::{Part, PartState, Seen},
};
use crate::hash::{Domain, Print};

impl World {
    /// Registers a monitor in this state; the number it goes by.
    pub fn add_monitor(&mut self, state: Print, is_hot: bool) -> usize {
        self.beyond_step(Beyond::Monitors);
        self.touch(Place::MONITORS, Kind::Write);
        self.shared_op();
        let monitor = self.monitors.len();
        self.monitors.push(state);
        self.sum = self.sum.plus(self.monitor_print(monitor));
        self.hot_since.push(None);
        self.heat(monitor, is_hot);
        monitor
    }

    /// What a monitor adds to the fingerprint.
    pub(super) fn monitor_print(&self, monitor: usize) -> Print {
        #[cfg(feature = "test-hooks")]
        if self.masks(super::masked::Part::Monitors) {
            return Print::default();
        }
        // Pitfall B.4: what it remembers decides what it will say.
        Print::of(Domain::Monitor).with(monitor as u64).and(self.monitors[monitor])
    }

    /// A monitor, as a part.
    pub(super) fn look_at_monitor_state(&self, monitor: usize) -> PartState {
        let identity = Print::of(Domain::Monitor).with(monitor as u64).and(self.monitors[monitor]);
        PartState::of(identity, self.monitor_print(monitor))
    }

    /// The actor looks at a monitor.
    fn look_at_monitor(&mut self, monitor: usize) {
        self.touch_monitor(monitor);
        if self.looked.is_open() {
            self.looked.note(Seen::Part(Part::monitor(monitor)));
        }
    }

    /// A monitor is in this state now.
    pub fn set_monitor(&mut self, monitor: usize, state: Print, is_hot: bool) {
        self.journal.note(|| Act::SetMonitor(monitor, state, is_hot));
        self.look_at_monitor(monitor);
        let before = self.monitor_print(monitor);
        self.monitors[monitor] = state;
        self.sum = self.sum.minus(before).plus(self.monitor_print(monitor));
        self.heat(monitor, is_hot);
    }

    /// How many monitors there are to hear what the actor announces.
    pub fn count_monitors(&mut self) -> usize {
        self.journal.note(|| Act::CountMonitors);
        self.touch(Place::MONITORS, Kind::Read);
        let count = self.monitors.len();
        self.journal.note(|| Act::Answered(count as u64));
        count
    }

    /// In which state a monitor is before it hears what the actor announces.
    pub fn ask_monitor(&mut self, monitor: usize) -> u64 {
        self.journal.note(|| Act::AskMonitor(monitor));
        self.look_at_monitor(monitor);
        let state = self.monitors[monitor].short();
        self.journal.note(|| Act::Answered(state));
        state
    }

    /// The actor announced an event that a monitor sees.
    pub fn announce(&mut self) {
        self.journal.note(|| Act::Announce);
        self.shared_op();
    }

    /// A monitor is hot from now on, or is not any more.
    pub(super) fn heat(&mut self, monitor: usize, is_hot: bool) {
        let now = self.choices;
        if is_hot {
            self.names.remember_heat();
            self.cannot_reduce("a monitor that can be hot (what goes on for ever is looked for among states, of which it leaves some out)");
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
