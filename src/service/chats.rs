//! Chats as a whole: list, create, rename, pin, archive. Deletion is in [`crate::trash`].

pub mod copies;
pub mod drafts;
pub mod new_chats;
pub mod titles;
pub mod unread;

use std::collections::HashSet;

use serde_json::json;

use crate::idempotency::Created;
use crate::turns::placement::{PlacementRequest, TurnPlacement};
use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::chats::chat::{ChatSettings, check_title};
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::{
    AccountChange, Branch, Chat, ChatId, InvalidField, MessageCode, ModelLock, ModelParams, ProjectId, TurnId, UserId,
    limits,
};
use turnleaf_platform::ids;
use turnleaf_store::chats::{self, chat_tools, unread_replies};
use turnleaf_store::database::db::Tx;
use turnleaf_store::{branches, projects};

pub use turnleaf_store::chats::{BrowseFilter, ListedChat};

/// The request to create a chat before its first message.
#[derive(Debug, Clone, Default)]
pub struct NewChat {
    pub title: String,
    pub system_prompt: String,
    pub params: ModelParams,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// `None` takes the tools that new chats get.
    pub tools: Option<ToolChoice>,
    /// The project of the chat, whose instructions and model it takes where it has none of its own.
    pub project_id: Option<ProjectId>,
    /// The idempotency key, chosen by the client: one id never creates two chats.
    pub client_request_id: Option<String>,
}

/// The initial settings of a chat.
#[derive(Debug, Clone, Default)]
pub(super) struct InitialChatSettings {
    pub title: String,
    pub system_prompt: String,
    pub params: ModelParams,
    /// `None` takes the tools that new chats get.
    pub tools: Option<ToolChoice>,
    pub project_id: Option<ProjectId>,
    /// The version of the project whose instructions are the prompt.
    pub project_version: Option<i64>,
}

/// Everything that a new chat needs, read before the transaction that stores it.
#[derive(Debug, Clone)]
pub(super) struct NewChatPlan {
    pub owner: UserId,
    pub settings: InitialChatSettings,
    pub lock: ModelLock,
    pub choice: ToolChoice,
    /// The prompt prefix of its first branch.
    pub frozen: PromptPrefix,
}

/// The values that a new chat takes from its first exchange, which the same transaction stores.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstExchange {
    /// The title, unless the settings have one.
    pub derived_title: String,
    /// The reply, to which the branch and the reader point; `None` for a chat without turns.
    pub reply: Option<TurnId>,
}

/// The changeable fields of a chat; `None` keeps a field.
#[derive(Debug, Clone, Default)]
pub struct ChatChange {
    pub title: Option<String>,
    pub system_prompt: Option<String>,
    pub params: Option<ModelParams>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// `Some(None)` moves the chat out of its project.
    pub project_id: Option<Option<ProjectId>>,
    /// True marks the newest reply as unread, false all replies as read.
    pub unread: Option<bool>,
}

impl Service {
    /// Inserts a chat with its first branch.
    pub(super) async fn insert_new_chat(
        &self,
        tx: &mut Tx,
        id: ChatId,
        NewChatPlan { owner, settings, lock, choice, frozen }: NewChatPlan,
        first: FirstExchange,
    ) -> Result<(Chat, TurnPlacement), ServiceError> {
        let InitialChatSettings { title, system_prompt, params, project_id, project_version, .. } = settings;
        let now = self.clock().now();
        let branch = Branch { head_turn_id: first.reply, ..Branch::new(ids::mint(), id, "main", lock, now) };
        let turns = if first.reply.is_some() { 2 } else { 0 };
        let titled_by_user = !title.is_empty();
        let chat = Chat {
            settings: ChatSettings { params, titled_by_user },
            title: if titled_by_user { title } else { first.derived_title },
            system_prompt,
            // The branch is checked at the commit.
            default_branch_id: Some(branch.id),
            last_viewed_turn_id: first.reply,
            project_id,
            project_version,
            rev: turns,
            ..Chat::new(id, owner, now)
        };
        chats::defer_insert_with_turns(tx, &chat, turns).await?;
        chat_tools::defer_put(tx, owner, chat.id, &choice).await?;
        branches::defer_insert_first(tx, &branch, &frozen, first.reply.map(|_| now)).await?;
        Ok((chat, TurnPlacement { parent: None, branch, ord: first.reply.map(|_| 1), frozen: None }))
    }

