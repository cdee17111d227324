//! Who takes what is read, one conversation after the other, and why a reading ends early.

use std::io;
use std::ops::ControlFlow;

use crate::archive::{Item, Scratch};
use crate::conversation::Conversation;
use crate::report::Finding;

/// Who takes what is read. A taker that breaks off ends the reading.
pub trait Taker {
    /// One whole conversation.
    fn conversation(&mut self, conversation: Conversation) -> ControlFlow<()>;
    /// One thing of an archive of our own.
    fn archived(&mut self, item: Item) -> ControlFlow<()> {
        let _ = item;
        ControlFlow::Continue(())
    }
    /// A file of its own, for what of an archive has to wait until it can be handed over; in memory where nobody has a
    /// better place.
    fn scratch(&mut self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(io::Cursor::new(Vec::new())))
    }
    /// Something to tell. Findings of a conversation come before it.
    fn finding(&mut self, finding: Finding) -> ControlFlow<()>;
}

/// Why a whole input could not be read on. What was handed over before is good.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    #[error("this is not {0}")]
    NotThis(&'static str),
    #[error("the file ends too early, or is damaged: {0}")]
    Damaged(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("it was written by a newer Turnleaf, in version {0} of the archive")]
    TooNew(u32),
    #[error(
        "this is a database: the command `turnleaf import --from legacy-messages FILE` (or `legacy-actions`) reads those \
         whose tables Turnleaf knows"
    )]
    Database,
    #[error("the taker broke off")]
    BrokenOff,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("what was read of it cannot be kept until it is stored: {0}")]
    Spool(io::Error),
}

/// Tells a finding; a taker that breaks off ends the reading.
pub(crate) fn tell(taker: &mut dyn Taker, finding: Finding) -> Result<(), Stopped> {
    if taker.finding(finding).is_break() { Err(Stopped::BrokenOff) } else { Ok(()) }
}

/// Hands a conversation over; a taker that breaks off ends the reading.
pub(crate) fn hand_over(taker: &mut dyn Taker, conversation: Conversation) -> Result<(), Stopped> {
    if taker.conversation(conversation).is_break() { Err(Stopped::BrokenOff) } else { Ok(()) }
}
