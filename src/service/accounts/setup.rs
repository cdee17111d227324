//! The setup: the owner gets a name and a password. Who sets up proves to have started the server, with a code that it
//! printed. The code is not stored in the database; setting up happens once, in one transaction.

use std::path::Path;

use secrecy::SecretString;

use super::account_error::AccountError;
use super::account_names::CheckedName;
use super::passwords::check_new_password;
use super::secrets::{NewSecret, new_code};
use super::setup_state::{SETUP_CODE_FILE, remove_code};
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditVerb, InvalidField, MessageCode, SessionOrigin, UserId};
use turnleaf_store::StoreError;
use turnleaf_store::accounts::users;
use turnleaf_store::database::db::Tx;

impl Service {
    /// Opens the setup if the server has no owner who can sign in: makes a code, writes it into a file that only the
    /// owner of the process reads, and returns it. Otherwise removes a file that was left.
    pub async fn open_setup(&self, data_dir: &Path) -> Result<Option<String>, ServiceError> {
        let file = data_dir.join(SETUP_CODE_FILE);
        if users::is_set_up(self.db()).await? {
            remove_code(&file);
            return Ok(None);
        }
        let code = new_code();
        self.accounts().setup().open(&code, file);
        Ok(Some(code))
    }

    /// Returns whether the server waits for its setup.
    pub fn needs_setup(&self) -> bool {
        self.accounts().setup().is_open()
    }

    /// Closes the setup if the command line has set up the server meanwhile.
    pub(super) async fn recheck_setup(&self) -> Result<(), StoreError> {
        if self.needs_setup() && users::is_set_up(self.db()).await? {
            self.accounts().setup().close();
        }
        Ok(())
    }

    /// Makes the local owner an account with a name and a password, and begins its first session. Returns the secret
    /// for the cookie.
    ///
    /// # Errors
    /// `already_set_up` where it has happened before.
    pub async fn set_up(
        &self,
        code: &str,
        name: &str,
        password: &SecretString,
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let already = || AccountError::conflict("already_set_up", MessageCode::AlreadySetUp);
        if !self.needs_setup() {
            return Err(already());
        }
        let network = self.accounts().attempts_by_network();
        network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        if !self.accounts().setup().has_code(code) {
            return Err(InvalidField::new("code", MessageCode::SetupCodeWrong).into());
        }
        network.take_back(&client.network);
        let name = CheckedName::new(name)?;
        check_new_password("password", password, &name.name)?;
        let hash = self.accounts().hashing().hash(password).await?;
        let actor = Actor { address: Some(client.address), ..Actor::default() };
        let mut tx = self.db().begin().await?;
        let owner = self.make_owner(&mut tx, actor, &name, &hash).await?.ok_or_else(already)?;
        let secret = self.start_session(&mut tx, owner, client, SessionOrigin::Password).await?;
        let secret = secret.ok_or_else(AccountError::not_found)?;
        tx.commit().await?;
        self.accounts().setup().close();
        self.accounts().credentials().revoke_account(owner);
        self.forget_former_session(client);
        Ok(secret)
    }

    /// Gives the local owner a name and a password, once. Returns `None` if that has happened before.
    pub(super) async fn make_owner(
        &self,
        tx: &mut Tx,
        actor: Actor,
        name: &CheckedName,
        hash: &str,
    ) -> Result<Option<UserId>, AccountError> {
        let owner = match users::set_up_owner(tx, name.names(), hash).await {
            Err(StoreError::NotUnique) => return Err(AccountError::name_taken()),
            made => made?,
        };
        if let Some(owner) = owner {
            self.record(tx, Actor { user: Some(owner), ..actor }, AuditVerb::SetUp, &name.name).await?;
        }
        Ok(owner)
    }
}
