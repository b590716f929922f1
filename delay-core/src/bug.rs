//! The panic for our own mistakes.

/// Stops with a message that asks for a report: an invariant of the engine itself does not hold.
#[macro_export]
#[doc(hidden)]
macro_rules! bug {
    ($($arg:tt)*) => {
        panic!("[delay internal bug] {} (please report this with the program that shows it)", format_args!($($arg)*))
    };
}
