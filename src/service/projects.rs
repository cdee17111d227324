//! Projects: create, change, delete, and the values that a chat takes from its project. A chat copies the instructions
//! when it begins, because a branch keeps its prompt (`docs/adr/0019-frozen-branch-inputs.md`).

use serde_json::json;

use crate::chats::NewChat;
use crate::idempotency::Created;
use crate::providers::draft::check_model;
use crate::turns::placement::PlacementRequest;
use crate::{Service, ServiceError};
use turnleaf_domain::chats::project::{check_project_instructions, check_project_name};
use turnleaf_domain::{
    AccountChange, Chat, ChatId, MessageCode, ModelLock, Project, ProjectColor, ProjectId, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_store::{branches, chats, projects};

pub use turnleaf_store::projects::{ListedProject, NamedProject, ProjectUpdate};

/// The page size for looking up the chats that are deleted with a project.
const AT_A_TIME: u32 = 100;

/// The request to create a project.
#[derive(Debug, Clone, Default)]
pub struct NewProject {
    pub name: String,
    pub color: ProjectColor,
    pub instructions: String,
    pub default_model: Option<ModelLock>,
    /// The idempotency key, chosen by the client: one id never creates two projects.
    pub client_request_id: Option<String>,
}

/// The treatment of the chats of a project that is deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProjectChats {
    /// They stay, and are in no project then.
    #[default]
    Keep,
    /// They move to Trash, archived ones included.
    Trash,
}

impl Service {
    /// Returns the projects by name, with the numbers of their chats.
    pub async fn projects(&self, owner: UserId) -> Result<Vec<ListedProject>, ServiceError> {
        Ok(projects::list(self.db(), owner, limits::PAGE_MAX).await?)
    }

    /// Returns the projects that were used last.
    pub async fn recent_projects(&self, owner: UserId) -> Result<Vec<NamedProject>, ServiceError> {
        Ok(projects::list_recent(self.db(), owner, limits::RECENT_PROJECTS).await?)
    }

