//! A client: asks for one thing at a time, through a dispatcher, again and again until it is answered.
//!
//! An op is carried out once, however often it was asked for. Of one that the client gave up nobody knows: it may be carried out, or
//! not, now or later; unless the client asks for something else, after which it is not.

use super::{MessageOf, OP_BYTES_MAX, Request, Ticket, machine::Machine};
use delay::{
    net::{Address, Endpoint},
    time::{Duration, timeout},
};
use std::{error, fmt};

/// How long a client waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Patience {
    /// For an answer, before it asks again.
    pub pause: Duration,
    /// How often it asks.
    pub attempts: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { pause: Duration::from_millis(500), attempts: 20 }
    }
}

/// Why a call has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// Nobody answered: whether it was or will be carried out is not known.
    Unknown {
        /// How often the client has asked.
        attempts: u32,
    },
    /// It was never asked for: it has more bytes than an op may have.
    TooLarge {
        /// How many it has.
        bytes: usize,
    },
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { attempts } => write!(
                f,
                "nobody answered in {attempts} attempts: whether it was carried out is not known; ask for the state, or be more patient"
            ),
            Self::TooLarge { bytes } => {
                write!(f, "the op has {bytes} bytes, at most {OP_BYTES_MAX} may be sent: split it")
            }
        }
    }
}

impl error::Error for CallError {}

/// A client of a replicated machine.
#[derive(Debug)]
pub struct Client<M: Machine> {
    endpoint: Endpoint<MessageOf<M>>,
    dispatcher: Address,
    /// The dispatcher's place in the list of all.
    via: u16,
    patience: Patience,
    /// Of the last request.
    ticket: Ticket,
}

impl<M: Machine> Client<M> {
    /// A client of a dispatcher, whose place in the list of all is `via`. The session must be higher than those of all clients that had
    /// this endpoint's name before.
    pub fn new(
        endpoint: Endpoint<MessageOf<M>>,
        via: u16,
        dispatcher: Address,
        session: u64,
        patience: Patience,
    ) -> Self {
        let ticket = Ticket { client: endpoint.address().name().to_owned(), session, number: 0 };
        Self { endpoint, dispatcher, via, patience, ticket }
    }

    /// The ticket of the last call.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Has an op carried out, once.
    ///
    /// # Errors
    /// If nobody answers, and it is not known whether it is carried out; if it is too large.
    pub async fn call(&mut self, op: M::Op) -> Result<M::Ret, CallError> {
        let bytes = M::bytes(&op);
        if bytes > OP_BYTES_MAX {
            return Err(CallError::TooLarge { bytes });
        }
        self.ticket.number += 1;
        let request = Request { ticket: self.ticket.clone(), via: self.via, op };
        let attempts = self.patience.attempts;
        for _ in 0..attempts {
            // A dispatcher that is gone is as one that does not answer.
            let _ = self.endpoint.send(self.dispatcher, MessageOf::<M>::Request(request.clone())).await;
            if let Ok(ret) = timeout(self.patience.pause, self.answer()).await {
                return Ok(ret);
            }
        }
        Err(CallError::Unknown { attempts })
    }

    /// What came of the last request.
    async fn answer(&mut self) -> M::Ret {
        loop {
            if let MessageOf::<M>::Answer(answer) = self.endpoint.recv().await.message
                && answer.ticket == self.ticket
            {
                return answer.ret;
            }
        }
    }
}
