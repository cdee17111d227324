//! Groups of accounts, which administrators manage. What a group is granted, its members have. Members by a mapping are
//! changed where the mapping is (`mapped_groups`).

use serde_json::json;

use super::Actor;
use super::account_error::AccountError;
use super::account_names::name_key;
use super::mapped_groups::GroupService;
use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::accounts::account::check_group_name;
use turnleaf_domain::{AuditVerb, GroupId, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::accounts::groups::{self, StoredGroupMember};
use turnleaf_store::accounts::users;
use turnleaf_store::database::db::Tx;

pub use turnleaf_store::accounts::groups::AccountGroup;

/// An account that is in a group, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    pub user: UserId,
    pub name: String,
    /// True if an administrator added it.
    pub is_added: bool,
    /// The services that name it for a mapped group.
    pub services: Vec<GroupService>,
}

impl Service {
    /// Returns all groups in the order of their creation.
    pub async fn account_groups(&self) -> Result<Vec<AccountGroup>, ServiceError> {
        Ok(groups::list(self.db(), limits::GROUPS).await?)
    }

    /// Returns a group with its members.
    pub async fn group(&self, id: GroupId) -> Result<(AccountGroup, Vec<GroupMember>), ServiceError> {
        let group = groups::find(self.db(), id).await?.ok_or(ServiceError::NotFound)?;
        let members = groups::members(self.db(), id, limits::ACCOUNTS_LISTED).await?;
        Ok((group, members.into_iter().map(|member| self.group_member(member)).collect()))
    }

    /// Returns the group with this name, however it is written.
    pub async fn find_group(&self, name: &str) -> Result<Option<GroupId>, ServiceError> {
        let key = name_key(name);
        let found = self.account_groups().await?.into_iter().find(|group| name_key(&group.name) == key);
        Ok(found.map(|group| group.id))
    }

    /// Creates a group without members. `client_request_id` is the idempotency key, chosen by the client.
    pub async fn create_group(
        &self,
        actor: Actor,
        name: &str,
        client_request_id: Option<&str>,
    ) -> Result<Created<AccountGroup>, AccountError> {
        let _one_at_a_time = self.changing_providers().await;
        let (id, now): (GroupId, _) = (ids::mint(), self.clock().now());
        let (request, maker) = (json!({ "new": "group", "name": name }), actor.user.unwrap_or(self.local_owner()));
        let name = check_group_name(name)?;
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, maker, client_request_id, request, id).await? {
            tx.rollback().await?;
            let made: GroupId = made.parse().map_err(|_| ServiceError::NotFound)?;
            return Ok(Created::existing(self.group(made).await?.0));
        }
        let groups = self.account_groups().await?;
        if groups.len() >= limits::GROUPS as usize {
            let message = MessageCode::TooMany.with("most", limits::GROUPS);
            return Err(AccountError::conflict("too_many_groups", message));
        }
        check_name_is_free(&groups, None, &name)?;
        groups::insert(&mut tx, id, &name, now).await?;
        self.record(&mut tx, actor, AuditVerb::AddGroup, &name).await?;
        tx.commit().await?;
        Ok(Created::new(AccountGroup { id, name, members: 0, created_at: now }))
    }

    /// Gives a group another name.
    pub async fn rename_group(&self, actor: Actor, id: GroupId, name: &str) -> Result<AccountGroup, AccountError> {
        let _one_at_a_time = self.changing_providers().await;
        let name = check_group_name(name)?;
        check_name_is_free(&self.account_groups().await?, Some(id), &name)?;
        let mut tx = self.db().begin().await?;
        if !groups::rename(&mut tx, id, &name).await? {
            return Err(AccountError::not_found());
        }
        self.record(&mut tx, actor, AuditVerb::RenameGroup, &name).await?;
        tx.commit().await?;
        Ok(self.group(id).await?.0)
    }

    /// Deletes a group. Its members lose what they were granted through it alone.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn delete_group(&self, actor: Actor, id: GroupId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let (group, _) = self.group(id).await?;
        let mut tx = self.db().begin().await?;
        if !groups::delete(&mut tx, id).await? {
            return Err(AccountError::not_found());
        }
        self.finish_rights_change(tx, actor, AuditVerb::DeleteGroup, &group.name).await
    }

    /// Adds an account to a group, also if it is a member by a mapping. Does nothing if it was added already.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn add_group_member(&self, actor: Actor, id: GroupId, user: UserId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let label = self.membership_label(id, user).await?;
        let mut tx = self.db().begin().await?;
        if !groups::add_member(&mut tx, id, user).await? {
            return Ok(());
        }
        self.finish_rights_change(tx, actor, AuditVerb::AddMember, &label).await
    }

    /// Removes an account from a group. Does nothing if it is no member. One that is a member by a mapping, too, stays one.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `mapped_member` if nobody added it.
    pub async fn remove_group_member(&self, actor: Actor, id: GroupId, user: UserId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let label = self.membership_label(id, user).await?;
        let mut tx = self.db().begin().await?;
        if !groups::remove_member(&mut tx, id, user).await? {
            let memberships = groups::list_of_member(&mut tx, user).await?;
            tx.rollback().await?;
            return match memberships.iter().any(|membership| membership.group == id) {
                true => Err(AccountError::conflict("mapped_member", MessageCode::MemberIsMapped)),
                false => Ok(()),
            };
        }
        self.finish_rights_change(tx, actor, AuditVerb::RemoveMember, &label).await
    }

    fn group_member(&self, StoredGroupMember { user, name, is_added, issuers }: StoredGroupMember) -> GroupMember {
        let services = issuers.iter().map(|issuer| self.group_service(issuer)).collect();
        GroupMember { user, name, is_added, services }
    }

    /// Returns the names of an account and a group for the audit log.
    async fn membership_label(&self, id: GroupId, user: UserId) -> Result<String, ServiceError> {
        let group = groups::find(self.db(), id).await?.ok_or(ServiceError::NotFound)?;
        let account = users::find(self.db(), user).await?.ok_or(ServiceError::NotFound)?;
        Ok(format!("{}: {}", group.name, account.name))
    }

    /// Commits a change of rights with its audit entry, then lets this process follow it. The caller holds the lock of
    /// changes.
    pub(super) async fn finish_rights_change(
        &self,
        mut tx: Tx,
        actor: Actor,
        verb: AuditVerb,
        target: &str,
    ) -> Result<(), AccountError> {
        self.record(&mut tx, actor, verb, target).await?;
        tx.commit().await?;
        Ok(self.apply_rights().await?)
    }
}

/// Checks that no other group has a name that looks like this one.
fn check_name_is_free(groups: &[AccountGroup], own: Option<GroupId>, name: &str) -> Result<(), InvalidField> {
    let key = name_key(name);
    match groups.iter().any(|group| Some(group.id) != own && name_key(&group.name) == key) {
        true => Err(InvalidField::new("name", MessageCode::GroupNameTaken)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    #[test]
    fn name_of_group_is_free_unless_another_looks_like_it() {
        let id: GroupId = uuid::Uuid::from_u128(1).into();
        let group = AccountGroup { id, name: "Research".into(), members: 0, created_at: DateTime::UNIX_EPOCH };
        for (own, name, is_free) in [
            (None, "research ", false),
            (None, "R\u{435}search", false),
            (None, "Teaching", true),
            (Some(id), "RESEARCH", true),
        ] {
            assert_eq!(check_name_is_free(std::slice::from_ref(&group), own, name).is_ok(), is_free, "{name}");
        }
    }
}
