//! `select!`: tokio's, which polls its branches in order in a controlled execution.
//!
//! tokio's own begins with a random one. That is no choice of the search's: where several branches are ready without waiting for
//! anything controlled, or two waits stand in one place of the program, an execution could not be repeated.

// Exported macros live at the root of their crate.
pub use super::super::delay_select as select;
#[doc(hidden)]
pub use ::tokio;

/// Whether branches are polled in order.
#[doc(hidden)]
pub fn polls_in_order() -> bool {
    super::backend::is_controlled()
}

/// Waits for several futures at once and goes on with the first that is ready; as tokio's. In a controlled execution the branches are
/// polled in order, as if it began with `biased;`: which of them is granted what it waits for first is the schedule's choice anyway.
///
/// ```
/// # use delay_core::api::{select, sync::mpsc};
/// async fn either(one: &mut mpsc::Receiver<u32>, other: &mut mpsc::Receiver<u32>) -> Option<u32> {
///     select! {
///         number = one.recv() => number,
///         number = other.recv() => number,
///     }
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! delay_select {
    (biased; $($branches:tt)*) => {
        $crate::api::select::tokio::select! { biased; $($branches)* }
    };
    ($($branches:tt)*) => {
        if $crate::api::select::polls_in_order() {
            $crate::api::select::tokio::select! { biased; $($branches)* }
        } else {
            $crate::api::select::tokio::select! { $($branches)* }
        }
    };
}
