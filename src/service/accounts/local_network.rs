//! The network of the server. What is only reachable from there is not for everybody with an account.

use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, InvalidField, MessageCode, UserId};
use turnleaf_store::users;

impl Service {
    /// Checks that a person may have a connection into the server's own network, if it is one.
    ///
    /// # Errors
    /// `InvalidField` for an account that is no administrator.
    pub(crate) async fn check_local_network(&self, owner: UserId, is_used: bool) -> Result<(), ServiceError> {
        let is_restricted =
            is_used && users::find(self.db(), owner).await?.is_some_and(|account| account.role == AccountRole::User);
        if is_restricted {
            return Err(InvalidField::new("local_network", MessageCode::LocalNetworkForAdmins).into());
        }
        Ok(())
    }
}
