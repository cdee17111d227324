//! The use of an identity: its address and the groups that its service names are those of the last one. Memberships in mapped
//! groups begin and end with them, and running calls follow at once.

use super::Actor;
use crate::Service;
use turnleaf_domain::{AuditVerb, GroupId, IdentityId, UserId};
use turnleaf_store::account_groups::GroupMembership;
use turnleaf_store::db::Tx;
use turnleaf_store::{StoreError, account_groups, identities, identity_groups};

/// The statements of a service about an identity.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdentityUse<'a> {
    /// The name of the service, for the audit log.
    pub service: &'a str,
    /// Its issuer as the configuration writes it, by which groups are mapped.
    pub issuer: &'a str,
    pub email: Option<&'a str>,
    pub groups: &'a [String],
}

impl Service {
    /// Stores the present use of an identity, with an entry about each membership that begins or ends by it. Returns
    /// whether the groups have changed, for [`Self::commit_identity_use`].
    pub(super) async fn record_identity_use(
        &self,
        tx: &mut Tx,
        actor: Actor,
        (owner, id): (UserId, IdentityId),
        used: IdentityUse<'_>,
    ) -> Result<bool, StoreError> {
        let before = account_groups::list_of_member(tx, owner).await?;
        identities::record_use(tx, owner, id, used.email, self.clock().now()).await?;
        if !identity_groups::replace(tx, owner, id, (used.issuer, used.groups)).await? {
            return Ok(false);
        }
        self.record_memberships(tx, actor, (owner, used.service), &before).await?;
        Ok(true)
    }

    /// Adds an entry about each membership of an account that has begun or ended in this transaction, since these were
    /// read. Returns whether there are any.
    pub(super) async fn record_memberships(
        &self,
        tx: &mut Tx,
        actor: Actor,
        (owner, service): (UserId, &str),
        before: &[GroupMembership],
    ) -> Result<bool, StoreError> {
        let after = account_groups::list_of_member(tx, owner).await?;
        let changes = membership_changes(before, &after);
        for (verb, membership) in &changes {
            let target = format!("{}: {} ({service})", membership.group_name, membership.member_name);
            self.record(tx, actor, *verb, &target).await?;
        }
        Ok(!changes.is_empty())
    }

    /// Commits the use or the end of an identity. If its groups have changed, calls follow before this returns.
    pub(super) async fn commit_identity_use(&self, tx: Tx, has_other_groups: bool) -> Result<(), StoreError> {
        tx.commit().await?;
        if has_other_groups {
            self.follow_rights().await;
        }
        Ok(())
    }
}

/// Returns the memberships that have begun, then those that have ended.
fn membership_changes<'m>(
    before: &'m [GroupMembership],
    after: &'m [GroupMembership],
) -> Vec<(AuditVerb, &'m GroupMembership)> {
    let has = |memberships: &[GroupMembership], group: GroupId| memberships.iter().any(|other| other.group == group);
    let begun = after.iter().filter(|membership| !has(before, membership.group));
    let ended = before.iter().filter(|membership| !has(after, membership.group));
    let begun = begun.map(|membership| (AuditVerb::AddMember, membership));
    begun.chain(ended.map(|membership| (AuditVerb::RemoveMember, membership))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memberships_that_begin_or_end_are_changes() {
        let membership = |id: u128| GroupMembership {
            group: uuid::Uuid::from_u128(id).into(),
            group_name: format!("Group {id}"),
            member_name: "Bob".into(),
        };
        let (before, after) = ([1, 2].map(membership), [2, 3].map(membership));
        let renamed = GroupMembership { group_name: "Lab".into(), ..membership(2) };
        assert_eq!(
            membership_changes(&before, &after),
            [(AuditVerb::AddMember, &after[1]), (AuditVerb::RemoveMember, &before[0])]
        );
        assert!(membership_changes(&before[1..], &[renamed]).is_empty(), "another name is no other group");
    }
}
