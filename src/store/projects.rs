//! Projects, and which chats are in them.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{storable_text, to_unsigned};
use turnleaf_domain::{ChatId, ModelLock, Project, ProjectColor, ProjectId, UserId};

const TABLE: &str = "projects";

/// The projects of an owner ($1), with the numbers of their chats that are not in Trash.
macro_rules! of_owner {
    ($fits_and_order:literal) => {
        concat!(
            "SELECT p.id, p.owner_id, p.name, p.color, p.instructions, p.provider, p.model, p.version, p.created_at, \
                p.updated_at, \
                (SELECT COUNT(*) FROM chats c WHERE c.project_id = p.id AND c.owner_id = p.owner_id \
                    AND c.deleted_at IS NULL) AS chats, \
                (SELECT COUNT(*) FROM chats c WHERE c.project_id = p.id AND c.owner_id = p.owner_id \
                    AND c.deleted_at IS NULL AND c.archived_at IS NOT NULL) AS archived_chats \
                FROM projects p WHERE p.owner_id = $1",
            $fits_and_order
        )
    };
}

sql! {
    INSERT = "INSERT INTO projects (id, owner_id, name, color, instructions, provider, model, version, created_at, \
        updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    FIND = of_owner!(" AND p.id = $2");
    LIST = of_owner!(" ORDER BY LOWER(p.name), p.id LIMIT $2");
    /// Those with the newest chats first. One without chats is as new as its last change.
    RECENT = "SELECT p.id, p.name, p.color FROM projects p WHERE p.owner_id = $1 \
        ORDER BY COALESCE((SELECT MAX(c.updated_at) FROM chats c \
            WHERE c.project_id = p.id AND c.owner_id = p.owner_id), p.updated_at) DESC, p.id DESC LIMIT $2";
    COUNT = "SELECT COUNT(*) FROM projects WHERE owner_id = $1";
    /// Values that are NULL stay, except for the model, which $6 says to change. Other instructions are a new version.
    UPDATE = "UPDATE projects SET name = COALESCE($3, name), color = COALESCE($4, color), \
        version = CASE WHEN COALESCE($5, instructions) = instructions THEN version ELSE version + 1 END, \
        instructions = COALESCE($5, instructions), \
        provider = CASE WHEN $6 THEN $7 ELSE provider END, model = CASE WHEN $6 THEN $8 ELSE model END, \
        updated_at = $9 WHERE owner_id = $1 AND id = $2";
    /// Those in Trash, too.
    CLEAR_CHATS = "UPDATE chats SET project_id = NULL, project_version = NULL \
        WHERE project_id = $2 AND owner_id = $1";
    DELETE = "DELETE FROM projects WHERE owner_id = $1 AND id = $2";
    DELETE_ALL = "DELETE FROM projects WHERE owner_id = $1";
    CHATS = "SELECT c.id FROM chats c WHERE c.project_id = $2 AND c.owner_id = $1 AND c.deleted_at IS NULL \
        ORDER BY c.updated_at DESC, c.id DESC LIMIT $3";
    /// A chat without messages, to begin in. One that was moved into the project has a prompt of its own.
    UNUSED_CHAT = "SELECT c.id FROM chats c WHERE c.project_id = $2 AND c.owner_id = $1 AND c.deleted_at IS NULL \
        AND c.archived_at IS NULL AND c.title = '' AND c.rev = 0 AND c.project_version IS NOT NULL \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.chat_id = c.id) \
        ORDER BY c.updated_at DESC, c.id DESC LIMIT 1";
    /// The project must be the owner's. A chat that is moved keeps its prompt, which is not of the new project.
    MOVE_CHAT = "UPDATE chats SET project_id = $3, \
        project_version = CASE WHEN project_id = $3 THEN project_version END \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL AND (EXISTS \
        (SELECT 1 FROM projects p WHERE p.owner_id = $1 AND p.id = $3) OR $3 IS NULL)";
    SET_CHAT_VERSION = "UPDATE chats SET project_version = $3 \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
}

/// A project as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProject {
    pub project: Project,
    /// Its chats that are not in Trash, and how many of them are archived.
    pub chats: u64,
    pub archived_chats: u64,
}

/// A project by its name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProject {
    pub id: ProjectId,
    pub name: String,
    pub color: ProjectColor,
}

/// Changes of a project; `None` keeps a field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectUpdate {
    pub name: Option<String>,
    pub color: Option<ProjectColor>,
    pub instructions: Option<String>,
    /// `Some(None)` removes the model.
    pub default_model: Option<Option<ModelLock>>,
}

struct ProjectRow {
    id: Uuid,
    owner_id: Uuid,
    name: Lossy<String>,
    color: Lossy<String>,
    instructions: Lossy<String>,
    provider: Lossy<Option<String>>,
    model: Lossy<Option<String>>,
    version: i64,
    created_at: Lossy<DateTime<Utc>>,
    updated_at: Lossy<DateTime<Utc>>,
    chats: i64,
    archived_chats: i64,
}
from_row!(ProjectRow {
    id,
    owner_id,
    name,
    color,
    instructions,
    provider,
    model,
    version,
    created_at,
    updated_at,
    chats,
    archived_chats,
});

impl From<ProjectRow> for ListedProject {
    fn from(row: ProjectRow) -> Self {
        let id = row.id;
        let provider = row.provider.unwrap_or_default(TABLE, "provider", id);
        let model = row.model.unwrap_or_default(TABLE, "model", id);
        let project = Project {
            id: id.into(),
            owner_id: row.owner_id.into(),
            name: row.name.unwrap_or_default(TABLE, "name", id),
            color: ProjectColor::parse(&row.color.unwrap_or_default(TABLE, "color", id)).unwrap_or_default(),
            instructions: row.instructions.unwrap_or_default(TABLE, "instructions", id),
            default_model: provider.zip(model).map(|(provider, model)| ModelLock { provider, model }),
            version: row.version,
            created_at: row.created_at.unwrap_or_default(TABLE, "created_at", id),
            updated_at: row.updated_at.unwrap_or_default(TABLE, "updated_at", id),
        };
        Self { project, chats: to_unsigned(row.chats), archived_chats: to_unsigned(row.archived_chats) }
    }
}

