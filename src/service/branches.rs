//! Branches as a person deals with them: list, make, change.

pub mod compare;

use std::collections::HashSet;

use serde_json::json;

use crate::idempotency::Created;
use crate::turns::placement::{BranchFork, PlacementRequest};
use crate::{Service, ServiceError};
use turnleaf_domain::branch::{ContextPolicy, PromptPrefix};
use turnleaf_domain::capabilities::Capabilities;
use turnleaf_domain::chat::check_title;
use turnleaf_domain::provider::Model;
use turnleaf_domain::{
    Branch, BranchId, BranchOrigin, ChatId, InvalidField, ModelLock, Role, Turn, TurnId, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_providers::registry::models::display_name;
use turnleaf_store::{branches, chats, turns};

/// A branch to make before its first turn.
#[derive(Debug, Clone, Default)]
pub struct NewBranch {
    /// `None` names it after how it came about.
    pub name: Option<String>,
    /// The turn that it leaves; `None` is where the chat was last read.
    pub from_turn_id: Option<TurnId>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub policy: Option<ContextPolicy>,
    /// Made by the client: the same id never makes two branches.
    pub client_request_id: Option<String>,
}

/// What may change about a branch. Its lock may not (domain.md I3).
#[derive(Debug, Clone, Default)]
pub struct BranchChange {
    pub name: Option<String>,
    /// `Some(None)` takes the label away.
    pub label: Option<Option<String>>,
    pub pinned: Option<bool>,
    pub policy: Option<ContextPolicy>,
}

/// As many of the models used lately are looked at for one that is there.
const LATELY: u32 = 8;

impl Service {
    /// The model that a new chat of this person is offered first: the default that was set, else the last one that
    /// answered and is still there, else the first of what is configured. A script passes for no model that was chosen.
    pub async fn default_model(&self, owner: UserId) -> Result<ModelLock, ServiceError> {
        let registry = self.supervisor().registry();
        if let Some(chosen) = registry.chosen_default() {
            return Ok(chosen);
        }
        let models = registry.models();
        let is_there = |lock: &ModelLock| models.iter().any(|model| model.lock == *lock && !model.is_demo);
        let used = branches::last_used_locks(self.db(), owner, LATELY).await?;
        Ok(used.into_iter().find(is_there).unwrap_or_else(|| registry.default_lock()))
    }

    /// What this person can choose from; of those that answered lately, which did last.
    pub async fn models(&self, owner: UserId) -> Result<Vec<Model>, ServiceError> {
        let mut models = self.supervisor().registry().models();
        self.mark_used(owner, &mut models).await?;
        Ok(models)
    }

    /// The same with those that the menus do not show.
    pub async fn models_with_hidden(&self, owner: UserId) -> Result<Vec<Model>, ServiceError> {
        let mut models = self.supervisor().registry().models_with_hidden();
        self.mark_used(owner, &mut models).await?;
        Ok(models)
    }

    async fn mark_used(&self, owner: UserId, models: &mut [Model]) -> Result<(), ServiceError> {
        let mut used = branches::last_used_locks(self.db(), owner, LATELY).await?;
        let mut seen = HashSet::new();
        used.retain(|lock| seen.insert(lock.clone()));
        for model in models {
            model.used = used.iter().position(|lock| *lock == model.lock).and_then(|at| u32::try_from(at).ok());
        }
        Ok(())
    }

    pub async fn branches(&self, owner: UserId, chat: ChatId) -> Result<Vec<Branch>, ServiceError> {
        chats::find(self.db(), owner, chat).await?.ok_or(ServiceError::NotFound)?;
        Ok(branches::list(self.db(), owner, chat).await?)
    }

    /// A branch with what it says in every request.
    pub async fn branch(&self, owner: UserId, id: BranchId) -> Result<(Branch, PromptPrefix), ServiceError> {
        let branch = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let frozen = branches::frozen(self.db(), id).await?.ok_or(ServiceError::NotFound)?;
        Ok((branch, frozen))
    }

    /// How many tools a branch offers to its model; nothing where that is up to its provider.
    pub async fn offered_tool_count(&self, owner: UserId, id: BranchId) -> Result<Option<usize>, ServiceError> {
        Ok(branches::tool_count(self.db(), owner, id).await?)
    }

    /// The name of the branch that this one left, where it is still there.
    pub async fn parent_branch_name(&self, owner: UserId, branch: &Branch) -> Result<Option<String>, ServiceError> {
        let Some(parent) = branch.parent_branch_id else { return Ok(None) };
        Ok(branches::find(self.db(), owner, parent).await?.map(|parent| parent.name))
    }

    /// A model's name for people and what it takes, as far as they are known.
    pub fn model_details(&self, lock: &ModelLock) -> (String, Capabilities) {
        (display_name(&lock.model), self.supervisor().registry().capabilities(lock))
    }

    /// The names of a lock's provider and model for people, as the menus have them where they do.
    pub fn lock_names(&self, lock: &ModelLock) -> (String, String) {
        let models = self.supervisor().registry().models_with_hidden();
        match models.into_iter().find(|model| model.lock == *lock) {
            Some(model) => (model.provider_name, model.name),
            None => (lock.provider.clone(), display_name(&lock.model)),
        }
    }

    /// A branch that leaves a turn, without a turn of its own yet: the next message names it.
    pub async fn create_branch(
        &self,
        owner: UserId,
        chat: ChatId,
        new: NewBranch,
    ) -> Result<Created<Branch>, ServiceError> {
        let name = new.name.as_deref().map(check_name).transpose()?;
        let asked = json!({
            "new": "branch",
            "chat": chat,
            "name": new.name,
            "from": new.from_turn_id,
            "provider": new.provider,
            "model": new.model,
            "policy": new.policy,
        });
        let mut tx = self.db().begin().await?;
        let id: BranchId = ids::mint();
        if let Some(made) = self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), asked, id).await? {
            tx.rollback().await?;
            let made = made.parse().map_err(|_| ServiceError::NotFound)?;
            let branch = branches::find(self.db(), owner, made).await?.ok_or(ServiceError::NotFound)?;
            return Ok(Created::existing(branch));
        }
        let chat = self.lock_chat(&mut tx, owner, chat).await?;
        let from = self.turn_to_leave(owner, chat.id, new.from_turn_id).await?;
        let source = match (&from, chat.default_branch_id) {
            (Some(turn), _) => branches::find(self.db(), owner, turn.branch_id).await?,
            (None, Some(id)) => branches::find(self.db(), owner, id).await?,
            (None, None) => None,
        };
        let source = source.ok_or(ServiceError::NotFound)?;
        let wanted = PlacementRequest { provider: new.provider, model: new.model, ..PlacementRequest::default() };
        let lock = self.fork_lock(&source, &wanted)?;
        let origin = if lock == source.lock { BranchOrigin::Fork } else { BranchOrigin::ModelSwitch };
        let from = from.map(|turn| turn.id);
        let name = name.unwrap_or_else(|| match origin {
            BranchOrigin::ModelSwitch => display_name(&lock.model),
            _ => "branch".to_owned(),
        });
        let mut branch =
            self.fork_branch(&mut tx, &chat, BranchFork { id, source: &source, from, origin, lock, name }).await?;
        if let Some(policy) = new.policy {
            branches::set_policy(&mut tx, branch.id, policy).await?;
            branch.policy = policy;
        }
        tx.commit().await?;
        Ok(Created::new(branch))
    }

    /// The turn that a new branch leaves: this one, else the end of the path that is shown; none in an empty chat. A
    /// reply is left behind; a message without one is answered by trying it again.
    async fn turn_to_leave(
        &self,
        owner: UserId,
        chat: ChatId,
        named: Option<TurnId>,
    ) -> Result<Option<Turn>, ServiceError> {
        let from = match named {
            Some(id) => Some(self.turn_in_chat(owner, chat, "from_turn_id", id).await?),
            None => match turns::leaf_of_chat(self.db(), owner, chat).await? {
                Some(leaf) => turns::find(self.db(), owner, leaf).await?,
                None => None,
            },
        };
        Ok(match from {
            Some(turn) if turn.role == Role::User => match turn.prev_turn_id {
                Some(reply) => turns::find(self.db(), owner, reply).await?,
                None => None,
            },
            from => from,
        })
    }

    pub async fn change_branch(
        &self,
        owner: UserId,
        id: BranchId,
        change: BranchChange,
    ) -> Result<Branch, ServiceError> {
        let name = change.name.as_deref().map(check_name).transpose()?;
        let label = change.label.map(check_label).transpose()?;
        let mut tx = self.db().begin().await?;
        branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if let Some(name) = name {
            branches::rename(&mut tx, id, &name).await?;
        }
        if let Some(label) = label {
            branches::set_label(&mut tx, id, label.as_deref()).await?;
        }
        if let Some(is_pinned) = change.pinned {
            branches::set_pinned(&mut tx, id, is_pinned).await?;
        }
        if let Some(policy) = change.policy {
            branches::set_policy(&mut tx, id, policy).await?;
        }
        tx.commit().await?;
        branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }
}

/// A name that a person wrote: what a title may be, but not empty.
fn check_name(name: &str) -> Result<String, InvalidField> {
    let name = check_title(name).map_err(|invalid| InvalidField { field: "name".into(), ..invalid })?;
    if name.is_empty() { Err(InvalidField::new("name", InvalidField::IS_EMPTY)) } else { Ok(name) }
}

/// A label that a person wrote; an empty one is none.
fn check_label(label: Option<String>) -> Result<Option<String>, InvalidField> {
    let Some(label) = label else { return Ok(None) };
    let label = check_title(&label).map_err(|invalid| InvalidField { field: "label".into(), ..invalid })?;
    if label.chars().count() > limits::LABEL_CHARS {
        return Err(InvalidField::new("label", format!("at most {} characters", limits::LABEL_CHARS)));
    }
    Ok(Some(label).filter(|label| !label.is_empty()))
}
