//! The signals of a chat's page beyond the turns on screen: the branch, the available models, the size of the tree.
//! They change with the page.

use leptos::prelude::*;

use super::header::ShownBranch;
use super::path_notices::PathNotices;
use crate::api::view::{ChatPage, ComposerNotice, QueueView};
use crate::domain::providers::provider::Model;
use crate::domain::{Branch, ModelLock};

/// The revision of a chat, the number of replies that run elsewhere in it, and the revision of the available models.
pub type ChatRevision = (i64, usize, u64);

/// The signals of the page on screen.
#[derive(Clone, Copy)]
pub struct PageSignals {
    pub notices: PathNotices,
    pub branch: RwSignal<Option<Branch>>,
    /// The name of the branch that it was forked from.
    pub branch_from: RwSignal<Option<String>>,
    /// The number of leaves of the chat's tree.
    pub leaves: RwSignal<u64>,
    pub models: RwSignal<Vec<Model>>,
    /// The messages queued behind the path.
    pub queue: RwSignal<QueueView>,
    /// The branch's model, where it is no longer available.
    pub gone: RwSignal<Option<ModelLock>>,
    /// The last known revision, to detect changes in a poll. The end of a reply is no new revision. None after
    /// something began here: the next poll reports its result.
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
            queue: RwSignal::new(page.queue.clone()),
            gone: RwSignal::new(model_gone(page)),
            rev: StoredValue::new(rev_of(page)),
        }
    }

    /// Applies the page of another path.
    pub fn apply_page(self, page: ChatPage) {
        self.notices.update(&page);
        self.apply_branch(page);
    }

    /// Applies the reloaded page of the path on screen.
    pub fn apply_reloaded(self, page: ChatPage) {
        self.notices.update_reloaded(&page);
        self.apply_branch(page);
    }

    fn apply_branch(self, page: ChatPage) {
        self.rev.set_value(rev_of(&page));
        self.gone.set(model_gone(&page));
        if self.queue.with_untracked(|before| *before != page.queue) {
            self.queue.set(page.queue);
        }
        self.branch.set(page.branch);
        self.branch_from.set(page.branch_from);
        self.leaves.set(page.leaves);
        // Compared first, so that an open menu is not rendered again without need.
        if self.models.with_untracked(|before| *before != page.models) {
            self.models.set(page.models);
        }
    }

    /// Records a reply that began here, on this branch.
    pub fn reply_started(self, branch: Branch, branch_from: Option<String>) {
        self.rev.set_value(None);
        self.notices.clear();
        self.branch.set(Some(branch));
        self.branch_from.set(branch_from);
    }

    /// Returns the callback that applies a branch which was changed outside of the page.
    pub fn branch_callback(self) -> Callback<Branch> {
        let branch = self.branch;
        Callback::new(move |changed: Branch| {
            if branch.with_untracked(|branch| branch.as_ref().is_some_and(|branch| branch.id == changed.id)) {
                branch.set(Some(changed));
            }
        })
    }

    /// Returns the branch for the header.
    pub fn shown_branch(self) -> ShownBranch {
        ShownBranch { branch: self.branch.into(), from: self.branch_from.into(), models: self.models }
    }
}

/// Returns the revision of this page.
fn rev_of(page: &ChatPage) -> Option<ChatRevision> {
    page.chat.as_ref().map(|chat| (chat.rev, page.running.len(), page.models_rev))
}

fn model_gone(page: &ChatPage) -> Option<ModelLock> {
    page.notices.iter().find_map(|notice| match notice {
        ComposerNotice::ModelUnavailable { lock } => Some(lock.clone()),
        ComposerNotice::NothingConfigured { .. } | ComposerNotice::FoundLocally { .. } => None,
    })
}
