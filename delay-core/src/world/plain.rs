//! What is left of the World without the controlled side: the words in which programs are written.

pub mod fault;
pub mod words;