    /// Returns a project with the numbers of its chats.
    pub async fn project(&self, owner: UserId, id: ProjectId) -> Result<ListedProject, ServiceError> {
        projects::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Creates a project without chats.
    pub async fn create_project(&self, owner: UserId, new: NewProject) -> Result<Created<ListedProject>, ServiceError> {
        let request = json!({
            "new": "project",
            "name": new.name,
            "color": new.color,
            "instructions": new.instructions,
            "model": new.default_model,
        });
        let name = check_project_name(&new.name)?;
        check_project_instructions(&new.instructions)?;
        let checked_model = new.default_model.map(|lock| self.check_project_model(owner, lock)).transpose();
        let growth = self.check_growth(owner, new.instructions.len() as u64).await;
        let now = self.clock().now();
        let id: ProjectId = ids::mint();
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), request, id).await? {
            tx.rollback().await?;
            let made = made.parse().map_err(|_| ServiceError::NotFound)?;
            return Ok(Created::existing(self.project(owner, made).await?));
        }
        growth?;
        if projects::count(&mut tx, owner).await? >= limits::PROJECTS as u64 {
            let message = MessageCode::TooMany.with("most", limits::PROJECTS);
            return Err(ServiceError::conflict("too_many_projects", message));
        }
        let project = Project {
            id,
            owner_id: owner,
            name,
            color: new.color,
            instructions: new.instructions,
            default_model: checked_model?,
            version: 1,
            created_at: now,
            updated_at: now,
        };
        projects::insert(&mut tx, &project).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::ChatListChanged);
        Ok(Created::new(ListedProject { project, chats: 0, archived_chats: 0 }))
    }

    /// Changes a project. Its chats keep the instructions that they began with.
    pub async fn change_project(
        &self,
        owner: UserId,
        id: ProjectId,
        mut change: ProjectUpdate,
    ) -> Result<ListedProject, ServiceError> {
        let before = self.project(owner, id).await?.project;
        change.name = change.name.map(|name| check_project_name(&name)).transpose()?;
        if let Some(instructions) = &change.instructions {
            check_project_instructions(instructions)?;
            let more = instructions.len().saturating_sub(before.instructions.len());
            self.check_growth(owner, more as u64).await?;
        }
        // A model that was removed since is not checked again where it stays.
        if let Some(Some(lock)) = &change.default_model
            && before.default_model.as_ref() != Some(lock)
        {
            change.default_model = Some(Some(self.check_project_model(owner, lock.clone())?));
        }
        let mut tx = self.db().begin().await?;
        if !projects::update(&mut tx, owner, id, &change, self.clock().now()).await? {
            return Err(ServiceError::NotFound);
        }
        tx.commit().await?;
        self.publish_change(owner, AccountChange::ChatListChanged);
        self.project(owner, id).await
    }

    /// Deletes a project at once. Its chats stay, unless they are to go to Trash with it: then they go first, each with
    /// a deletion of its own, and the project stays if one cannot be deleted.
    pub async fn delete_project(&self, owner: UserId, id: ProjectId, of: ProjectChats) -> Result<(), ServiceError> {
        self.project(owner, id).await?;
        if of == ProjectChats::Trash {
            loop {
                let chats = projects::list_chats(self.db(), owner, id, AT_A_TIME).await?;
                if chats.is_empty() {
                    break;
                }
                for chat in chats {
                    match self.delete_chat(owner, chat).await {
                        // Another request deleted it in between.
                        Ok(_) | Err(ServiceError::NotFound) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        let mut tx = self.db().begin().await?;
        if !projects::delete(&mut tx, owner, id).await? {
            return Err(ServiceError::NotFound);
        }
        tx.commit().await?;
        self.publish_change(owner, AccountChange::ChatListChanged);
        Ok(())
    }

    /// Returns a chat of a project without messages, to begin in: the one that is there, else a new one. The
    /// instructions of all new chats are its prompt if the project has none.
    pub async fn begin_chat_in_project(&self, owner: UserId, id: ProjectId) -> Result<ChatId, ServiceError> {
        let project = self.project(owner, id).await?.project;
        if let Some(unused) = projects::find_unused_chat(self.db(), owner, id).await? {
            let chat = self.chat(owner, unused).await?;
            if is_outdated(&chat, &project) {
                self.use_project_instructions(owner, unused).await?;
            }
            return Ok(unused);
        }
        let system_prompt = match project.instructions.is_empty() {
            true => self.instructions(owner).await?,
            false => String::new(),
        };
        let new = NewChat { system_prompt, project_id: Some(id), ..NewChat::default() };
        Ok(self.create_chat(owner, new).await?.value.0.id)
    }

    /// Makes the instructions of its project the prompt of a chat, for new branches and those without messages.
    pub async fn use_project_instructions(&self, owner: UserId, id: ChatId) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        let chat = self.lock_chat(&mut tx, owner, id).await?;
        let Some(project) = chat.project_id else { return Err(ServiceError::NotFound) };
        let Project { instructions, version, .. } = self.project(owner, project).await?.project;
        chats::set_system_prompt(&mut tx, owner, id, &instructions).await?;
        branches::set_prompt_of_empty_branches(&mut tx, id, &instructions).await?;
        projects::set_chat_version(&mut tx, owner, id, version).await?;
        tx.commit().await?;
        self.publish_chat(owner, id);
        Ok(())
    }

    /// Returns the model with which a new chat of the project begins: its own if that can still be used.
    pub(crate) fn project_model(&self, project: &Project) -> Option<ModelLock> {
        let lock = project.default_model.clone()?;
        self.first_lock(project.owner_id, &placement_on(&lock)).ok()
    }

    fn check_project_model(&self, owner: UserId, lock: ModelLock) -> Result<ModelLock, ServiceError> {
        let lock = ModelLock { model: check_model("default_model", &lock.model)?, ..lock };
        self.first_lock(owner, &placement_on(&lock))
    }
}

/// Returns whether the chat's prompt is not that of its project's present version. A chat that was moved into a project
/// without instructions misses none.
pub fn is_outdated(chat: &Chat, project: &Project) -> bool {
    let misses_none = chat.project_version.is_none() && project.instructions.is_empty();
    chat.project_id == Some(project.id) && chat.project_version != Some(project.version) && !misses_none
}

fn placement_on(lock: &ModelLock) -> PlacementRequest {
    PlacementRequest {
        provider: Some(lock.provider.clone()),
        model: Some(lock.model.clone()),
        ..PlacementRequest::default()
    }
}