    /// Plans a new chat with these settings: everything that has to be read for it.
    pub(super) async fn plan_chat(
        &self,
        owner: UserId,
        wanted: &PlacementRequest,
        settings: InitialChatSettings,
    ) -> Result<NewChatPlan, ServiceError> {
        if wanted.prev_turn_id.is_some() || wanted.branch_id.is_some() {
            return Err(InvalidField::new("prev_turn_id", MessageCode::NewChatHasNoParent).into());
        }
        let lock = self.first_lock(owner, wanted)?;
        let choice = match &settings.tools {
            Some(choice) => choice.clone(),
            None => self.default_tools(owner).await?,
        };
        let frozen = self.freeze_branch((owner, &settings.system_prompt), &lock, &choice).await;
        Ok(NewChatPlan { owner, settings, lock, choice, frozen })
    }

    /// Returns the newest chats, each with whether a reply is running.
    pub async fn list_chats(&self, owner: UserId, limit: u32) -> Result<Vec<chats::ListedChat>, ServiceError> {
        Ok(chats::list(self.db(), owner, limit).await?)
    }

    /// Returns the chats after this one in the list; none when it is not in the list.
    pub async fn chats_after(
        &self,
        owner: UserId,
        behind: ChatId,
        limit: u32,
    ) -> Result<Vec<chats::ListedChat>, ServiceError> {
        Ok(chats::list_after(self.db(), owner, behind, limit).await?)
    }

    /// Returns the newest chats that are not pinned.
    pub async fn newest_chats(&self, owner: UserId, limit: u32) -> Result<Vec<ListedChat>, ServiceError> {
        Ok(chats::list_newest(self.db(), owner, limit).await?)
    }

    /// Returns the pinned chats, the last pinned first.
    pub async fn pinned_chats(&self, owner: UserId) -> Result<Vec<ListedChat>, ServiceError> {
        Ok(chats::list_pinned(self.db(), owner, limits::PAGE_MAX).await?)
    }

    /// Returns the chats that match a filter, archived ones included.
    pub async fn browse_chats(
        &self,
        owner: UserId,
        which: &BrowseFilter,
        limit: u32,
    ) -> Result<Vec<ListedChat>, ServiceError> {
        Ok(chats::browse(self.db(), owner, which, limit).await?)
    }

