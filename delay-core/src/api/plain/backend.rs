//! Without the controlled side there is nothing to choose: every handle is tokio's.

use crate::hash::Print;
use std::{convert::Infallible, marker::PhantomData};

/// Which side a fresh handle belongs to.
#[derive(Debug, Clone)]
pub(crate) enum Side<C, T> {
    /// Never: each `C` is [`Absent`].
    Controlled(C),
    /// Always.
    Tokio(T),
}

/// In the place of what only a controlled execution has. There is no value of it, so the compiler drops what is done with one.
#[derive(Debug)]
pub(crate) struct Absent<T>(Infallible, PhantomData<fn() -> T>);

impl<T> Clone for Absent<T> {
    fn clone(&self) -> Self {
        self.never()
    }
}

impl<T> Absent<T> {
    /// What is done with a value that there is not.
    pub(crate) fn never(&self) -> ! {
        match self.0 {}
    }
}

/// Declares a type of a controlled side with its methods, none of which can be called.
macro_rules! absent {
    ($(struct $name:ident[$($parameter:tt),*] = $of:ty {
        $($function:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*
    })*) => {$(
        pub(super) struct $name<$($parameter),*>(Absent<$of>);

        impl<$($parameter),*> $name<$($parameter),*> {$(
            pub(super) fn $function(&self $(, $argument: $type)*) $(-> $output)? {
                let _ = ($($argument,)*);
                self.0.never()
            }
        )*}
    )*};
}
pub(crate) use absent;

#[inline]
pub(crate) const fn is_controlled() -> bool {
    false
}

/// Asked for what only a controlled execution has, though [`is_controlled`] denies that there is one.
#[cold]
pub(crate) fn misplaced() -> ! {
    crate::bug!("there is no controlled side")
}

/// A random number of the running task: the system draws it.
pub(crate) fn draw() -> Option<u64> {
    None
}

/// Nobody asks what a task's future depends on.
pub(crate) fn checkpoint(_print: Print) -> bool {
    true
}

/// What to say of a message that a task's state has no handler for.
pub(crate) fn unhandled(state: &str, message: &str) -> String {
    format!("unhandled message: a task in state {state:?} received {message}")
}
