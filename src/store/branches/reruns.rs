//! Reruns ("grafts" in tables): plans of messages to ask again, and their progress. A step is recorded in the
//! transaction of its exchange by compare-and-swap, so that no message is asked twice.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::{parse_word, storable_text, to_word};
use turnleaf_domain::branches::rerun::{RerunPauseReason, RerunStatus};
use turnleaf_domain::{BranchId, ChatId, CodedMessage, ExchangeId, ModelParams, Rerun, RerunId, TurnId, UserId};

macro_rules! rerun_columns {
    () => {
        "g.id, g.chat_id, g.branch_id, g.from_turn_id, g.leaf_turn_id, g.messages, g.asked, g.exchange_id, g.status, \
         g.reason, g.detail, g.params, g.created_at, g.updated_at"
    };
}

sql! {
    INSERT = "INSERT INTO grafts (id, owner_id, chat_id, branch_id, from_turn_id, leaf_turn_id, messages, asked, \
        exchange_id, status, reason, detail, params, created_at, updated_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    FIND = concat!("SELECT ", rerun_columns!(), " FROM grafts g JOIN chats c ON c.id = g.chat_id \
        JOIN branches b ON b.id = g.branch_id \
        WHERE g.owner_id = $1 AND g.id = $2 AND c.deleted_at IS NULL AND b.deleted_at IS NULL");
    LIST = concat!("SELECT ", rerun_columns!(), " FROM grafts g JOIN chats c ON c.id = g.chat_id \
        JOIN branches b ON b.id = g.branch_id \
        WHERE g.owner_id = $1 AND g.chat_id = $2 AND c.deleted_at IS NULL AND b.deleted_at IS NULL \
        ORDER BY g.created_at DESC, g.id DESC LIMIT $3");
    RUNNING = concat!("SELECT ", rerun_columns!(), ", g.owner_id FROM grafts g WHERE g.status = 'running' \
        ORDER BY g.created_at, g.id");
    ADVANCE = "UPDATE grafts SET status = 'running', reason = NULL, detail = NULL, asked = $5, exchange_id = $6, \
        branch_id = $7, updated_at = $8 \
        WHERE id = $1 AND status = $2 AND asked = $3 AND exchange_id IS NOT DISTINCT FROM $4";
    SET_STATUS = "UPDATE grafts SET status = $3, reason = $4, detail = $5, updated_at = $6 \
        WHERE id = $1 AND status = $2";
}

/// A status change of a rerun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RerunStatusChange {
    Running,
    Paused(RerunPauseReason, Option<CodedMessage>),
    Done,
    Cancelled,
}

/// The state of a rerun after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RerunAdvance {
    pub asked: u32,
    pub exchange_id: ExchangeId,
    pub branch_id: BranchId,
}

struct RerunRow {
    id: Uuid,
    chat_id: Uuid,
    branch_id: Uuid,
    from_turn_id: Option<Uuid>,
    leaf_turn_id: Option<Uuid>,
    messages: Json<Vec<TurnId>>,
    asked: i64,
    exchange_id: Option<Uuid>,
    status: String,
    reason: Option<String>,
    detail: Option<String>,
    params: Json<ModelParams>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}
from_row!(RerunRow {
    id,
    chat_id,
    branch_id,
    from_turn_id,
    leaf_turn_id,
    messages,
    asked,
    exchange_id,
    status,
    reason,
    detail,
    params,
    created_at,
    updated_at,
});

