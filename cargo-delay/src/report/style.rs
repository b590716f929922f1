//! The colours, those of cargo and cargo nextest.

use anstyle::{AnsiColor, Effects, Style};

/// Success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
/// Failure.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
/// Something to know.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
/// Where a test is.
pub(crate) const BINARY: Style = AnsiColor::Magenta.on_default().effects(Effects::BOLD);
/// What a test is called.
pub(crate) const NAME: Style = AnsiColor::Blue.on_default().effects(Effects::BOLD);
/// A number in a summary.
pub(crate) const COUNT: Style = Style::new().bold();
