//! Placement of a new turn: its parent, its branch, and the lock (docs/reference/domain.md I2, I3, I4). Nothing is
//! overwritten: a turn that does not extend a branch's head gets a branch of its own. `model_access` says which locks
//! may be used.

use serde_json::json;

use crate::providers::draft::check_model;
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::derived_text::content_text;
use turnleaf_domain::branches::branch::{PromptPrefix, resolve_lock};
use turnleaf_domain::providers::repair::ProviderState;
use turnleaf_domain::text::excerpt::first_words;
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::{
    Branch, BranchId, BranchOrigin, Chat, ChatId, Content, InvalidField, MessageCode, ModelLock, Role, Turn, TurnId,
    UserId, limits,
};
use turnleaf_platform::endpoint::is_provider_id;
use turnleaf_platform::ids;
use turnleaf_store::database::db::Tx;
use turnleaf_store::{branches, chats, deletions, turns};

/// The maximum length of a derived branch name, which is shown as a chip in the header.
const BRANCH_NAME_CHARS: usize = 32;

/// The placement that a request asks for.
#[derive(Debug, Clone, Default)]
pub struct PlacementRequest {
    pub prev_turn_id: Option<TurnId>,
    /// True for a new root of the chat, a sibling of its first message, instead of `prev_turn_id`.
    pub starts_root: bool,
    pub branch_id: Option<BranchId>,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// True when another model than the branch's may fork a new branch; otherwise it is refused.
    pub may_branch: bool,
}

/// The resolved placement; the branch is already stored.
pub struct TurnPlacement {
    pub parent: Option<Turn>,
    pub branch: Branch,
    /// The position of the turn, if the chat was stored with it.
    pub ord: Option<i64>,
    /// The prompt prefix of the branch, if this is the first turn on the way to its root and it is known.
    pub frozen: Option<PromptPrefix>,
}

/// Derives the name of a branch from its first message.
pub(crate) fn branch_name_after(contents: &[Content]) -> String {
    let words = first_words(&content_text(contents), BRANCH_NAME_CHARS);
    if words.is_empty() { "branch".to_owned() } else { words }
}

/// Returns the name of the n-th branch with the same name.
fn numbered(name: &str, n: usize) -> String {
    if n == 1 { name.to_owned() } else { format!("{name} ({n})") }
}

/// The parameters of a fork.
pub(crate) struct BranchFork<'a> {
    /// The id of the new branch.
    pub id: BranchId,
    pub source: &'a Branch,
    /// The last turn that both branches share.
    pub from: Option<TurnId>,
    pub origin: BranchOrigin,
    pub lock: ModelLock,
    /// The name; a number is appended when another branch has it.
    pub name: String,
}

impl Service {
    /// Returns the lock of a chat's first branch.
    pub fn first_lock(&self, owner: UserId, wanted: &PlacementRequest) -> Result<ModelLock, ServiceError> {
        let registry = self.supervisor().registry();
        let lock = resolve_lock(
            wanted.provider.as_deref(),
            wanted.model.as_deref(),
            None,
            |provider| registry.default_model(owner, provider),
            &registry.default_lock(owner),
        );
        self.check_new_lock(owner, wanted, lock)
    }