    pub async fn chat(&self, owner: UserId, id: ChatId) -> Result<Chat, ServiceError> {
        chats::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Filters these chats, in one query, to those that the owner has and that are not deleted.
    pub async fn existing_chats(
        &self,
        owner: UserId,
        chats: impl IntoIterator<Item = ChatId>,
    ) -> Result<HashSet<ChatId>, ServiceError> {
        Ok(chats::filter_existing(self.db(), owner, chats).await?)
    }

    /// Creates a chat without turns, with its first branch.
    pub async fn create_chat(&self, owner: UserId, new: NewChat) -> Result<Created<(Chat, Branch)>, ServiceError> {
        let title = check_title(&new.title)?;
        check_system_prompt(&new.system_prompt)?;
        new.params.validate()?;
        let mut request = json!({
            "new": "chat",
            "title": new.title,
            "system_prompt": new.system_prompt,
            "params": new.params,
            "provider": new.provider,
            "model": new.model,
            "tools": new.tools,
        });
        if let Some(project) = new.project_id {
            // Absent otherwise, so that the keys of chats from before this member still match.
            request["project"] = json!(project);
        }
        if let Some(choice) = &new.tools {
            self.check_tool_choice(owner, choice, None).await?;
            self.wake_chosen_servers(owner, choice).await;
        }
        let plan = self.plan_created_chat(owner, NewChat { title, ..new.clone() }).await;
        let mut tx = self.db().begin().await?;
        let id: ChatId = ids::mint();
        if let Some(made) = self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), request, id).await? {
            tx.rollback().await?;
            let chat = self.chat(owner, made.parse().map_err(|_| ServiceError::NotFound)?).await?;
            let branch = self.default_branch(owner, &chat).await?.ok_or(ServiceError::NotFound)?;
            return Ok(Created::existing((chat, branch)));
        }
        let (chat, place) = self.insert_new_chat(&mut tx, id, plan?, FirstExchange::default()).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::ChatListChanged);
        Ok(Created::new((chat, place.branch)))
    }

    /// Plans a chat with the values that it takes from its project: the instructions and the model, unless it has its
    /// own.
    async fn plan_created_chat(&self, owner: UserId, new: NewChat) -> Result<NewChatPlan, ServiceError> {
        let mut wanted = PlacementRequest { provider: new.provider, model: new.model, ..PlacementRequest::default() };
        let mut settings = InitialChatSettings {
            title: new.title,
            system_prompt: new.system_prompt,
            params: new.params,
            tools: new.tools,
            project_id: new.project_id,
            project_version: None,
        };
        if let Some(id) = new.project_id {
            let project = self.project(owner, id).await?.project;
            if settings.system_prompt.is_empty() || project.instructions.is_empty() {
                settings.project_version = Some(project.version);
            }
            let lock = self.project_model(&project).filter(|_| wanted.provider.is_none() && wanted.model.is_none());
            if let Some(lock) = lock {
                (wanted.provider, wanted.model) = (Some(lock.provider), Some(lock.model));
            }
            if settings.system_prompt.is_empty() {
                settings.system_prompt = project.instructions;
            }
        }
        self.plan_chat(owner, &wanted, settings).await
    }

    pub async fn change_chat(&self, owner: UserId, id: ChatId, change: ChatChange) -> Result<Chat, ServiceError> {
        let mut tx = self.db().begin().await?;
        let chat = chats::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let now = self.clock().now();
        if let Some(pinned) = change.pinned {
            chats::set_pinned(&mut tx, owner, id, pinned.then(|| chat.pinned_at.unwrap_or(now))).await?;
        }
        if let Some(archived) = change.archived {
            chats::set_archived(&mut tx, owner, id, archived.then(|| chat.archived_at.unwrap_or(now))).await?;
        }
        match change.unread {
            Some(true) => unread_replies::put_newest(&mut tx, owner, id).await?,
            Some(false) => unread_replies::delete_of_chat(&mut tx, owner, id).await?,
            None => {}
        }
        if let Some(title) = change.title {
            let title = check_title(&title)?;
            chats::rename(&mut tx, owner, id, &title, true).await?;
        }
        if let Some(prompt) = change.system_prompt {
            check_system_prompt(&prompt)?;
            // Models bind their reasoning to the prompt (docs/reference/providers.md 3.7), so branches with turns
            // keep theirs.
            chats::set_system_prompt(&mut tx, owner, id, &prompt).await?;
            branches::set_prompt_of_empty_branches(&mut tx, id, &prompt).await?;
        }
        if let Some(params) = change.params {
            params.validate()?;
            chats::set_params(&mut tx, owner, id, &params).await?;
        }
        if let Some(project) = change.project_id
            && !projects::move_chat(&mut tx, owner, id, project).await?
        {
            return Err(ServiceError::NotFound);
        }
        tx.commit().await?;
        self.publish_listed_chat(owner, id);
        if change.unread.is_some() {
            self.publish_change(owner, AccountChange::UnreadChanged);
        }
        self.chat(owner, id).await
    }
}

pub(super) fn check_system_prompt(prompt: &str) -> Result<(), InvalidField> {
    if prompt.contains('\0') {
        return Err(InvalidField::new("system_prompt", MessageCode::HasNul));
    }
    if prompt.chars().count() > limits::SYSTEM_PROMPT_CHARS {
        return Err(InvalidField::too_long("system_prompt", limits::SYSTEM_PROMPT_CHARS));
    }
    Ok(())
}
