//! Draft comparison and three-way merge.

use crate::api::view::DraftView;

/// Separates a message in flight from text typed behind it, also when a failed message is restored.
pub const DRAFT_SEPARATOR: &str = "\n\n";

/// Returns whether two drafts have the same content; revisions are ignored.
pub fn is_same_draft(a: &DraftView, b: &DraftView) -> bool {
    is_same_message(a, b) && a.lock == b.lock && a.thinking == b.thinking
}

/// Returns whether two drafts would be the same message.
pub fn is_same_message(a: &DraftView, b: &DraftView) -> bool {
    a.text == b.text && a.attachments == b.attachments
}

pub fn is_empty_draft(draft: &DraftView) -> bool {
    draft.text.is_empty() && draft.attachments.is_empty()
}

/// Three-way merge: returns the side that changed; none where both sides changed to different values.
pub fn merge_three_way<T: PartialEq + Clone>(ours: &T, base: &T, theirs: &T) -> Option<T> {
    match (ours == base, theirs == base || theirs == ours) {
        (true, _) => Some(theirs.clone()),
        (false, true) => Some(ours.clone()),
        (false, false) => None,
    }
}

/// Appends the text typed behind a message in flight to it; none where nothing was typed.
pub fn append_to_held(held: &DraftView, draft: DraftView) -> Option<DraftView> {
    let has_text = draft.text != held.text && !draft.text.is_empty();
    let has_attached = draft.attachments != held.attachments && !draft.attachments.is_empty();
    let text = if has_text { format!("{}{DRAFT_SEPARATOR}{}", held.text, draft.text) } else { held.text.clone() };
    let mut attachments = held.attachments.clone();
    if has_attached {
        attachments.extend(draft.attachments);
    }
    (has_text || has_attached).then_some(DraftView { text, attachments, ..draft })
}