impl RerunRow {
    fn into_rerun(self) -> Result<Rerun, StoreError> {
        let reason = self.reason.map(|reason| parse_word(reason, "grafts", "reason", self.id)).transpose()?;
        let coded = self.detail.as_deref().and_then(|detail| serde_json::from_str::<CodedMessage>(detail).ok());
        let (detail, detail_code, detail_args) = match coded {
            Some(coded) => (Some(coded.to_string()), Some(coded.code.code().to_owned()), coded.args),
            None => (self.detail, None, BTreeMap::new()),
        };
        Ok(Rerun {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            branch_id: self.branch_id.into(),
            from_turn_id: self.from_turn_id.map(TurnId::from),
            leaf_turn_id: self.leaf_turn_id.map(TurnId::from),
            messages: self.messages.0,
            asked: u32::try_from(self.asked).unwrap_or(u32::MAX),
            exchange_id: self.exchange_id.map(ExchangeId::from),
            status: parse_word(self.status, "grafts", "status", self.id)?,
            reason,
            detail,
            detail_code,
            detail_args,
            params: self.params.0,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

struct OwnedRerunRow {
    graft: RerunRow,
    owner_id: Uuid,
}
from_row!(OwnedRerunRow { graft: flatten, owner_id });

/// Returns the details of a pause for their column: JSON with the code and its arguments, or a text that has no code.
fn detail_column(detail: &CodedMessage) -> String {
    let coded = (!detail.is_uncoded()).then(|| serde_json::to_string(detail).ok()).flatten();
    coded.unwrap_or_else(|| detail.to_string())
}

/// Stores a new rerun, whose branch is stored already.
pub async fn insert(tx: &mut Tx, owner: UserId, graft: &Rerun) -> Result<(), StoreError> {
    let detail = graft.detail_message().map(|detail| detail_column(&detail));
    let detail = detail.as_deref().map(|text| storable_text(text, "the reason")).transpose()?;
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(graft.id.uuid())
            .bind(owner.uuid())
            .bind(graft.chat_id.uuid())
            .bind(graft.branch_id.uuid())
            .bind(graft.from_turn_id.map(TurnId::uuid))
            .bind(graft.leaf_turn_id.map(TurnId::uuid))
            .bind(Json(&graft.messages))
            .bind(i64::from(graft.asked))
            .bind(graft.exchange_id.map(ExchangeId::uuid))
            .bind(to_word(graft.status))
            .bind(graft.reason.map(to_word))
            .bind(detail)
            .bind(Json(&graft.params))
            .bind(graft.created_at)
            .bind(graft.updated_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Returns a rerun of this owner whose chat and branch are not deleted.
pub async fn find(db: &Db, owner: UserId, graft: RerunId) -> Result<Option<Rerun>, StoreError> {
    let row: Option<RerunRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(graft.uuid()).fetch_optional(pool).await?);
    row.map(RerunRow::into_rerun).transpose()
}

/// Returns the reruns of a chat, newest first.
pub async fn list(db: &Db, owner: UserId, chat: ChatId, limit: u32) -> Result<Vec<Rerun>, StoreError> {
    let rows: Vec<Readable<RerunRow>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST).bind(owner.uuid()).bind(chat.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    Ok(keep_decoded(keep_readable(rows, "grafts").into_iter().map(RerunRow::into_rerun), "grafts"))
}

/// Returns every running rerun, of all owners, oldest first, to resume them when the server starts.
pub async fn list_running(db: &Db) -> Result<Vec<(UserId, Rerun)>, StoreError> {
    let rows: Vec<Readable<OwnedRerunRow>> = with_pool!(db, |pool| sqlx::query_as(RUNNING).fetch_all(pool).await?);
    let owned = |row: OwnedRerunRow| Ok::<_, StoreError>((row.owner_id.into(), row.graft.into_rerun()?));
    Ok(keep_decoded(keep_readable(rows, "grafts").into_iter().map(owned), "grafts"))
}

/// Records a step by compare-and-swap from `seen`, in the transaction of its exchange. Returns false if the rerun has
/// changed meanwhile: then the transaction must not be committed. The caller has found the rerun by its owner.
pub async fn advance(tx: &mut Tx, seen: &Rerun, to: RerunAdvance, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(ADVANCE)
            .bind(seen.id.uuid())
            .bind(to_word(seen.status))
            .bind(i64::from(seen.asked))
            .bind(seen.exchange_id.map(ExchangeId::uuid))
            .bind(i64::from(to.asked))
            .bind(to.exchange_id.uuid())
            .bind(to.branch_id.uuid())
            .bind(now)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Changes the status of a rerun by compare-and-swap. Returns false if it has another status by now. The caller has
/// found it by its owner.
pub async fn set_status(
    tx: &mut Tx,
    graft: RerunId,
    from: RerunStatus,
    to: &RerunStatusChange,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let (status, reason, detail) = match to {
        RerunStatusChange::Running => (RerunStatus::Running, None, None),
        RerunStatusChange::Paused(reason, detail) => (RerunStatus::Paused, Some(*reason), detail.as_ref()),
        RerunStatusChange::Done => (RerunStatus::Done, None, None),
        RerunStatusChange::Cancelled => (RerunStatus::Cancelled, None, None),
    };
    let detail = detail.map(detail_column).map(|text| text.replace('\0', "\u{2400}"));
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_STATUS)
            .bind(graft.uuid())
            .bind(to_word(from))
            .bind(to_word(status))
            .bind(reason.map(to_word))
            .bind(detail)
            .bind(now)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}
