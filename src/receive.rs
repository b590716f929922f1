//! The macro `receive!`: P's selective receive.
//!
//! It expands in place, so that handlers may use `?`, `return`, `break`, `continue` and `.await` of the function they stand
//! in. Two matches over the same arms: the first, in a loop, asks which arm a message meets without moving anything out of
//! it; the second, outside the loop, runs the handler. A guard is evaluated once.

/// Receives the first message that the present state handles.
///
/// `receive!(inbox, state, { arms })` waits, and its value is that of the arm that matched. `inbox` is a place of type
/// [`Inbox`](crate::inbox::Inbox); `state` names the state in messages, anything with `Display`. The first arm that
/// matches counts:
///
/// - `pattern => value,` or `pattern if guard => value,` handles a message.
/// - `defer pattern,` or `defer pattern if guard,` leaves a message for a later `receive!`. Deferred messages keep their
///   order and come before those that arrive later.
/// - `ignore pattern,` or `ignore pattern if guard,` drops a message.
/// - `closed => value,` stands for the end of the channel, when no message is left that is not deferred.
///
/// Over an [`Endpoint`](crate::net::Endpoint) messages are envelopes: `Envelope { from, message: Vote(v) } => ..`.
///
/// # Panics
/// On a message that matches no arm, and on the end of the channel without an arm for it. In a controlled execution that
/// is the violation `Unhandled`, which names process, state and message.
///
/// ```
/// use delay::{inbox::Inbox, receive, sync::mpsc};
///
/// #[derive(Debug)]
/// enum Message { Request(u32), Vote(bool), Ping }
///
/// async fn coordinator(mut inbox: Inbox<mpsc::UnboundedReceiver<Message>>) {
///     loop {
///         let request = receive!(inbox, "idle", {
///             Message::Request(request) => request,
///             ignore Message::Ping | Message::Vote(_),
///             closed => return,
///         });
///         let vote = receive!(inbox, format_args!("waiting for a vote on {request}"), {
///             Message::Vote(vote) => vote,
///             defer Message::Request(_),
///             ignore Message::Ping,
///             closed => break,
///         });
///         println!("{request}: {vote}");
///     }
/// }
/// ```
#[macro_export]
macro_rules! receive {
    ($inbox:expr, $state:expr, { $($arms:tt)* }) => {
        $crate::__receive!(@arms [$inbox] [$state] [] [] [$crate::inbox::ended($state)] [1u32] $($arms)*)
    };
}

/// Reads the arms of `receive!` one by one into those of its two matches.
#[doc(hidden)]
#[macro_export]
macro_rules! __receive {
    // [inbox] [state] [arms that choose] [arms that handle] [at the end] [number of the next arm]
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt defer $pat:pat $(if $guard:expr)? $(, $($rest:tt)*)?) => {
        $crate::__receive!(@chosen $i $s $c $h $e $n [$crate::inbox::DEFER] [$pat] [$($guard)?] $($($rest)*)?)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt ignore $pat:pat $(if $guard:expr)? $(, $($rest:tt)*)?) => {
        $crate::__receive!(@chosen $i $s $c $h $e $n [$crate::inbox::IGNORE] [$pat] [$($guard)?] $($($rest)*)?)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt closed => $body:block $(, $($rest:tt)*)?) => {
        $crate::__receive!(@arms $i $s $c $h [$body] $n $($($rest)*)?)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt closed => $body:block $($rest:tt)*) => {
        $crate::__receive!(@arms $i $s $c $h [$body] $n $($rest)*)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt closed => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__receive!(@arms $i $s $c $h [$body] $n $($($rest)*)?)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt $pat:pat $(if $guard:expr)? => $body:block , $($rest:tt)*) => {
        $crate::__receive!(@handled $i $s $c $h $e $n [$pat] [$($guard)?] [$body] $($rest)*)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt $pat:pat $(if $guard:expr)? => $body:block $($rest:tt)*) => {
        $crate::__receive!(@handled $i $s $c $h $e $n [$pat] [$($guard)?] [$body] $($rest)*)
    };
    (@arms $i:tt $s:tt $c:tt $h:tt $e:tt $n:tt $pat:pat $(if $guard:expr)? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__receive!(@handled $i $s $c $h $e $n [$pat] [$($guard)?] [$body] $($($rest)*)?)
    };
    (@handled $i:tt $s:tt $c:tt [$($h:tt)*] $e:tt [$n:expr] [$pat:pat] $g:tt [$body:expr] $($rest:tt)*) => {
        $crate::__receive!(
            @chosen $i $s $c [$($h)* { ($n) [$pat] $g [$body] }] $e [$n] [$n] [$pat] $g $($rest)*
        )
    };
    (@chosen $i:tt $s:tt [$($c:tt)*] $h:tt $e:tt [$n:expr] [$arm:expr] [$pat:pat] [$($guard:expr)?] $($rest:tt)*) => {
        $crate::__receive!(@arms $i $s [$($c)* { ($arm) [$pat] [$($guard)?] }] $h $e [$n + 1] $($rest)*)
    };
    (@arms [$inbox:expr] [$state:expr]
        [$({ ($arm:expr) [$chosen:pat] [$($guard:expr)?] })*]
        [$({ ($handler:expr) [$handled:pat] [$($held:expr)?] [$body:expr] })*]
        [$end:expr] $n:tt
    ) => {{
        let mut at = 0usize;
        let received = loop {
            let ::core::option::Option::Some(message) = $inbox.take(at).await else {
                break ::core::option::Option::None;
            };
            let chosen = ::core::cell::Cell::new($crate::inbox::UNHANDLED);
            // Each guard is false in the end, so that no arm is entered and nothing is moved. What only the handler uses is
            // unused here, and what is unused depends on the arms: `expect` cannot say it.
            #[allow(unused)]
            match message {
                $($chosen if chosen.get() == $crate::inbox::UNHANDLED
                    $(&& $guard)? && { chosen.set($arm); false } => ::core::unreachable!(),)*
                _ => {}
            }
            match chosen.get() {
                $crate::inbox::UNHANDLED => $crate::inbox::unhandled($state, &message),
                $crate::inbox::DEFER => {
                    $inbox.put_back(at, message);
                    at += 1;
                }
                $crate::inbox::IGNORE => {}
                arm => break ::core::option::Option::Some((arm, message)),
            }
        };
        match received {
            ::core::option::Option::None => $end,
            ::core::option::Option::Some((arm, message)) => match message {
                // What only a guard uses is used here too; it is not evaluated again.
                $($handled if arm == $handler $(&& (true || $held))? => $body,)*
                _ => ::core::unreachable!("the arm that was chosen"),
            },
        }
    }};
}
