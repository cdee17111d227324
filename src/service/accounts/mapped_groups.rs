//! Mappings of groups, which administrators manage: whom an identity provider or a proxy names for a group of its own is a
//! member of a group here, for as long as it does.

use super::Actor;
use super::account_error::AccountError;
use super::identities::PROXY_ISSUER;
use crate::{Service, ServiceError};
use turnleaf_domain::accounts::account::check_external_group_name;
use turnleaf_domain::{AuditVerb, GroupId, GroupMappingId, InvalidField, MessageCode, limits};
use turnleaf_platform::ids;
use turnleaf_store::accounts::group_mappings::{self, StoredGroupMapping};
use turnleaf_store::accounts::{groups, identity_groups};

/// A service that names groups of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupService {
    /// The reverse proxy that names people.
    Proxy,
    /// An identity provider. Without an id it is not configured any more.
    IdentityProvider { id: Option<String>, name: String },
}

impl GroupService {
    /// Returns the id by which it is chosen.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Proxy => Some(PROXY_ISSUER),
            Self::IdentityProvider { id, .. } => id.as_deref(),
        }
    }

    /// Returns its name in the audit log and for programs.
    pub fn name(&self) -> &str {
        match self {
            Self::Proxy => PROXY_ISSUER,
            Self::IdentityProvider { name, .. } => name,
        }
    }
}

/// A group of a service whose people are members of a group here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMapping {
    pub id: GroupMappingId,
    pub service: GroupService,
    /// The name of the group there.
    pub name: String,
}

impl Service {
    /// Notes that a proxy names people, so that their groups can be mapped.
    pub fn note_proxy_users(&self) {
        self.accounts().note_proxy_users();
    }

    /// Returns the services whose groups can be mapped.
    pub fn group_services(&self) -> Vec<GroupService> {
        let proxy = self.accounts().has_proxy_users().then_some(GroupService::Proxy);
        let providers = self.identity_providers().into_iter();
        let providers =
            providers.map(|choice| GroupService::IdentityProvider { id: Some(choice.id), name: choice.name });
        proxy.into_iter().chain(providers).collect()
    }

    /// Returns names of groups that services have named, to choose from.
    pub async fn external_group_names(&self) -> Result<Vec<String>, ServiceError> {
        Ok(identity_groups::names(self.db(), limits::GROUP_NAMES_SUGGESTED).await?)
    }

    /// Returns the mappings of a group in the order in which they were added.
    pub async fn group_mappings(&self, group: GroupId) -> Result<Vec<GroupMapping>, ServiceError> {
        let stored = group_mappings::list(self.db(), group).await?;
        Ok(stored.into_iter().map(|mapping| self.named_mapping(mapping)).collect())
    }

    /// Maps a group of a service to a group here. Does nothing if it is mapped already.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `too_many_mappings`.
    pub async fn map_group(
        &self,
        actor: Actor,
        group: GroupId,
        (service, name): (&str, &str),
    ) -> Result<GroupMapping, AccountError> {
        self.require_recent_password(actor).await?;
        let (issuer, name) = (self.mapped_issuer(service)?, check_external_group_name(name)?);
        let _one_at_a_time = self.changing_providers().await;
        let found = groups::find(self.db(), group).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        if group_mappings::insert(&mut tx, group, ids::mint(), (&issuer, &name)).await? {
            if group_mappings::count(&mut tx, group).await? > u64::from(limits::GROUP_MAPPINGS) {
                let message = MessageCode::TooMany.with("most", limits::GROUP_MAPPINGS);
                return Err(AccountError::conflict("too_many_mappings", message));
            }
            let target = format!("{}: {name} ({})", found.name, self.group_service(&issuer).name());
            self.finish_rights_change(tx, actor, AuditVerb::MapGroup, &target).await?;
        } else {
            tx.rollback().await?;
        }
        let mut stored = group_mappings::list(self.db(), group).await?.into_iter();
        let mapping = stored.find(|mapping| (&mapping.issuer, &mapping.external_name) == (&issuer, &name));
        mapping.map(|mapping| self.named_mapping(mapping)).ok_or_else(AccountError::not_found)
    }

    /// Removes a mapping. Members whom nothing else makes members are none any more.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn unmap_group(&self, actor: Actor, group: GroupId, id: GroupMappingId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let _one_at_a_time = self.changing_providers().await;
        let found = groups::find(self.db(), group).await?.ok_or(ServiceError::NotFound)?;
        let mapping = self.group_mappings(group).await?.into_iter().find(|mapping| mapping.id == id);
        let mapping = mapping.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        if !group_mappings::delete(&mut tx, group, id).await? {
            return Err(AccountError::not_found());
        }
        let target = format!("{}: {} ({})", found.name, mapping.name, mapping.service.name());
        self.finish_rights_change(tx, actor, AuditVerb::UnmapGroup, &target).await
    }

    /// Returns the service of an issuer.
    pub(super) fn group_service(&self, issuer: &str) -> GroupService {
        if issuer == PROXY_ISSUER {
            return GroupService::Proxy;
        }
        let providers = self.accounts().identity_providers();
        let configured = providers.iter().find(|provider| provider.issuer.as_str() == issuer);
        let id = configured.map(|provider| provider.id.clone());
        GroupService::IdentityProvider { id, name: self.issuer_name(issuer) }
    }

    fn named_mapping(&self, stored: StoredGroupMapping) -> GroupMapping {
        GroupMapping { id: stored.id, service: self.group_service(&stored.issuer), name: stored.external_name }
    }

    /// Returns the issuer of a service that is chosen by its id. Behind a proxy that names people, its id is that of the
    /// proxy.
    fn mapped_issuer(&self, service: &str) -> Result<String, InvalidField> {
        if service == PROXY_ISSUER && self.accounts().has_proxy_users() {
            return Ok(PROXY_ISSUER.to_owned());
        }
        let provider = self.find_identity_provider(service);
        let issuer = provider.map(|provider| provider.issuer.to_string());
        issuer.ok_or_else(|| InvalidField::new("service", MessageCode::IsUnknown))
    }
}
