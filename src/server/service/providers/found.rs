//! The servers that were found on this machine, and of which of them somebody does not want to hear any more.

use serde_json::json;

use crate::domain::{Invalid, UserId};
use crate::server::outbound::registry::LocalServer;
use crate::server::service::{Service, ServiceError};

/// The setting that holds the addresses that are not told of again.
const DISMISSED: &str = "found.dismissed";
/// As many are remembered; who has more servers on one machine hears of the first ones again.
const MOST: usize = 32;

impl Service {
    /// The local servers that answered, without those that this person has dismissed.
    pub async fn found_locally(&self, owner: UserId) -> Result<Vec<LocalServer>, ServiceError> {
        let mut found = self.supervisor().registry().found_locally();
        if !found.is_empty() {
            let dismissed: Vec<String> = self.setting(owner, DISMISSED).await?;
            found.retain(|server| !dismissed.contains(&server.address));
        }
        Ok(found)
    }

    /// Tells no more of the server at this address. It can be used as before.
    pub async fn dismiss_found(&self, owner: UserId, address: &str) -> Result<(), ServiceError> {
        if !self.supervisor().registry().found_locally().iter().any(|server| server.address == address) {
            return Err(Invalid::new("address", "no server was found there").into());
        }
        let mut dismissed: Vec<String> = self.setting(owner, DISMISSED).await?;
        dismissed.retain(|known| known != address);
        dismissed.push(address.to_owned());
        let forgotten = dismissed.len().saturating_sub(MOST);
        dismissed.drain(..forgotten);
        self.set_setting(owner, DISMISSED, &json!(dismissed)).await
    }
}
