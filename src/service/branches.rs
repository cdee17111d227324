//! Branches: list, create, and change them, and the models that a person can choose from.

pub mod compare;

use std::collections::HashSet;

use serde_json::json;

use crate::idempotency::Created;
use crate::turns::placement::{BranchFork, PlacementRequest};
use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::{ContextPolicy, PromptPrefix};
use turnleaf_domain::chats::chat::check_title;
use turnleaf_domain::providers::capabilities::Capabilities;
use turnleaf_domain::providers::provider::Model;
use turnleaf_domain::{
    Branch, BranchId, BranchOrigin, ChatId, InvalidField, MessageCode, ModelLock, Role, Turn, TurnId, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_providers::registry::models::display_name;
use turnleaf_store::{branches, chats, turns};

/// The request to create a branch before its first turn.
#[derive(Debug, Clone, Default)]
pub struct NewBranch {
    /// `None` derives the name from the branch's origin.
    pub name: Option<String>,
    /// The turn at which the branch forks. Without it and `from_ref`, the branch forks where the chat was last read.
    pub from_turn_id: Option<TurnId>,
    /// Instead of `from_turn_id`: the branch at whose end the new one forks, by its name or id, or a turn by its id.
    pub from_ref: Option<String>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub policy: Option<ContextPolicy>,
    /// The idempotency key, chosen by the client: one id never creates two branches.
    pub client_request_id: Option<String>,
}

/// The changeable fields of a branch. Its lock never changes (docs/reference/domain.md I3).
#[derive(Debug, Clone, Default)]
pub struct BranchChange {
    pub name: Option<String>,
    /// `Some(None)` removes the label.
    pub label: Option<Option<String>>,
    pub pinned: Option<bool>,
    pub policy: Option<ContextPolicy>,
}

/// The number of recently used models that are searched for one that still exists.
const LATELY: u32 = 8;

impl Service {
    /// Returns the model that a new chat offers first: the configured default, else the model that answered last and
    /// still exists, else the first configured model. A demo model that was used last does not count.
    pub async fn default_model(&self, owner: UserId) -> Result<ModelLock, ServiceError> {
        let registry = self.supervisor().registry();
        if let Some(chosen) = registry.chosen_default(owner) {
            return Ok(chosen);
        }
        let models = registry.models(owner);
        let is_there = |lock: &ModelLock| models.iter().any(|model| model.lock == *lock && !model.is_demo);
        let used = branches::last_used_locks(self.db(), owner, LATELY).await?;
        Ok(used.into_iter().find(is_there).unwrap_or_else(|| registry.default_lock(owner)))
    }

    /// Returns the models that this person can choose, each with its rank among those that answered recently.
    pub async fn models(&self, owner: UserId) -> Result<Vec<Model>, ServiceError> {
        let mut models = self.supervisor().registry().models(owner);
        self.hide_demo(owner, &mut models).await?;
        self.mark_used(owner, &mut models).await?;
        Ok(models)
    }

    /// Returns all models, including those that the menus hide.
    pub async fn models_with_hidden(&self, owner: UserId) -> Result<Vec<Model>, ServiceError> {
        let mut models = self.supervisor().registry().models_with_hidden(owner);
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

    /// Returns a branch with its prompt prefix, which is part of every request.
    pub async fn branch(&self, owner: UserId, id: BranchId) -> Result<(Branch, PromptPrefix), ServiceError> {
        let branch = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let frozen = branches::frozen(self.db(), id).await?.ok_or(ServiceError::NotFound)?;
        Ok((branch, frozen))
    }

    /// Returns the number of tools that a branch offers to its model; `None` when its provider decides.
    pub async fn offered_tool_count(&self, owner: UserId, id: BranchId) -> Result<Option<usize>, ServiceError> {
        Ok(branches::tool_count(self.db(), owner, id).await?)
    }

    /// Returns the name of the parent branch, if that still exists.
    pub async fn parent_branch_name(&self, owner: UserId, branch: &Branch) -> Result<Option<String>, ServiceError> {
        let Some(parent) = branch.parent_branch_id else { return Ok(None) };
        Ok(branches::find(self.db(), owner, parent).await?.map(|parent| parent.name))
    }

    /// Returns the display name of a model and its capabilities, as far as they are known.
    pub fn model_details(&self, owner: UserId, lock: &ModelLock) -> (String, Capabilities) {
        (display_name(&lock.model), self.supervisor().registry().capabilities(owner, lock))
    }

    /// Returns the display names of a lock's provider and model: those of the menus, else names derived from the ids.
    pub fn lock_names(&self, owner: UserId, lock: &ModelLock) -> (String, String) {
        let models = self.supervisor().registry().models_with_hidden(owner);
        match models.into_iter().find(|model| model.lock == *lock) {
            Some(model) => (model.provider_name, model.name),
            None => (lock.provider.clone(), display_name(&lock.model)),
        }
    }

    /// Creates a branch at a turn. It has no turn of its own until the next message names it.
    pub async fn create_branch(
        &self,
        owner: UserId,
        chat: ChatId,
        new: NewBranch,
    ) -> Result<Created<Branch>, ServiceError> {
        let name = new.name.as_deref().map(check_name).transpose()?;
        let from = match (new.from_turn_id, &new.from_ref) {
            (Some(_), Some(_)) => {
                return Err(InvalidField::new("fromRef", MessageCode::OneForkPoint).into());
            }
            (None, Some(reference)) => json!({ "ref": reference }),
            (turn, None) => json!(turn),
        };
        let request = json!({
            "new": "branch",
            "chat": chat,
            "name": new.name,
            "from": from,
            "provider": new.provider,
            "model": new.model,
            "policy": new.policy,
        });
        let mut tx = self.db().begin().await?;
        let id: BranchId = ids::mint();
        if let Some(made) = self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), request, id).await? {
            tx.rollback().await?;
            let made = made.parse().map_err(|_| ServiceError::NotFound)?;
            let branch = branches::find(self.db(), owner, made).await?.ok_or(ServiceError::NotFound)?;
            return Ok(Created::existing(branch));
        }
        let chat = self.lock_chat(&mut tx, owner, chat).await?;
        let (from, named) = self.turn_to_leave(owner, chat.id, new.from_turn_id, new.from_ref).await?;
        let source = match (named, &from, chat.default_branch_id) {
            (Some(branch), ..) => Some(branch),
            (None, Some(turn), _) => branches::find(self.db(), owner, turn.branch_id).await?,
            (None, None, Some(id)) => branches::find(self.db(), owner, id).await?,
            (None, None, None) => None,
        };
        let source = source.ok_or(ServiceError::NotFound)?;
        let wanted = PlacementRequest { provider: new.provider, model: new.model, ..PlacementRequest::default() };
        let lock = self.fork_lock(owner, &source, &wanted)?;
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
        self.publish_chat(owner, chat.id);
        Ok(Created::new(branch))
    }

    /// Returns the turn at which a new branch forks, and the branch that it leaves if that was named; no turn in an
    /// empty chat. Only replies qualify; a message without a reply is answered by a retry.
    async fn turn_to_leave(
        &self,
        owner: UserId,
        chat: ChatId,
        turn: Option<TurnId>,
        reference: Option<String>,
    ) -> Result<(Option<Turn>, Option<Branch>), ServiceError> {
        let (id, branch) = match (turn, reference) {
            (Some(id), _) => (Some(self.turn_in_chat(owner, chat, "from_turn_id", id).await?.id), None),
            (None, None) => (turns::leaf_of_chat(self.db(), owner, chat).await?, None),
            (None, Some(reference)) => {
                match self.branch_of_reference(owner, chat, &reference).await? {
                    // A branch without turns continues at its fork point.
                    Some(branch) => (branch.head_turn_id.or(branch.fork_turn_id), Some(branch)),
                    None => (Some(self.turn_of_reference(owner, chat, &reference).await?), None),
                }
            }
        };
        let from = match id {
            Some(id) => turns::find(self.db(), owner, id).await?,
            None => None,
        };
        let reply = match from {
            Some(turn) if turn.role == Role::User => match turn.prev_turn_id {
                Some(reply) => turns::find(self.db(), owner, reply).await?,
                None => None,
            },
            from => from,
        };
        Ok((reply, branch))
    }

    /// Returns the branch of the chat with this id, else the only one with this name.
    async fn branch_of_reference(
        &self,
        owner: UserId,
        chat: ChatId,
        reference: &str,
    ) -> Result<Option<Branch>, ServiceError> {
        let mut listed = branches::list(self.db(), owner, chat).await?;
        if let Some(at) = reference.parse().ok().and_then(|id: BranchId| listed.iter().position(|one| one.id == id)) {
            return Ok(Some(listed.swap_remove(at)));
        }
        listed.retain(|branch| branch.name == reference);
        if listed.len() > 1 {
            return Err(InvalidField::new("fromRef", MessageCode::AmbiguousBranch).into());
        }
        Ok(listed.pop())
    }

    async fn turn_of_reference(&self, owner: UserId, chat: ChatId, reference: &str) -> Result<TurnId, ServiceError> {
        let unknown = || InvalidField::new("fromRef", MessageCode::NoSuchReference);
        let id = reference.parse().map_err(|_| unknown())?;
        let turn = turns::find(self.db(), owner, id).await?.filter(|turn| turn.chat_id == chat);
        Ok(turn.ok_or_else(unknown)?.id)
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
        let chat = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?.chat_id;
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
        self.publish_chat(owner, chat);
        branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }
}

/// Validates a branch name: the rules of a title, but not empty.
fn check_name(name: &str) -> Result<String, InvalidField> {
    let name = check_title(name).map_err(|invalid| InvalidField { field: "name".into(), ..invalid })?;
    if name.is_empty() { Err(InvalidField::new("name", MessageCode::Empty)) } else { Ok(name) }
}

/// Validates a label; an empty one becomes `None`.
fn check_label(label: Option<String>) -> Result<Option<String>, InvalidField> {
    let Some(label) = label else { return Ok(None) };
    let label = check_title(&label).map_err(|invalid| InvalidField { field: "label".into(), ..invalid })?;
    if label.chars().count() > limits::LABEL_CHARS {
        return Err(InvalidField::too_long("label", limits::LABEL_CHARS));
    }
    Ok(Some(label).filter(|label| !label.is_empty()))
}
