//! The interface between readers and importers: a sink receives one conversation after the other, and an error says
//! why reading stopped.

use std::io;
use std::ops::ControlFlow;

use crate::archive::{ArchiveItem, ScratchFile};
use crate::conversation::Conversation;
use crate::domain::{ModelLock, UNKNOWN_MODEL};
use crate::report::{ImportIssue, IssueKind};

/// Receives imported items. A sink that returns `Break` stops the import.
pub trait ImportSink {
    /// Receives one whole conversation.
    fn take_conversation(&mut self, conversation: Conversation) -> ControlFlow<()>;
    /// Receives one item of a Turnleaf archive.
    fn take_archived(&mut self, item: ArchiveItem) -> ControlFlow<()> {
        let _ = item;
        ControlFlow::Continue(())
    }
    /// Opens a scratch file for archive data that must wait until it can be delivered; the default is in memory.
    fn open_scratch(&mut self) -> io::Result<Box<dyn ScratchFile>> {
        Ok(Box::new(io::Cursor::new(Vec::new())))
    }
    /// Returns the lock of branches whose source names no provider and model.
    fn default_lock(&self) -> ModelLock {
        ModelLock::new(UNKNOWN_MODEL, UNKNOWN_MODEL)
    }
    /// Returns the default model of a provider, for branches whose source names only the provider; `None` if the
    /// provider does not exist here.
    fn default_model(&self, provider: &str) -> Option<String> {
        let _ = provider;
        None
    }
    /// Receives an issue. The issues of a conversation precede it.
    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()>;
}

/// The reason why reading stopped. Items that were delivered before stay valid.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("this is not {0}")]
    WrongFormat(&'static str),
    #[error("no chats were found in it: {0}")]
    Unrecognized(String),
    #[error("the file ends too early, or is damaged: {0}")]
    Damaged(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("it was written by a newer version of Turnleaf (archive version {0}); update this server first")]
    NewerVersion(u32),
    #[error(
        "this is a database: import it with `turnleaf import --from legacy-messages FILE` (or `legacy-actions`), for \
        supported schemas"
    )]
    Database,
    #[error("the import was interrupted")]
    Cancelled,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it could not be stored temporarily: {0}")]
    Spool(io::Error),
}

/// Reports an issue; fails if the sink stops the import.
pub(crate) fn report_issue(taker: &mut dyn ImportSink, finding: ImportIssue) -> Result<(), ImportError> {
    if taker.take_issue(finding).is_break() { Err(ImportError::Cancelled) } else { Ok(()) }
}

/// Delivers a conversation; fails if the sink stops the import.
pub(crate) fn hand_over(taker: &mut dyn ImportSink, conversation: Conversation) -> Result<(), ImportError> {
    if taker.take_conversation(conversation).is_break() { Err(ImportError::Cancelled) } else { Ok(()) }
}

/// A sink that keeps only the first issue about something left out, for looking into an input.
#[derive(Default)]
pub(crate) struct FirstIssue {
    pub(crate) first: Option<String>,
}

impl ImportSink for FirstIssue {
    fn take_conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn take_issue(&mut self, finding: ImportIssue) -> ControlFlow<()> {
        if finding.kind == IssueKind::LeftOut {
            self.first.get_or_insert(finding.text);
        }
        ControlFlow::Continue(())
    }
}
