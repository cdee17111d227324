//! The keys of AnythingLLM's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

/// A row, in JSON or CSV.
pub(super) const ROW: KnownKeys = KnownKeys {
    kind: "row",
    read: &["id", "workspace", "username", "prompt", "response", "sent_at", "attachments", "rating", "feedback"],
    lost: &[],
    ignored: &[],
};

/// The export of a thread, or the line of a workspace.
pub(super) const THREAD: KnownKeys =
    KnownKeys { kind: "thread", read: &["workspace", "thread", "messages"], lost: &[], ignored: &["exported"] };

pub(super) const MESSAGE: KnownKeys =
    KnownKeys { kind: "message", read: &["role", "content", "reasoning"], lost: &[], ignored: &[] };
