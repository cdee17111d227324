//! Drafts: what is written but not sent is kept on the server, and in the browser until the server has it (ux.md 10.6).

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::drafts::save_draft;
use crate::api::json;
use crate::api::view::DraftView;
use crate::browser::local_store;
use crate::domain::ChatId;
use crate::ui::chats::Chats;

/// How long after the last key a draft is saved.
const PAUSE: Duration = Duration::from_millis(500);
/// Between a message on its way and what was typed behind it, as where a message that failed is given back.
const BETWEEN: &str = "\n\n";

/// Keeps one chat's draft, or the new chat's.
#[derive(Clone, Copy)]
pub struct DraftKeeper {
    chat_id: Option<ChatId>,
    /// What the server has.
    saved: StoredValue<DraftView>,
    /// What is on screen.
    current: StoredValue<DraftView>,
    timer: StoredValue<Option<TimeoutHandle>>,
    /// The text that is on its way as a message. Saving it meanwhile would bring it back as a draft.
    held: StoredValue<Option<String>>,
    /// The text that is being saved at this moment.
    saving: StoredValue<Option<String>>,
    /// What another tab stored after something else was typed here.
    pub elsewhere: RwSignal<Option<DraftView>>,
    /// Whether the server did not take the last save.
    pub is_unsaved: RwSignal<bool>,
    chats: Option<Chats>,
}

impl DraftKeeper {
    /// `draft` is what the server sent with the page.
    pub fn new(chat_id: Option<ChatId>, draft: DraftView) -> Self {
        Self {
            chat_id,
            saved: StoredValue::new(draft.clone()),
            current: StoredValue::new(draft),
            timer: StoredValue::new(None),
            held: StoredValue::new(None),
            saving: StoredValue::new(None),
            elsewhere: RwSignal::new(None),
            is_unsaved: RwSignal::new(false),
            chats: use_context(),
        }
    }

    /// The text on screen.
    pub fn text(self) -> String {
        self.current.with_value(|draft| draft.text.clone())
    }

    /// What this browser kept because the server could not take it, if that is newer than what the page came with.
    pub fn unsent_copy(self) -> Option<DraftView> {
        let copy = self.stored_copy()?;
        (copy.rev >= self.saved.with_value(|saved| saved.rev)).then_some(copy)
    }

    /// Takes over what is on screen now; it is saved when the typing pauses.
    pub fn change(self, what: impl FnOnce(&mut DraftView)) {
        self.current.update_value(what);
        self.stop_clock();
        self.timer.set_value(set_timeout_with_handle(move || self.save(), PAUSE).ok());
    }

    /// Saves at once, if there is anything new: on leaving the box or the page.
    pub fn save(self) {
        self.stop_clock();
        let draft = self.current.get_value();
        if let Some(held) = self.held.get_value() {
            // What was typed since is kept behind it, in this browser alone.
            if draft.text != held && !draft.text.is_empty() {
                self.copy(&DraftView { text: format!("{held}{BETWEEN}{}", draft.text), ..draft });
            }
            return;
        }
        if same(&draft, &self.saved.get_value()) {
            // What this browser kept of something typed and taken back must not return.
            return self.forget_copy();
        }
        // The local copy is written first: the page may be gone before the server has answered.
        self.copy(&draft);
        self.saving.set_value(Some(draft.text.clone()));
        spawn_local(async move {
            let sent = draft.clone();
            let rev = save_draft(self.chat_id, draft).await;
            // The composer may have gone meanwhile, and its values with it.
            let Some(is_current) = self.current.try_with_value(|current| same(current, &sent)) else { return };
            self.saving.update_value(|saving| *saving = saving.take().filter(|text| *text != sent.text));
            let Ok(rev) = rev else { return self.is_unsaved.set(true) };
            self.is_unsaved.set(false);
            let had_text = self.saved.with_value(|saved| !saved.text.is_empty());
            let has_text = !sent.text.is_empty();
            self.current.update_value(|current| current.rev = rev);
            self.saved.set_value(DraftView { rev, ..sent });
            if is_current {
                self.forget_copy();
            }
            if let Some(chats) = self.chats.filter(|_| had_text != has_text && self.chat_id.is_some()) {
                chats.refresh();
            }
        });
    }

    /// Takes note of a newer draft on the server. Gives the text for the box where nothing else was typed into it; where
    /// something was, the newer draft is kept in `elsewhere`, unless it is empty: that one was sent.
    pub fn heard(self, newer: DraftView) -> Option<String> {
        let (current, saved) = (self.current.get_value(), self.saved.get_value());
        if self.held.with_value(Option::is_some) || newer.rev <= saved.rev {
            return None;
        }
        let is_own = self.saving.with_value(|saving| saving.as_ref() == Some(&newer.text));
        self.saved.set_value(newer.clone());
        self.current.update_value(|current| current.rev = newer.rev);
        if is_own || newer.text == current.text {
            return None;
        }
        if current.text == saved.text {
            self.current.update_value(|current| current.text.clone_from(&newer.text));
            return Some(newer.text);
        }
        if !newer.text.is_empty() {
            self.elsewhere.set(Some(newer));
        }
        None
    }