    /// Locks the chat until the transaction ends: writers to one chat are serialized, and each reads what the one
    /// before it stored. Call this after claiming the idempotency key and before reading anything of the chat.
    pub(crate) async fn lock_chat(&self, tx: &mut Tx, owner: UserId, id: ChatId) -> Result<Chat, ServiceError> {
        chats::lock_and_find(tx, owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Resolves the placement of a user turn in a locked chat.
    pub(crate) async fn place_user_turn(
        &self,
        tx: &mut Tx,
        chat: &Chat,
        wanted: &PlacementRequest,
        contents: &[Content],
    ) -> Result<TurnPlacement, ServiceError> {
        let owner = chat.owner_id;
        let parent = match wanted.prev_turn_id {
            Some(id) => Some(self.parent_in_chat(owner, chat.id, id).await?),
            None => None,
        };
        let source = match (wanted.branch_id, &parent, chat.default_branch_id) {
            (Some(id), ..) => {
                let named = branches::find(self.db(), owner, id).await?.filter(|branch| branch.chat_id == chat.id);
                Some(named.ok_or_else(|| InvalidField::new("branch_id", MessageCode::NoSuchBranch))?)
            }
            (None, Some(turn), _) => branches::find(self.db(), owner, turn.branch_id).await?,
            (None, None, Some(id)) => branches::find(self.db(), owner, id).await?,
            (None, None, None) => None,
        };
        let Some(source) = source else {
            return Err(ServiceError::NotFound);
        };
        // A branch without turns continues at its fork point.
        let end = source.head_turn_id.or(source.fork_turn_id);
        let parent = match (parent, end) {
            _ if wanted.starts_root => None,
            (Some(parent), _) => Some(parent),
            (None, Some(end)) => Some(self.parent_in_chat(owner, chat.id, end).await?),
            (None, None) => None,
        };
        // A root beside others gets a branch of its own, which may have another model.
        let may_branch = wanted.may_branch || (wanted.starts_root && end.is_some());
        let lock = if may_branch { self.fork_lock(owner, &source, wanted)? } else { source.lock.clone() };
        if !may_branch {
            self.check_lock(owner, &source, wanted, parent.as_ref())?;
        }
        if let Some(parent) = &parent {
            if !parent.status.is_terminal() {
                return Err(ServiceError::earlier_reply_running());
            }
            if parent.role == Role::User {
                return Err(InvalidField::new("prev_turn_id", MessageCode::MustFollowReply).into());
            }
        }
        let at = parent.as_ref().map(|turn| turn.id);
        self.check_sibling_room(tx, chat.id, at).await?;
        self.check_lock_available(owner, &lock, at)?;
        let origin = if lock == source.lock { BranchOrigin::Fork } else { BranchOrigin::ModelSwitch };
        let leaving =
            BranchFork { id: ids::mint(), source: &source, from: at, origin, lock, name: branch_name_after(contents) };
        let (branch, frozen) = self.continue_or_fork(tx, chat, leaving).await?;
        Ok(TurnPlacement { parent, branch, ord: None, frozen })
    }

    /// Returns the branch for an added turn in a locked chat: the source itself at its end and with its lock, else a
    /// fork. With it comes the prompt prefix that the first turn of a root branch freezes.
    pub(crate) async fn continue_or_fork(
        &self,
        tx: &mut Tx,
        chat: &Chat,
        leaving: BranchFork<'_>,
    ) -> Result<(Branch, Option<PromptPrefix>), ServiceError> {
        let source = leaving.source;
        let end = source.head_turn_id.or(source.fork_turn_id);
        if leaving.lock == source.lock && leaving.from == end {
            // Read together, because all other writers wait for this transaction.
            let (has_deleted_turns, choice, frozen) = tokio::join!(
                deletions::has_deleted_turns(tx, source.id),
                self.chat_tool_choice(chat),
                self.frozen_of_empty_root(source),
            );
            // New turns would occupy the positions of the branch's deleted turns, and those could no longer be restored.
            if !has_deleted_turns? {
                let (choice, mut frozen) = (choice?, frozen?);
                if source.head_turn_id.is_none() {
                    // Tools are frozen with the first turn, and tool servers may have changed since the branch was
                    // created.
                    let tools = self.offered_tools(chat.owner_id, &source.lock, &choice).await;
                    branches::defer_tools(tx, source.id, &tools).await?;
                    if let Some(frozen) = &mut frozen {
                        frozen.tools = Some(tools);
                    }
                } else {
                    self.add_late_tools(tx, chat.owner_id, &choice, source).await?;
                }
                return Ok((source.clone(), frozen));
            }
        }
        Ok((self.fork_branch(tx, chat, leaving).await?, None))
    }

    /// Returns the prompt prefix of a branch without turns that forks from nowhere and whose provider keeps nothing:
    /// with it, its first reply need not read the branch again.
    async fn frozen_of_empty_root(&self, branch: &Branch) -> Result<Option<PromptPrefix>, ServiceError> {
        if branch.head_turn_id.or(branch.fork_turn_id).is_some() {
            return Ok(None);
        }
        let found = branches::frozen_and_provider_state(self.db(), branch.id).await?;
        Ok(found.and_then(|(frozen, state)| (state == ProviderState::default()).then_some(frozen)))
    }

    /// Returns the lock of a fork of `source`; the source's own when the request names none.
    pub(crate) fn fork_lock(
        &self,
        owner: UserId,
        source: &Branch,
        wanted: &PlacementRequest,
    ) -> Result<ModelLock, ServiceError> {
        let lock = self.resolve(owner, source, wanted);
        // A well-formed id may be of a provider that was just removed; any other id is a mistake of the client.
        let named = lock.as_ref().map(|lock| lock.provider.as_str()).or(wanted.provider.as_deref());
        if let Some(provider) = named.filter(|provider| is_provider_id(provider) || *provider == source.lock.provider) {
            let model = lock.as_ref().map(|lock| lock.model.as_str());
            self.check_provider(owner, provider, model, source.head_turn_id)?;
        }
        self.check_new_lock(owner, wanted, lock)
    }

    fn resolve(&self, owner: UserId, source: &Branch, wanted: &PlacementRequest) -> Option<ModelLock> {
        let registry = self.supervisor().registry();
        resolve_lock(
            wanted.provider.as_deref(),
            wanted.model.as_deref(),
            Some(&source.lock),
            |provider| registry.default_model(owner, provider),
            &registry.default_lock(owner),
        )
    }

    /// Checks that a request does not change the lock of a branch (docs/reference/domain.md I3). The refusal contains
    /// the body of a request that forks instead.
    fn check_lock(
        &self,
        owner: UserId,
        branch: &Branch,
        wanted: &PlacementRequest,
        from: Option<&Turn>,
    ) -> Result<(), ServiceError> {
        let other = self.resolve(owner, branch, wanted);
        if other.as_ref() == Some(&branch.lock) {
            return Ok(());
        }
        let provider = other.as_ref().map(|lock| lock.provider.as_str()).or(wanted.provider.as_deref());
        let model = other.as_ref().map(|lock| lock.model.as_str());
        Err(ServiceError::Conflict {
            code: "branch_locked",
            message: MessageCode::BranchLocked
                .with("provider", &branch.lock.provider)
                .with("model", &branch.lock.model),
            extra: json!({
                "locked_to": branch.lock,
                "fork": { "from_turn_id": from.map(|turn| turn.id), "provider": provider, "model": model },
            }),
        })
    }

    fn check_new_lock(
        &self,
        owner: UserId,
        wanted: &PlacementRequest,
        lock: Option<ModelLock>,
    ) -> Result<ModelLock, ServiceError> {
        let provider = lock.as_ref().map(|lock| lock.provider.as_str()).or(wanted.provider.as_deref());
        let model = lock.as_ref().map(|lock| lock.model.as_str());
        if let Some(provider) = provider {
            self.check_granted(owner, provider, model, None)?;
        }
        if let Some(unknown) = provider.filter(|provider| !self.has_provider(owner, provider, model)) {
            return Err(InvalidField::new(
                "provider",
                MessageCode::ProviderNotConfigured.with("provider", format!("{unknown:?}")),
            )
            .into());
        }
        let lock = lock.ok_or_else(|| InvalidField::new("model", MessageCode::NoDefaultModel))?;
        check_model("model", &lock.model)?;
        Ok(lock)
    }

    /// Checks that one more version fits below a turn.
    pub(crate) async fn check_sibling_room(
        &self,
        tx: &mut Tx,
        chat: ChatId,
        below: Option<TurnId>,
    ) -> Result<(), ServiceError> {
        if turns::count_children(tx, chat, below).await? >= limits::SIBLINGS {
            let message = MessageCode::TooManyVersions.with("most", limits::SIBLINGS);
            return Err(ServiceError::conflict("too_many_siblings", message));
        }
        Ok(())
    }

    /// Returns the prompt prefix for a branch with this lock: the chat's prompt, the present tools of this
    /// choice, and the instructions of their servers.
    pub(crate) async fn freeze_branch(
        &self,
        (owner, system_prompt): (UserId, &str),
        lock: &ModelLock,
        choice: &ToolChoice,
    ) -> PromptPrefix {
        let tools = self.offered_tools(owner, lock, choice).await;
        let instructions = self.tools().instructions(owner, choice, &tools).await;
        PromptPrefix { system_prompt: system_prompt.to_owned(), tools: Some(tools), instructions }
    }

    /// Creates a fork in a locked chat.
    pub(crate) async fn fork_branch(
        &self,
        tx: &mut Tx,
        chat: &Chat,
        leaving: BranchFork<'_>,
    ) -> Result<Branch, ServiceError> {
        let BranchFork { id, source, from, origin, lock, name } = leaving;
        if branches::count(tx, chat.id).await? >= limits::BRANCHES_PER_CHAT {
            let message = MessageCode::TooManyBranches.with("most", limits::BRANCHES_PER_CHAT);
            return Err(ServiceError::conflict("too_many_branches", message));
        }
        let taken = branches::names_like(tx, chat.id, &name).await?;
        let name = (1..).map(|n| numbered(&name, n)).find(|name| !taken.contains(name)).unwrap_or(name);
        let branch = Branch {
            parent_branch_id: Some(source.id),
            fork_turn_id: from,
            origin,
            policy: source.policy,
            ..Branch::new(id, chat.id, name, lock, self.clock().now())
        };
        let choice = self.chat_tool_choice(chat).await?;
        let of_chat = (chat.owner_id, chat.system_prompt.as_str());
        let mut frozen = self.freeze_branch(of_chat, &branch.lock, &choice).await;
        self.carry_found_tools(source.id, &choice, &mut frozen).await?;
        branches::insert(tx, &branch, &frozen).await?;
        Ok(branch)
    }
}
