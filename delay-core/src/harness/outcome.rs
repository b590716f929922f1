//! What a test body may return.

use std::fmt::Debug;

/// What a test body may return: nothing, or a `Result` whose error is the violation.
#[diagnostic::on_unimplemented(
    message = "a delay test must return `()` or a `Result<(), E>` with `E: Debug`",
    label = "this cannot tell success from failure"
)]
pub trait Outcome {
    /// Success, or the error in words.
    ///
    /// # Errors
    /// The body's own.
    fn outcome(self) -> Result<(), String>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Debug> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
    }
}
