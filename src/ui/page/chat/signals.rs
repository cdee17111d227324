//! What a chat's page tells beside the turns of the path on screen, as signals: the branch, what can be chosen, how much
//! else there is. All of it changes with the page.

use leptos::prelude::*;

use super::header::ShownBranch;
use super::path_notices::PathNotices;
use crate::api::view::{ChatPage, ComposerNotice};
use crate::domain::provider::Model;
use crate::domain::{Branch, ModelLock};

/// The revision of a chat, how many replies are being written elsewhere in it, and which models can be chosen.
pub type ChatRevision = (i64, usize, u64);

/// The signals of the page that is shown.
#[derive(Clone, Copy)]
pub struct PageSignals {
    pub notices: PathNotices,
    pub branch: RwSignal<Option<Branch>>,
    /// The name of the branch that it left.
    pub branch_from: RwSignal<Option<String>>,
    /// Ends of the chat's tree.
    pub leaves: RwSignal<u64>,
    pub models: RwSignal<Vec<Model>>,
    /// The branch's model, where it cannot be used any more.
    pub gone: RwSignal<Option<ModelLock>>,
    /// What is known of the chat, to see what is new in a glance at it. That a reply ended is no new revision. None after
    /// something began here: the next glance tells what it led to.
    pub rev: StoredValue<Option<ChatRevision>>,
}

impl PageSignals {
    pub fn new(page: &ChatPage) -> Self {
        Self {
            notices: PathNotices::new(page),
            branch: RwSignal::new(page.branch.clone()),
            branch_from: RwSignal::new(page.branch_from.clone()),
            leaves: RwSignal::new(page.leaves),
            models: RwSignal::new(page.models.clone()),
            gone: RwSignal::new(model_gone(page)),
            rev: StoredValue::new(rev_of(page)),
        }
    }

    /// Takes over what the page of another path tells, or what this one's tells anew. Whatever path is shown, what ends
    /// from then on is news.
    pub fn apply_page(self, page: ChatPage) {
        self.rev.set_value(rev_of(&page));
        self.notices.update(&page);
        self.gone.set(model_gone(&page));
        self.branch.set(page.branch);
        self.branch_from.set(page.branch_from);
        self.leaves.set(page.leaves);
        // A menu that is open is not drawn again for nothing.
        if self.models.with_untracked(|before| *before != page.models) {
            self.models.set(page.models);
        }
    }

    /// A reply began here, on this branch.
    pub fn reply_started(self, branch: Branch, branch_from: Option<String>) {
        self.rev.set_value(None);
        self.notices.clear();
        self.branch.set(Some(branch));
        self.branch_from.set(branch_from);
    }

    /// Takes over the branch where it was changed beside the page.
    pub fn branch_callback(self) -> Callback<Branch> {
        let branch = self.branch;
        Callback::new(move |changed: Branch| {
            if branch.with_untracked(|branch| branch.as_ref().is_some_and(|branch| branch.id == changed.id)) {
                branch.set(Some(changed));
            }
        })
    }

    /// What the header says of the branch.
    pub fn shown_branch(self) -> ShownBranch {
        ShownBranch { branch: self.branch.into(), from: self.branch_from.into(), models: self.models }
    }
}

/// What is known with this page.
fn rev_of(page: &ChatPage) -> Option<ChatRevision> {
    page.chat.as_ref().map(|chat| (chat.rev, page.running.len(), page.models_rev))
}

fn model_gone(page: &ChatPage) -> Option<ModelLock> {
    page.notices.iter().find_map(|notice| match notice {
        ComposerNotice::ModelUnavailable { lock } => Some(lock.clone()),
        ComposerNotice::NothingConfigured { .. } | ComposerNotice::FoundLocally { .. } => None,
    })
}
