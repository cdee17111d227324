//! Rules about the models and tool servers that the server shares: whom each is for. The rights that follow from them are
//! kept in memory, where every list and every call asks them (docs/adr/0098-groups-and-grants.md).

use std::collections::HashSet;
use std::sync::Arc;

use super::Actor;
use super::account_error::AccountError;
use crate::providers::draft::check_model;
use crate::{Service, ServiceError};
use turnleaf_domain::accounts::access_rights::{AccessRights, AudienceScope, GrantAudience, GrantTarget};
use turnleaf_domain::{AccessRuleId, AuditVerb, GroupId, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::endpoint::{is_provider_id, is_tool_server_id};
use turnleaf_platform::ids;
use turnleaf_providers::demo;
use turnleaf_store::accounts::access_rules::{self, NewGrant};
use turnleaf_store::accounts::{groups, users};

pub use turnleaf_providers::registry::SharedModels;
pub use turnleaf_store::accounts::access_rules::StoredAccessRule;

impl Service {
    /// Reads the rights of all accounts when the server starts, and again when another process may have changed them.
    pub async fn load_rights(&self) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        self.apply_rights().await
    }

    /// Lets lists and calls follow the stored rules. The caller holds the lock of changes, so that nothing older
    /// replaces them.
    pub(super) async fn apply_rights(&self) -> Result<(), ServiceError> {
        let db = self.db();
        let (stored, members, disabled) =
            tokio::try_join!(access_rules::list(db), groups::all_members(db), users::list_disabled(db))?;
        let rules = stored.rules.into_iter().map(|rule| (rule.target, rule.audience));
        let rights = AccessRights::new(self.local_owner(), rules, members, stored.is_incomplete);
        let rights = Arc::new(rights.without_disabled(disabled));
        self.supervisor().registry().set_rights(rights.clone());
        self.tools().set_rights(rights);
        Ok(())
    }

    /// Returns all rules, by kind and target.
    pub async fn access_rules(&self) -> Result<Vec<StoredAccessRule>, ServiceError> {
        Ok(access_rules::list(self.db()).await?.rules)
    }

    /// Returns the shared providers with their models.
    pub fn shared_models(&self) -> Vec<SharedModels> {
        self.supervisor().registry().shared_models()
    }

    /// Returns the ids and names of the tool servers of the configuration file.
    pub fn shared_tool_servers(&self) -> Vec<(String, String)> {
        self.tools().configured().iter().map(|server| (server.id.clone(), server.name.clone())).collect()
    }

    /// Sets whom a model, the other models of a provider, or a tool server is for.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `too_many_rules`.
    pub async fn set_access_rule(
        &self,
        actor: Actor,
        target: GrantTarget,
        audience: GrantAudience,
    ) -> Result<StoredAccessRule, AccountError> {
        check_target(&target)?;
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        self.check_audience(&audience).await?;
        let scope = if audience.everybody { AudienceScope::Everybody } else { AudienceScope::Listed };
        let groups = audience.groups.iter().map(|group| NewGrant::Group(ids::mint(), *group));
        let accounts = audience.accounts.iter().map(|user| NewGrant::Account(ids::mint(), *user));
        let grants: Vec<NewGrant> = groups.chain(accounts).collect();
        let mut tx = self.db().begin().await?;
        access_rules::put(&mut tx, ids::mint(), (&target, scope), &grants, self.clock().now()).await?;
        if access_rules::count(&mut tx).await? > u64::from(limits::ACCESS_RULES) {
            let message = MessageCode::TooMany.with("most", limits::ACCESS_RULES);
            return Err(AccountError::conflict("too_many_rules", message));
        }
        let given = format!("{}: {}", target.label(), if audience.everybody { "everybody" } else { "listed" });
        self.finish_rights_change(tx, actor, AuditVerb::ChangeGrants, &given).await?;
        let stored = self.access_rules().await?.into_iter().find(|rule| rule.target == target);
        stored.ok_or_else(AccountError::not_found)
    }

    /// Deletes a rule: its target has its default again.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn delete_access_rule(&self, actor: Actor, id: AccessRuleId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let rule = self.access_rules().await?.into_iter().find(|rule| rule.id == id).ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        if !access_rules::delete(&mut tx, id).await? {
            return Err(AccountError::not_found());
        }
        let given = format!("{}: default", rule.target.label());
        self.finish_rights_change(tx, actor, AuditVerb::ChangeGrants, &given).await
    }

    /// Checks that the groups and accounts of an audience exist.
    async fn check_audience(&self, audience: &GrantAudience) -> Result<(), ServiceError> {
        let groups: HashSet<GroupId> = self.account_groups().await?.into_iter().map(|group| group.id).collect();
        if !audience.groups.iter().all(|group| groups.contains(group)) {
            return Err(InvalidField::new("groups", MessageCode::IsUnknown).into());
        }
        if !audience.accounts.is_empty() {
            let accounts: HashSet<UserId> = users::list(self.db()).await?.into_iter().collect();
            if !audience.accounts.iter().all(|user| accounts.contains(user)) {
                return Err(InvalidField::new("accounts", MessageCode::IsUnknown).into());
            }
        }
        Ok(())
    }
}

/// Checks that a target can exist. A rule may come before its provider, and stays when that is removed for a while.
fn check_target(target: &GrantTarget) -> Result<(), InvalidField> {
    let is_possible = match target {
        GrantTarget::Provider(id) => is_provider_id(id) || id == demo::ID,
        GrantTarget::Model(lock) => is_provider_id(&lock.provider) || lock.provider == demo::ID,
        GrantTarget::ToolServer(id) => is_tool_server_id(id),
    };
    match target {
        _ if !is_possible => Err(InvalidField::new("target", MessageCode::IsUnknown)),
        GrantTarget::Model(lock) => check_model("model", &lock.model).map(drop),
        GrantTarget::Provider(_) | GrantTarget::ToolServer(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::ModelLock;

    #[test]
    fn target_of_rule_has_possible_id() {
        let provider = |id: &str| GrantTarget::Provider(id.into());
        let model = |id: &str, model: &str| GrantTarget::Model(ModelLock::new(id, model));
        let server = |id: &str| GrantTarget::ToolServer(id.into());
        for (target, is_possible) in [
            (provider("openai"), true),
            (provider("demo"), true),
            (provider("Open AI"), false),
            (model("openai", "vendor/large:online"), true),
            (model("openai", "a\0b"), false),
            (server("files"), true),
            (server("provider"), false),
            (server("../x"), false),
        ] {
            assert_eq!(check_target(&target).is_ok(), is_possible, "{target:?}");
        }
    }
}