/// Stores a new project.
pub async fn insert(tx: &mut Tx, project: &Project) -> Result<(), StoreError> {
    let name = storable_text(&project.name, "the name")?;
    let instructions = storable_text(&project.instructions, "the instructions")?;
    let lock = project.default_model.as_ref();
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(project.id.uuid())
            .bind(project.owner_id.uuid())
            .bind(name)
            .bind(project.color.as_str())
            .bind(instructions)
            .bind(lock.map(|lock| lock.provider.as_str()))
            .bind(lock.map(|lock| lock.model.as_str()))
            .bind(project.version)
            .bind(project.created_at)
            .bind(project.updated_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns a project of this owner with the numbers of its chats.
pub async fn find(db: &Db, owner: UserId, project: ProjectId) -> Result<Option<ListedProject>, StoreError> {
    let row: Option<ProjectRow> = with_pool!(db, |pool| sqlx::query_as(FIND)
        .bind(owner.uuid())
        .bind(project.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(row.map(ListedProject::from))
}

/// Returns the projects of an owner by name.
pub async fn list(db: &Db, owner: UserId, limit: u32) -> Result<Vec<ListedProject>, StoreError> {
    let rows: Vec<Readable<ProjectRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedProject::from).collect())
}

/// The columns of a [`NamedProject`].
type NamedRow = (Uuid, Lossy<String>, Lossy<String>);

/// Returns the projects of an owner that were used last.
pub async fn list_recent(db: &Db, owner: UserId, limit: u32) -> Result<Vec<NamedProject>, StoreError> {
    let rows: Vec<Readable<NamedRow>> =
        with_pool!(db, |pool| sqlx::query_as(RECENT).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?);
    let named = |(id, name, color): NamedRow| NamedProject {
        id: id.into(),
        name: name.unwrap_or_default(TABLE, "name", id),
        color: ProjectColor::parse(&color.unwrap_or_default(TABLE, "color", id)).unwrap_or_default(),
    };
    Ok(keep_readable(rows, TABLE).into_iter().map(named).collect())
}

/// Counts the projects of an owner.
pub async fn count(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(owner.uuid()).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// Changes a project. Returns false if the owner has no such project.
pub async fn update(
    tx: &mut Tx,
    owner: UserId,
    project: ProjectId,
    change: &ProjectUpdate,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let name = change.name.as_deref().map(|name| storable_text(name, "the name")).transpose()?;
    let instructions =
        change.instructions.as_deref().map(|text| storable_text(text, "the instructions")).transpose()?;
    let lock = change.default_model.as_ref().and_then(Option::as_ref);
    let changed = in_tx!(tx, |conn| {
        sqlx::query(UPDATE)
            .bind(owner.uuid())
            .bind(project.uuid())
            .bind(name)
            .bind(change.color.map(ProjectColor::as_str))
            .bind(instructions)
            .bind(change.default_model.is_some())
            .bind(lock.map(|lock| lock.provider.as_str()))
            .bind(lock.map(|lock| lock.model.as_str()))
            .bind(now)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Deletes a project. Its chats stay and are in no project then. Returns false if the owner has no such project.
pub async fn delete(tx: &mut Tx, owner: UserId, project: ProjectId) -> Result<bool, StoreError> {
    let deleted = in_tx!(tx, |conn| {
        sqlx::query(CLEAR_CHATS).bind(owner.uuid()).bind(project.uuid()).execute(&mut *conn).await?;
        sqlx::query(DELETE).bind(owner.uuid()).bind(project.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(deleted > 0)
}

/// Deletes all projects of an owner, without their chats.
pub async fn delete_all(tx: &mut Tx, owner: UserId) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DELETE_ALL).bind(owner.uuid()).execute(conn).await?.rows_affected()))
}

/// Returns some chats of a project that are not in Trash, archived ones included; empty if there are none.
pub async fn list_chats(db: &Db, owner: UserId, project: ProjectId, most: u32) -> Result<Vec<ChatId>, StoreError> {
    let ids: Vec<Uuid> = with_pool!(db, |pool| {
        let query = sqlx::query_scalar(CHATS).bind(owner.uuid()).bind(project.uuid()).bind(i64::from(most));
        query.fetch_all(pool).await?
    });
    Ok(ids.into_iter().map(ChatId::from).collect())
}

/// Returns a chat that began in a project and in which nothing was ever written.
pub async fn find_unused_chat(db: &Db, owner: UserId, project: ProjectId) -> Result<Option<ChatId>, StoreError> {
    let id: Option<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(UNUSED_CHAT).bind(owner.uuid()).bind(project.uuid()).fetch_optional(pool).await?
    });
    Ok(id.map(ChatId::from))
}

/// Moves a chat into a project of the owner, or out of its project. Returns false if the chat is deleted or the owner
/// has no such project.
pub async fn move_chat(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    project: Option<ProjectId>,
) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(MOVE_CHAT).bind(owner.uuid()).bind(chat.uuid());
        query.bind(project.map(ProjectId::uuid)).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Records the version of the project whose instructions are the chat's prompt now. Returns false if the chat is
/// deleted.
pub async fn set_chat_version(tx: &mut Tx, owner: UserId, chat: ChatId, version: i64) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(SET_CHAT_VERSION).bind(owner.uuid()).bind(chat.uuid()).bind(version);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}
