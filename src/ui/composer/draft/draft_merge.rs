//! When two drafts are the same, and what two of them become together.

use crate::api::view::DraftView;

/// Between a message on its way and what was typed behind it, as where a message that failed is given back.
pub const DRAFT_SEPARATOR: &str = "\n\n";

/// Whether two drafts say the same; their revisions do not matter.
pub fn is_same_draft(a: &DraftView, b: &DraftView) -> bool {
    is_same_message(a, b) && a.lock == b.lock && a.thinking == b.thinking
}

/// Whether they would be the same message.
pub fn is_same_message(a: &DraftView, b: &DraftView) -> bool {
    a.text == b.text && a.attachments == b.attachments
}

pub fn is_empty_draft(draft: &DraftView) -> bool {
    draft.text.is_empty() && draft.attachments.is_empty()
}

/// What was changed on one side alone, as it is there; nothing where both sides changed it to something else.
pub fn merge_three_way<T: PartialEq + Clone>(here: &T, before: &T, there: &T) -> Option<T> {
    match (here == before, there == before || there == here) {
        (true, _) => Some(there.clone()),
        (false, true) => Some(here.clone()),
        (false, false) => None,
    }
}

/// A message on its way with what came behind it; nothing where nothing did.
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
