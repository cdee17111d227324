//! Rules that say whom a model or a tool server is for, with the groups and accounts that they list. They have no owner:
//! administrators manage all of them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable, ok_or_log};
use crate::database::rows::{inconsistent, parse_word, to_unsigned, to_word};
use turnleaf_domain::accounts::access_rights::{AudienceScope, GrantAudience, GrantKind, GrantTarget};
use turnleaf_domain::{AccessRuleId, GroupId, UserId};

const TABLE: &str = "access_rules";

sql! {
    PUT = "INSERT INTO access_rules (id, kind, target, model, audience, changed_at) VALUES ($1, $2, $3, $4, $5, $6) \
        ON CONFLICT (kind, target, model) DO UPDATE SET audience = excluded.audience, changed_at = excluded.changed_at \
        RETURNING id";
    DELETE_GRANTS = "DELETE FROM access_grants WHERE rule_id = $1";
    GRANT_TO_GROUP = "INSERT INTO access_grants (id, rule_id, group_id) VALUES ($1, $2, $3)";
    GRANT_TO_ACCOUNT = "INSERT INTO access_grants (id, rule_id, user_id) VALUES ($1, $2, $3)";
    DELETE = "DELETE FROM access_rules WHERE id = $1";
    COUNT = "SELECT COUNT(*) FROM access_rules";
    ALL = "SELECT id, kind, target, model, audience, changed_at FROM access_rules ORDER BY kind, target, model";
    ALL_GRANTS = "SELECT rule_id, group_id, user_id FROM access_grants";
}

/// A rule as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccessRule {
    pub id: AccessRuleId,
    pub target: GrantTarget,
    pub audience: GrantAudience,
    pub changed_at: DateTime<Utc>,
}

/// All rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredAccessRules {
    pub rules: Vec<StoredAccessRule>,
    /// True if there are others, which cannot be read.
    pub is_incomplete: bool,
}

struct AccessRuleRow {
    id: Uuid,
    kind: String,
    target: String,
    model: String,
    audience: Lossy<String>,
    changed_at: Lossy<DateTime<Utc>>,
}
from_row!(AccessRuleRow { id, kind, target, model, audience, changed_at });

impl TryFrom<AccessRuleRow> for StoredAccessRule {
    type Error = StoreError;

    /// An unreadable audience is never everybody.
    fn try_from(row: AccessRuleRow) -> Result<Self, StoreError> {
        let id = row.id;
        let kind: GrantKind = parse_word(row.kind, TABLE, "kind", id)?;
        let target = GrantTarget::from_parts(kind, &row.target, &row.model);
        let audience = row.audience.unwrap_or_default(TABLE, "audience", id);
        let audience = ok_or_log(parse_word::<AudienceScope>(audience, TABLE, "audience", id), TABLE)?;
        Ok(Self {
            id: id.into(),
            target: target.ok_or_else(|| inconsistent(TABLE, "target", id, "it does not fit the kind"))?,
            audience: GrantAudience {
                everybody: audience == Some(AudienceScope::Everybody),
                ..GrantAudience::default()
            },
            changed_at: row.changed_at.unwrap_or_default(TABLE, "changed_at", id),
        })
    }
}

/// A group or an account that is granted something, such as the target of a rule, with the id of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewGrant {
    Group(Uuid, GroupId),
    Account(Uuid, UserId),
}

/// Stores a rule and replaces the earlier one of its target, which keeps its id.
pub async fn put(
    tx: &mut Tx,
    id: AccessRuleId,
    (target, audience): (&GrantTarget, AudienceScope),
    grants: &[NewGrant],
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(PUT).bind(id.uuid()).bind(target.kind().as_str()).bind(target.id());
        let query = query.bind(target.model()).bind(to_word(audience)).bind(now);
        let rule: Uuid = query.fetch_one(&mut *conn).await?;
        sqlx::query(DELETE_GRANTS).bind(rule).execute(&mut *conn).await?;
        for grant in grants {
            match grant {
                NewGrant::Group(id, group) => {
                    sqlx::query(GRANT_TO_GROUP).bind(*id).bind(rule).bind(group.uuid()).execute(&mut *conn).await?;
                }
                NewGrant::Account(id, user) => {
                    sqlx::query(GRANT_TO_ACCOUNT).bind(*id).bind(rule).bind(user.uuid()).execute(&mut *conn).await?;
                }
            }
        }
    });
    Ok(())
}

/// Deletes a rule: its target has its default again. Returns false if there is no such rule.
pub async fn delete(tx: &mut Tx, id: AccessRuleId) -> Result<bool, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query(DELETE).bind(id.uuid()).execute(conn).await?.rows_affected()) > 0)
}

/// Counts the rules.
pub async fn count(tx: &mut Tx) -> Result<u64, StoreError> {
    let count: i64 = in_tx!(tx, |conn| sqlx::query_scalar(COUNT).fetch_one(conn).await?);
    Ok(to_unsigned(count))
}

/// The rule, and the group or the account that it grants to.
type AccessGrantRow = (Uuid, Option<Uuid>, Option<Uuid>);

/// Returns all rules, by kind and target. An unreadable grant grants nothing.
pub async fn list(db: &Db) -> Result<StoredAccessRules, StoreError> {
    let rows: Vec<Readable<AccessRuleRow>> = with_pool!(db, |pool| sqlx::query_as(ALL).fetch_all(pool).await?);
    let stored = rows.len();
    let mut rules: Vec<StoredAccessRule> = Vec::with_capacity(stored);
    for row in keep_readable(rows, TABLE) {
        rules.extend(ok_or_log(StoredAccessRule::try_from(row), TABLE)?);
    }
    let places: HashMap<AccessRuleId, usize> = rules.iter().enumerate().map(|(at, rule)| (rule.id, at)).collect();
    let grants: Vec<Readable<AccessGrantRow>> =
        with_pool!(db, |pool| sqlx::query_as(ALL_GRANTS).fetch_all(pool).await?);
    for (rule, group, user) in keep_readable(grants, "access_grants") {
        let Some(at) = places.get(&rule.into()).copied() else { continue };
        rules[at].audience.groups.extend(group.map(GroupId::from));
        rules[at].audience.accounts.extend(user.map(UserId::from));
    }
    let is_incomplete = rules.len() < stored;
    Ok(StoredAccessRules { rules, is_incomplete })
}
