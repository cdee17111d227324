//! Commit messages: author, subject and trailers of a turn's commit.

use super::object::CommitAuthor;
use crate::domain::text::excerpt::first_line;
use crate::domain::{Content, Role, Turn, TurnStatus};

/// Length of the subject line that git tools expect, in characters.
pub const SUBJECT_CHARS: usize = 72;

/// Returns the author of a turn: the user, the system, or the model with an address made of the provider's name.
pub fn author(turn: &Turn) -> CommitAuthor {
    match turn.role {
        Role::User => CommitAuthor::new("User", "user", "User"),
        Role::System => CommitAuthor::new("System", "system", "System"),
        Role::Assistant if turn.is_edited() => CommitAuthor::new("User", "user", "User"),
        Role::Assistant => {
            let (model, provider) = (turn.model_used.as_deref(), turn.provider_used.as_deref());
            CommitAuthor::new(model.unwrap_or_default(), provider.unwrap_or_default(), "Assistant")
        }
    }
}

/// Returns the commit message: the first words of the turn, and its metadata as git trailers.
pub fn message(turn: &Turn) -> String {
    let text = first_line(&turn.content_text(), SUBJECT_CHARS);
    let error = turn.error.as_ref().map(|error| first_line(&error.sentence(), SUBJECT_CHARS));
    let subject = match (text.is_empty(), error) {
        (false, _) => text,
        (true, Some(error)) if !error.is_empty() => error,
        (true, _) if turn.blocks.iter().any(|block| matches!(block.content, Content::Image { .. })) => "(image)".into(),
        (true, _) => "(no text)".into(),
    };
    let mut message = format!("{subject}\n\nTurn: {}\nRole: {}\n", turn.id, turn.role.as_str());
    if turn.status != TurnStatus::Complete {
        message.push_str(&format!("Status: {}\n", turn.status.as_str()));
    }
    for (name, value) in [("Provider", &turn.provider_used), ("Model", &turn.model_used)] {
        if let Some(value) = value {
            message.push_str(&format!("{name}: {}\n", first_line(value, 200)));
        }
    }
    message
}
