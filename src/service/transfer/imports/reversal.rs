//! The undo of an import, or the restoring of an undone one, as its owner sees it: it runs in the background, and its
//! progress lives in this process. Its finished steps are in the database; after a restart it can be repeated.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Serialize;

use crate::ServiceError;
use turnleaf_domain::{ChatId, CodedMessage, DocumentId, ImportCreations, ImportId, MessageCode, UndoScope, UserId};

/// The newest reversal of each owner, and the import that it is of. It is kept when it is over, for its result.
#[derive(Default)]
pub(super) struct Reversals(pub(super) Mutex<HashMap<UserId, (ImportId, SharedReversal)>>);

/// A reversal with its progress.
pub(super) type SharedReversal = Arc<Mutex<ImportReversal>>;

/// The kind of a reversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportReversalKind {
    Undo,
    Restore,
}

/// The newest undo or restoring of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportReversal {
    pub kind: ImportReversalKind,
    /// The scope of an undo; none for a restoring.
    #[serde(skip)]
    #[schema(ignore)]
    pub(super) scope: Option<UndoScope>,
    pub is_over: bool,
    /// Number of steps that are done: chats and documents of an undo, deletions and documents of a restoring.
    pub done: u64,
    /// Number of all steps; 0 until they are counted.
    pub total: u64,
    /// The items that an undo moved to Trash: chats, added messages as the number of their chats, documents.
    pub removed: ImportCreations,
    /// Number of restored deletions and documents.
    pub restored: u64,
    /// The reason why it ended early, or did not do everything; it can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<ReversalFailure>,
}

/// The reason why an undo or a restoring did not do everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ReversalFailure {
    /// `import_partly_undone` or `import_partly_restored`.
    pub code: &'static str,
    /// The reason in English.
    pub detail: String,
    #[serde(skip)]
    #[schema(ignore)]
    pub message: CodedMessage,
}

/// The items of an undone import that are not in Trash, because they were continued, changed or are used elsewhere: the
/// first of each kind, while `present` counts all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct KeptCreations {
    pub chats: Vec<KeptChat>,
    pub documents: Vec<KeptDocument>,
}

/// A chat that an undo kept as a whole, or of which it kept added messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct KeptChat {
    pub id: ChatId,
    pub title: String,
}

/// A document that an undo kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct KeptDocument {
    pub id: DocumentId,
    pub title: String,
    /// True if a message or a draft uses it; an undo keeps it always.
    pub is_used: bool,
}

impl KeptCreations {
    /// Returns whether undoing the rest would move something to Trash.
    pub fn can_undo(&self) -> bool {
        !self.chats.is_empty() || self.documents.iter().any(|document| !document.is_used)
    }
}

impl ImportReversal {
    /// Returns an undo of this scope, or without one a restoring, that begins.
    pub(super) fn new(scope: Option<UndoScope>) -> Self {
        let kind = if scope.is_some() { ImportReversalKind::Undo } else { ImportReversalKind::Restore };
        let removed = ImportCreations::default();
        Self { kind, scope, is_over: false, done: 0, total: 0, removed, restored: 0, failure: None }
    }

    /// Ends it with the reason of a refusal, or without one.
    pub(super) fn fail(&mut self, error: Option<&ServiceError>) {
        self.failure = Some(match (error, self.kind) {
            (Some(ServiceError::Conflict { code, message, .. }), _) => ReversalFailure::new(code, message.clone()),
            (_, ImportReversalKind::Undo) => {
                ReversalFailure::new("import_partly_undone", MessageCode::ImportPartlyUndone.into())
            }
            (_, ImportReversalKind::Restore) => {
                ReversalFailure::new("import_partly_restored", MessageCode::ImportPartlyRestored.into())
            }
        });
    }
}

impl ReversalFailure {
    fn new(code: &'static str, message: CodedMessage) -> Self {
        Self { code, detail: message.to_string(), message }
    }
}
