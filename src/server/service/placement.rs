//! Where a new turn goes: under which turn, on which branch, with which lock (domain.md I2-I4). Nothing is overwritten:
//! whatever is not appended to a head gets a branch of its own.

use serde_json::json;

use super::{Service, ServiceError};
use crate::domain::branch::resolve_lock;
use crate::domain::{Branch, BranchId, Chat, ChatId, Invalid, Lock, Origin, Role, Turn, TurnId, UserId, limits};
use crate::server::platform::ids;
use crate::server::store::db::Tx;
use crate::server::store::{branches, turns};

/// What a request says about the place.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub prev_turn_id: Option<TurnId>,
    pub branch_id: Option<BranchId>,
    pub provider: Option<String>,
    pub model: Option<String>,
}

/// The place that was found; the branch is stored already.
pub struct Place {
    pub parent: Option<Turn>,
    pub branch: Branch,
}

impl Service {
    /// The lock of a chat's first branch.
    pub fn first_lock(&self, wanted: &Wanted) -> Result<Lock, ServiceError> {
        let registry = self.supervisor().registry();
        let default_model = |provider: &str| {
            let models = registry.models();
            let of_provider = || models.iter().filter(|model| model.lock.provider == provider);
            of_provider()
                .find(|model| model.is_default)
                .or_else(|| of_provider().next())
                .map(|model| model.lock.model.clone())
        };
        let lock = resolve_lock(
            wanted.provider.as_deref(),
            wanted.model.as_deref(),
            None,
            default_model,
            &registry.default_lock(),
        );
        let provider = lock.as_ref().map(|lock| lock.provider.as_str()).or(wanted.provider.as_deref());
        if let Some(unknown) = provider.filter(|provider| registry.find(provider).is_none()) {
            return Err(Invalid::new("provider", format!("no provider {unknown:?} is configured")).into());
        }
        let lock = lock.ok_or_else(|| Invalid::new("model", "this provider has no default model; name one"))?;
        if lock.model.trim().is_empty() || lock.model.chars().count() > limits::TITLE_CHARS {
            return Err(Invalid::new("model", format!("1 to {} characters", limits::TITLE_CHARS)).into());
        }
        Ok(lock)
    }

    /// Finds the place of a user turn in an existing chat.
    pub(super) async fn place(
        &self,
        tx: &mut Tx,
        owner: UserId,
        chat: &Chat,
        wanted: &Wanted,
    ) -> Result<Place, ServiceError> {
        let parent = match wanted.prev_turn_id {
            Some(id) => Some(self.parent(owner, chat.id, id).await?),
            None => None,
        };
        let source = match (&parent, wanted.branch_id.or(chat.default_branch_id)) {
            (Some(turn), _) => branches::find(self.db(), owner, turn.branch_id).await?,
            (None, Some(id)) => branches::find(self.db(), owner, id).await?.filter(|branch| branch.chat_id == chat.id),
            (None, None) => None,
        };
        let Some(source) = source else {
            return Err(ServiceError::NotFound);
        };
        let parent = match (parent, source.head_turn_id) {
            (Some(parent), _) => Some(parent),
            (None, Some(head)) => Some(self.parent(owner, chat.id, head).await?),
            (None, None) => None,
        };
        check_lock(&source, wanted, parent.as_ref())?;
        if let Some(parent) = &parent {
            if !parent.status.is_terminal() {
                return Err(ServiceError::conflict("turn_running", "the reply before this message is still running"));
            }
            if parent.role == Role::User {
                return Err(Invalid::new("prev_turn_id", "a message follows a reply, not another message").into());
            }
        }
        let at = parent.as_ref().map(|turn| turn.id);
        if turns::count_children(tx, chat.id, at).await? >= limits::SIBLINGS {
            let message = format!("a turn has at most {} versions", limits::SIBLINGS);
            return Err(ServiceError::conflict("too_many_siblings", message));
        }
        let branch = if source.head_turn_id == at {
            source
        } else {
            self.fork(tx, owner, chat.id, &source, at, Origin::Fork).await?
        };
        Ok(Place { parent, branch })
    }

    /// A new branch that leaves `source` at `from`, with its lock.
    pub(super) async fn fork(
        &self,
        tx: &mut Tx,
        owner: UserId,
        chat: ChatId,
        source: &Branch,
        from: Option<TurnId>,
        origin: Origin,
    ) -> Result<Branch, ServiceError> {
        let number = branches::list(self.db(), owner, chat).await?.len() + 1;
        let word = match origin {
            Origin::Regenerate => "retry",
            Origin::Edit => "edit",
            _ => "branch",
        };
        let branch = Branch {
            id: ids::mint(),
            chat_id: chat,
            name: format!("{word} {number}"),
            lock: source.lock.clone(),
            parent_branch_id: Some(source.id),
            fork_turn_id: from,
            head_turn_id: None,
            origin,
            label: None,
            pinned: false,
            created_at: self.clock().now(),
        };
        branches::insert(tx, &branch).await?;
        Ok(branch)
    }

    async fn parent(&self, owner: UserId, chat: ChatId, id: TurnId) -> Result<Turn, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if turn.chat_id != chat {
            return Err(Invalid::new("prev_turn_id", "this turn belongs to another chat").into());
        }
        Ok(turn)
    }
}

/// A branch never changes its provider and model (domain.md I3). The refusal carries a body that makes the fork.
pub(super) fn check_lock(branch: &Branch, wanted: &Wanted, from: Option<&Turn>) -> Result<(), ServiceError> {
    let provider = wanted.provider.as_deref().unwrap_or(&branch.lock.provider);
    let model = wanted.model.as_deref().unwrap_or(&branch.lock.model);
    if provider == branch.lock.provider && model == branch.lock.model {
        return Ok(());
    }
    Err(ServiceError::Conflict {
        code: "branch_locked",
        message: format!(
            "this branch is locked to {} / {}; {provider} / {model} needs a new branch",
            branch.lock.provider, branch.lock.model
        ),
        extra: json!({
            "locked_to": branch.lock,
            "fork": { "from_turn_id": from.map(|turn| turn.id), "provider": provider, "model": model },
        }),
    })
}
