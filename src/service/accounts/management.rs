//! Actions of administrators on accounts. Nobody sees or changes anything of another person's but what is here: the
//! password of an account can be reset on the command line alone, where the database is within reach anyway.

use secrecy::SecretString;

use super::Actor;
use super::account_error::AccountError;
use super::account_names::{CheckedName, name_key};
use super::identities::OwnIdentity;
use super::passkeys::ListedPasskey;
use super::passwords::check_new_password;
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::users::{self, StoredAccount};
use turnleaf_store::accounts::{groups, identities, invites, passkeys, second_factors, sessions};
use turnleaf_store::database::db::Tx;
use turnleaf_store::turns::queued_messages;

pub use turnleaf_store::accounts::users::ListedAccount;

/// The ways into an account that another password does not end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PasswordlessSignIns {
    pub identities: Vec<OwnIdentity>,
    pub passkeys: Vec<ListedPasskey>,
}

/// A password that somebody else gives to an account.
#[derive(Debug)]
pub struct AssignedPassword {
    text: SecretString,
    is_made: bool,
}

impl AssignedPassword {
    /// Returns a password that somebody has chosen. It stays valid.
    pub fn chosen(text: String) -> Self {
        Self { text: text.into(), is_made: false }
    }

    /// Returns a random password that was made for this. It signs in for a while, until its person has chosen another one.
    pub fn made(text: String) -> Self {
        Self { text: text.into(), is_made: true }
    }
}

impl From<&str> for AssignedPassword {
    fn from(text: &str) -> Self {
        Self::chosen(text.to_owned())
    }
}

impl PasswordlessSignIns {
    /// Returns what was removed, for the audit log; `None` if there was nothing.
    fn removed(&self) -> Option<String> {
        let identities = self.identities.iter().map(|identity| identity.name.as_str());
        let passkeys = self.passkeys.iter().map(|passkey| passkey.name.as_str());
        let parts = [("unlinked", identities.collect::<Vec<_>>()), ("removed passkeys", passkeys.collect())];
        let named = parts.iter().filter(|(_, names)| !names.is_empty());
        let named: Vec<String> = named.map(|(done, names)| format!("{done} {}", names.join(", "))).collect();
        (!named.is_empty()).then(|| named.join("; "))
    }
}

impl Service {
    /// Returns all accounts in the order of their creation.
    pub async fn list_accounts(&self) -> Result<Vec<ListedAccount>, ServiceError> {
        Ok(users::list_accounts(self.db(), limits::ACCOUNTS_LISTED).await?)
    }

    /// Returns the account with this name, however it is written.
    pub async fn find_account(&self, name: &str) -> Result<Option<UserId>, ServiceError> {
        let account = users::find_by_name(self.db(), &name_key(&name.replace('\0', ""))).await?;
        Ok(account.map(|account| account.id))
    }

    /// Returns the account with this name, however it is written, unless it is disabled.
    pub(crate) async fn find_enabled_account(&self, name: &str) -> Result<Option<UserId>, ServiceError> {
        let account = users::find_by_name(self.db(), &name_key(&name.replace('\0', ""))).await?;
        Ok(account.filter(|account| account.disabled_at.is_none()).map(|account| account.id))
    }

    /// Adds an account with a password. The role of the owner sets up the server.
    pub async fn add_account(
        &self,
        actor: Actor,
        name: &str,
        role: AccountRole,
        password: &AssignedPassword,
    ) -> Result<UserId, AccountError> {
        let name = CheckedName::new(name)?;
        check_new_password("password", &password.text, &name.name)?;
        let hash = self.accounts().hashing().hash(&password.text).await?;
        let mut tx = self.db().begin().await?;
        if role == AccountRole::Owner {
            let already = || AccountError::conflict("already_set_up", MessageCode::AlreadySetUp);
            let owner = self.make_owner(&mut tx, actor, &name, &hash).await?.ok_or_else(already)?;
            self.limit_made_password(&mut tx, owner, password).await?;
            tx.commit().await?;
            return Ok(owner);
        }
        let account: UserId = ids::mint();
        if !users::insert(&mut tx, account, name.names(), role, Some(&hash), self.clock().now()).await? {
            return Err(AccountError::name_taken());
        }
        self.limit_made_password(&mut tx, account, password).await?;
        self.record(&mut tx, actor, AuditVerb::AddAccount, &name.name).await?;
        tx.commit().await?;
        Ok(account)
    }

    /// Lets a password end that was made for an account. Until its person has changed it, their sessions open nothing else.
    async fn limit_made_password(
        &self,
        tx: &mut Tx,
        account: UserId,
        password: &AssignedPassword,
    ) -> Result<(), StoreError> {
        if password.is_made {
            users::set_password_expiry(tx, account, self.clock().now() + limits::MADE_PASSWORD_KEPT).await?;
        }
        Ok(())
    }

    /// Disables an account: its sessions, tokens, open connections and invitations end, its replies stop, and what it has
    /// queued waits for its person.
    pub async fn disable_account(&self, actor: Actor, account: UserId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let found = self.changeable_account(actor, account).await?;
        let mut tx = self.db().begin().await?;
        if users::disable(&mut tx, account, self.clock().now()).await? {
            sessions::delete_others(&mut tx, account, None).await?;
            // Otherwise its person would come back with one.
            invites::delete_open_of_maker(&mut tx, account).await?;
            queued_messages::hold_all(&mut tx, account, &MessageCode::AccountWasDisabled.into()).await?;
            self.finish_change(tx, actor, AuditVerb::DisableAccount, &found).await?;
            self.silence_account(account).await;
        }
        Ok(())
    }

