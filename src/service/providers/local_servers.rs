//! Local model servers that were found on this machine, with the person's decisions to use or dismiss them.

use serde_json::json;

use crate::accounts::Actor;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, InvalidField, MessageCode, UserId};
use turnleaf_providers::registry::LocalServer;
use turnleaf_store::accounts::settings;

/// The setting that holds the addresses of dismissed servers.
const DISMISSED: &str = "found.dismissed";
/// The setting that holds the addresses of found servers that may be used.
const ACCEPTED: &str = "found.accepted";
/// The maximum number of remembered addresses; the oldest are forgotten.
const MOST: usize = 32;

impl Service {
    /// Returns the local servers that answered, without those that this person dismissed or uses. None for somebody who may
    /// not use the server's own network.
    pub async fn local_servers(&self, owner: UserId) -> Result<Vec<LocalServer>, ServiceError> {
        let mut found = self.supervisor().registry().local_servers(owner);
        if !found.is_empty() {
            if !self.may_use_local_network(owner).await? {
                return Ok(Vec::new());
            }
            let dismissed: Vec<String> = self.setting(owner, DISMISSED).await?;
            found.retain(|server| !server.is_in_use && !dismissed.contains(&server.address));
        }
        Ok(found)
    }

    /// Loads the accepted addresses into the registry when the server starts.
    pub(super) async fn load_accepted_servers(&self, owner: UserId) -> Result<(), ServiceError> {
        let accepted: Vec<String> = self.setting(owner, ACCEPTED).await?;
        self.supervisor().registry().set_accepted_addresses(owner, accepted);
        Ok(())
    }

    /// Accepts or rejects the server found at this address. An accepted server's models can be chosen at once, and
    /// are the default of new chats when there is no other.
    pub async fn set_local_server_used(
        &self,
        owner: UserId,
        actor: Actor,
        (address, is_used): (&str, bool),
    ) -> Result<(), ServiceError> {
        let _one_at_a_time = self.changing_providers().await;
        let mut accepted: Vec<String> = self.setting(owner, ACCEPTED).await?;
        accepted.retain(|known| known != address);
        if is_used {
            self.check_local_network(owner, true).await?;
            self.check_local_server(owner, address)?;
            accepted.push(address.to_owned());
        }
        let forgotten = accepted.len().saturating_sub(MOST);
        accepted.drain(..forgotten);
        let target = format!("{address}: {}", if is_used { "used" } else { "not used" });
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, ACCEPTED, &json!(accepted), self.clock().now()).await?;
        self.record(&mut tx, actor, AuditVerb::ChangeProvider, &target).await?;
        tx.commit().await?;
        self.supervisor().registry().set_accepted_addresses(owner, accepted);
        Ok(())
    }

    fn check_local_server(&self, owner: UserId, address: &str) -> Result<(), InvalidField> {
        let found = self.supervisor().registry().local_servers(owner);
        let is_there = found.iter().any(|server| server.address == address);
        if is_there { Ok(()) } else { Err(InvalidField::new("address", MessageCode::NoServerFound)) }
    }

    /// Hides the server at this address from the notices. It can still be used later.
    pub async fn dismiss_local_server(&self, owner: UserId, address: &str) -> Result<(), ServiceError> {
        self.check_local_server(owner, address)?;
        let mut dismissed: Vec<String> = self.setting(owner, DISMISSED).await?;
        dismissed.retain(|known| known != address);
        dismissed.push(address.to_owned());
        let forgotten = dismissed.len().saturating_sub(MOST);
        dismissed.drain(..forgotten);
        self.set_setting(owner, DISMISSED, &json!(dismissed)).await
    }
}