    /// The text is on its way as a message: this browser keeps it until the server has accepted it.
    pub fn hold(self) {
        self.stop_clock();
        let draft = self.current.get_value();
        self.copy(&draft);
        self.held.set_value(Some(draft.text));
    }

    /// The server has the message `sent`: of this browser's copy only what was typed behind it stays. Works also when
    /// the page that sent it is gone.
    pub fn forget_sent(self, sent: &str) {
        let Some(mut copy) = self.stored_copy() else { return };
        match copy.text.strip_prefix(sent).map(|rest| rest.strip_prefix(BETWEEN).unwrap_or(rest).to_owned()) {
            Some(rest) if rest.is_empty() => self.forget_copy(),
            Some(rest) => {
                // Newer than the draft that the server emptied when it took the message.
                copy.rev += 1;
                copy.text = rest;
                self.copy(&copy);
            }
            None => {}
        }
    }

    fn copy(self, draft: &DraftView) {
        if let Ok(json) = serde_json::to_string(draft) {
            local_store::put(&self.key(), &json);
        }
    }

    fn stored_copy(self) -> Option<DraftView> {
        json::read(local_store::get(&self.key())?.as_bytes()).ok()
    }

    /// Removes this browser's copy, because the server has the text.
    pub fn forget_copy(self) {
        local_store::remove(&self.key());
    }

    /// The message was accepted, and the server has cleared its draft. What was typed meanwhile stays.
    pub fn accepted(self, sent: &str) {
        self.held.set_value(None);
        self.elsewhere.set(None);
        self.saved.update_value(|saved| saved.text.clear());
        self.current.update_value(|current| {
            if current.text == sent {
                current.text.clear();
            }
        });
        self.save();
    }

    /// The message did not go out: it is a draft again.
    pub fn release(self) {
        self.held.set_value(None);
    }

    fn stop_clock(self) {
        if let Some(timer) = self.timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    }

    fn key(self) -> String {
        match self.chat_id {
            Some(id) => format!("turnleaf.draft.{id}"),
            None => "turnleaf.draft.new".to_owned(),
        }
    }
}

/// Whether two drafts say the same; their revisions do not matter.
fn same(a: &DraftView, b: &DraftView) -> bool {
    a.text == b.text && a.lock == b.lock && a.thinking == b.thinking
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A keeper that knows the draft "a" as revision 1, after `typed` was typed.
    fn keeper(typed: &str) -> DraftKeeper {
        let keeper = DraftKeeper::new(None, DraftView { text: "a".into(), rev: 1, ..DraftView::default() });
        keeper.current.update_value(|current| current.text = typed.into());
        keeper
    }

    fn stored(text: &str, rev: i64) -> DraftView {
        DraftView { text: text.into(), rev, ..DraftView::default() }
    }

    #[test]
    fn a_newer_draft_of_another_tab_is_shown_or_offered() {
        Owner::new().with(|| {
            let offered = |keeper: DraftKeeper| keeper.elsewhere.get_untracked().map(|draft| draft.text);
            let clean = keeper("a");
            assert_eq!(clean.heard(stored("b", 2)), Some("b".into()));
            assert_eq!((clean.text(), offered(clean)), ("b".into(), None));
            assert_eq!(clean.heard(stored("c", 2)), None, "nothing new");
            assert_eq!(clean.heard(stored("", 3)), Some(String::new()), "it was sent elsewhere");

            let typed = keeper("mine");
            assert_eq!(typed.heard(stored("theirs", 2)), None);
            assert_eq!((typed.text(), offered(typed)), ("mine".into(), Some("theirs".into())));

            let sent_elsewhere = keeper("mine");
            assert_eq!((sent_elsewhere.heard(stored("", 2)), offered(sent_elsewhere)), (None, None));

            let own = keeper("mine and more");
            own.saving.set_value(Some("mine".into()));
            assert_eq!((own.heard(stored("mine", 2)), offered(own)), (None, None), "its own save came back");

            let held = keeper("mine");
            held.held.set_value(Some("mine".into()));
            assert_eq!((held.heard(stored("theirs", 2)), offered(held)), (None, None), "a message is on its way");
        });
    }

    #[test]
    fn a_revision_alone_is_no_change() {
        let draft = DraftView { text: "a".into(), rev: 1, ..DraftView::default() };
        assert!(same(&draft, &DraftView { rev: 2, ..draft.clone() }));
        assert!(!same(&draft, &DraftView { text: "b".into(), ..draft.clone() }));
    }
}