    /// Enables an account. Its person signs in again.
    pub async fn enable_account(&self, actor: Actor, account: UserId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let found = self.changeable_account(actor, account).await?;
        let mut tx = self.db().begin().await?;
        if users::enable(&mut tx, account).await? {
            self.finish_change(tx, actor, AuditVerb::EnableAccount, &found).await?;
            self.follow_rights().await;
        }
        Ok(())
    }

    /// Gives an account another role. Its sessions, tokens and invitations end, because they were begun with the former
    /// one.
    pub async fn change_role(&self, actor: Actor, account: UserId, role: AccountRole) -> Result<(), AccountError> {
        if !AccountRole::GIVEN.contains(&role) {
            return Err(InvalidField::new("role", MessageCode::IsUnknown).into());
        }
        self.require_recent_password(actor).await?;
        let found = self.changeable_account(actor, account).await?;
        let mut tx = self.db().begin().await?;
        if users::set_role(&mut tx, account, role).await? {
            sessions::delete_others(&mut tx, account, None).await?;
            invites::delete_open_of_maker(&mut tx, account).await?;
            let given = format!("{}: {}", found.name, role.as_str());
            self.record(&mut tx, actor, AuditVerb::ChangeRole, &given).await?;
            tx.commit().await?;
            self.accounts().credentials().revoke_account(account);
        }
        Ok(())
    }

    /// Ends all sessions and tokens of an account.
    pub async fn sign_out_account(&self, actor: Actor, account: UserId) -> Result<(), AccountError> {
        let found = users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        users::sign_out(&mut tx, account).await?;
        sessions::delete_others(&mut tx, account, None).await?;
        self.finish_change(tx, actor, AuditVerb::SignOutAccount, &found).await
    }

    /// Sets the password of an account whose person has forgotten it. Its sessions and tokens end. Returns its identities
    /// and passkeys, by which somebody could still sign in; with `unlinks` they are removed.
    pub async fn reset_password(
        &self,
        actor: Actor,
        account: UserId,
        (password, unlinks): (&AssignedPassword, bool),
    ) -> Result<PasswordlessSignIns, AccountError> {
        let found = users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?;
        check_new_password("password", &password.text, &found.name)?;
        let hash = self.accounts().hashing().hash(&password.text).await?;
        let mut tx = self.db().begin().await?;
        // Nothing is linked or added meanwhile.
        users::lock(&mut tx, account).await?;
        let others = PasswordlessSignIns {
            identities: self.linked_identities(account).await?,
            passkeys: self.passkeys(account).await?,
        };
        users::set_password(&mut tx, account, &hash).await?;
        self.limit_made_password(&mut tx, account, password).await?;
        sessions::delete_others(&mut tx, account, None).await?;
        let (mut target, mut is_member_no_more) = (found.name, false);
        if unlinks {
            let before = groups::list_of_member(&mut tx, account).await?;
            identities::delete_all(&mut tx, account).await?;
            let services =
                others.identities.iter().map(|identity| identity.name.as_str()).collect::<Vec<_>>().join(", ");
            is_member_no_more = self.record_memberships(&mut tx, actor, (account, &services), &before).await?;
            passkeys::delete_all(&mut tx, account).await?;
            if let Some(removed) = others.removed() {
                target = format!("{target}: {removed}");
            }
        }
        self.record(&mut tx, actor, AuditVerb::ResetPassword, &target).await?;
        self.commit_identity_use(tx, is_member_no_more).await?;
        self.accounts().credentials().revoke_account(account);
        Ok(others)
    }

    /// Takes the second factor off an account whose person has lost it, with the recovery codes.
    pub async fn reset_second_factor(&self, actor: Actor, account: UserId) -> Result<(), AccountError> {
        let found = users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        if !second_factors::delete(&mut tx, account).await? {
            return Err(AccountError::conflict("second_factor_off", MessageCode::SecondFactorOff));
        }
        self.record(&mut tx, actor, AuditVerb::ResetSecondFactor, &found.name).await?;
        tx.commit().await?;
        self.accounts().credentials().expire_checks(Some(account));
        Ok(())
    }

    /// Returns an account that this actor may disable or give a role.
    async fn changeable_account(&self, actor: Actor, account: UserId) -> Result<StoredAccount, AccountError> {
        let found = users::find(self.db(), account).await?.ok_or(ServiceError::NotFound)?;
        if actor.user == Some(account) {
            return Err(AccountError::conflict("own_account", MessageCode::NotOnOwnAccount));
        }
        if found.role == AccountRole::Owner {
            return Err(AccountError::conflict("owner_account", MessageCode::NotOnOwner));
        }
        Ok(found)
    }

    /// Commits a change of an account with its audit entry, then ends what the database no longer accepts.
    async fn finish_change(
        &self,
        mut tx: Tx,
        actor: Actor,
        verb: AuditVerb,
        account: &StoredAccount,
    ) -> Result<(), AccountError> {
        self.record(&mut tx, actor, verb, &account.name).await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_account(account.id);
        Ok(())
    }
}
