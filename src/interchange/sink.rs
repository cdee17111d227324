//! Who takes what is read, one conversation after the other, and why a reading ends early.

use std::io;
use std::ops::ControlFlow;

use crate::archive::{ArchiveItem, ScratchFile};
use crate::conversation::Conversation;
use crate::report::ImportIssue;

/// Who takes what is read. A taker that breaks off ends the reading.
pub trait ImportSink {
    /// One whole conversation.
    fn take_conversation(&mut self, conversation: Conversation) -> ControlFlow<()>;
    /// One thing of an archive of our own.
    fn take_archived(&mut self, item: ArchiveItem) -> ControlFlow<()> {
        let _ = item;
        ControlFlow::Continue(())
    }
    /// A file of its own, for what of an archive has to wait until it can be handed over; in memory where nobody has a
    /// better place.
    fn open_scratch(&mut self) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(io::Cursor::new(Vec::new())))
    }
    /// Something to tell. Findings of a conversation come before it.
    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()>;
}

/// Why a whole input could not be read on. What was handed over before is good.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("this is not {0}")]
    WrongFormat(&'static str),
    #[error("the file ends too early, or is damaged: {0}")]
    Damaged(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("it was written by a newer Turnleaf, in version {0} of the archive")]
    NewerVersion(u32),
    #[error(
        "this is a database: the command `turnleaf import --from legacy-messages FILE` (or `legacy-actions`) reads those \
         whose tables Turnleaf knows"
    )]
    Database,
    #[error("the taker broke off")]
    Cancelled,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("what was read of it cannot be kept until it is stored: {0}")]
    Spool(io::Error),
}

/// Tells a finding; a taker that breaks off ends the reading.
pub(crate) fn report_issue(taker: &mut dyn ImportSink, finding: ImportIssue) -> Result<(), ImportError> {
    if taker.take_issue(finding).is_break() { Err(ImportError::Cancelled) } else { Ok(()) }
}

/// Hands a conversation over; a taker that breaks off ends the reading.
pub(crate) fn hand_over(taker: &mut dyn ImportSink, conversation: Conversation) -> Result<(), ImportError> {
    if taker.take_conversation(conversation).is_break() { Err(ImportError::Cancelled) } else { Ok(()) }
}
