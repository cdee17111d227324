//! The network of the server. What is only reachable from there is not for everybody with an account.

use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, InvalidField, MessageCode, UserId};
use turnleaf_store::accounts::users;

impl Service {
    /// Checks that a person may have a connection into the server's own network, if it is one.
    ///
    /// # Errors
    /// `InvalidField` for an account that is no administrator.
    pub(crate) async fn check_local_network(&self, owner: UserId, is_used: bool) -> Result<(), ServiceError> {
        if is_used && !self.may_use_local_network(owner).await? {
            return Err(InvalidField::new("local_network", MessageCode::LocalNetworkForAdmins).into());
        }
        Ok(())
    }

    /// Returns whether a person may connect to what only the server reaches.
    pub(crate) async fn may_use_local_network(&self, owner: UserId) -> Result<bool, ServiceError> {
        Ok(users::find(self.db(), owner).await?.is_none_or(|account| account.role != AccountRole::User))
    }
}
