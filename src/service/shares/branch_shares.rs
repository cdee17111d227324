//! Live shares: a branch that accounts and groups of this server read while it grows. Only the owner of the chat creates,
//! changes and ends one; nobody reads it by a role. The caller renders what readers see, as it does for snapshots
//! (`docs/adr/0101-live-shares.md`).

use std::collections::BTreeSet;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::accounts::Actor;
use crate::documents::uploads::is_sha256;
use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::{
    AuditVerb, BranchId, BranchReaders, BranchShare, BranchShareId, InvalidField, LiveParts, MessageCode, UserId,
    limits,
};
use turnleaf_platform::ids;
use turnleaf_store::accounts::access_rules::NewGrant;
use turnleaf_store::shares::branch_shares;

pub use turnleaf_store::shares::branch_shares::{OpenBranchShare, ReceivedBranch};

/// The request to share a branch.
#[derive(Debug, Clone)]
pub struct BranchShareRequest {
    pub branch: BranchId,
    pub parts: LiveParts,
    pub readers: BranchReaders,
    /// The idempotency key, chosen by the client: one id never creates two shares.
    pub client_request_id: Option<String>,
}

impl BranchShareRequest {
    fn to_json(&self) -> Value {
        json!({ "new": "branch_share", "branch": self.branch, "parts": self.parts, "readers": self.readers })
    }
}

impl Service {
    /// Shares a branch, up to its newest message or reply whenever it is read.
    ///
    /// # Errors
    /// `Invalid` for an account or a group that does not exist, and without any; `NotFound` when the owner has no such
    /// branch; `too_many_shares`; `idempotency_mismatch`.
    pub async fn share_branch(
        &self,
        owner: UserId,
        actor: Actor,
        request: BranchShareRequest,
    ) -> Result<Created<BranchShare>, ServiceError> {
        let readers = self.find_readers(&request.readers).await;
        let (id, now): (BranchShareId, _) = (ids::mint(), self.clock().now());
        let key = request.client_request_id.as_deref();
        let mut tx = self.db().begin().await?;
        if let Some(created) = self.claim_request(&mut tx, owner, key, request.to_json(), id).await? {
            tx.rollback().await?;
            let id = created.parse().map_err(|_| ServiceError::NotFound)?;
            return Ok(Created::existing(self.branch_share(owner, id).await?));
        }
        let readers = readers?;
        if branch_shares::count(&mut tx, owner).await? >= limits::SHARES as u64 {
            let message = MessageCode::TooMany.with("most", limits::SHARES);
            return Err(ServiceError::conflict("too_many_shares", message));
        }
        if !branch_shares::insert(&mut tx, owner, (id, request.branch), request.parts, now).await? {
            return Err(ServiceError::NotFound);
        }
        branch_shares::set_readers(&mut tx, owner, id, &readers).await?;
        self.record(&mut tx, actor, AuditVerb::ShareBranch, &id.to_string()).await?;
        tx.commit().await?;
        Ok(Created::new(self.branch_share(owner, id).await?))
    }

    async fn branch_share(&self, owner: UserId, id: BranchShareId) -> Result<BranchShare, ServiceError> {
        let found = branch_shares::list(self.db(), owner, Some(id), 1).await?.pop();
        found.ok_or(ServiceError::NotFound)
    }

    /// Returns the live shares of an owner, newest first.
    pub async fn branch_shares(&self, owner: UserId) -> Result<Vec<BranchShare>, ServiceError> {
        Ok(branch_shares::list(self.db(), owner, None, limits::PAGE_MAX).await?)
    }

    /// Returns the branches that others share with an account, newest first. API keys are redacted in their titles, as they
    /// are on the pages.
    pub async fn received_branches(&self, reader: UserId) -> Result<Vec<ReceivedBranch>, ServiceError> {
        let received = branch_shares::received(self.db(), reader, limits::PAGE_MAX).await?;
        let keys = self.supervisor().registry().known_keys();
        let redacted =
            |branch: ReceivedBranch| ReceivedBranch { chat_title: keys.redact_known(branch.chat_title), ..branch };
        Ok(received.into_iter().map(redacted).collect())
    }

    /// Replaces the readers of a live share. Others lose it with their next request.
    ///
    /// # Errors
    /// As of [`Self::share_branch`].
    pub async fn set_branch_readers(
        &self,
        owner: UserId,
        actor: Actor,
        id: BranchShareId,
        readers: &BranchReaders,
    ) -> Result<BranchShare, ServiceError> {
        let readers = self.find_readers(readers).await?;
        let mut tx = self.db().begin().await?;
        if !branch_shares::set_readers(&mut tx, owner, id, &readers).await? {
            return Err(ServiceError::NotFound);
        }
        self.record(&mut tx, actor, AuditVerb::ChangeReaders, &id.to_string()).await?;
        tx.commit().await?;
        self.branch_share(owner, id).await
    }

    /// Ends a live share at once and for good.
    pub async fn end_branch_share(&self, owner: UserId, actor: Actor, id: BranchShareId) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        if !branch_shares::delete(&mut tx, owner, id).await? {
            return Err(ServiceError::NotFound);
        }
        self.record(&mut tx, actor, AuditVerb::EndBranchShare, &id.to_string()).await?;
        Ok(tx.commit().await?)
    }

    /// Returns the accounts and groups of these names. A disabled account is like one that does not exist.
    async fn find_readers(&self, named: &BranchReaders) -> Result<Vec<NewGrant>, ServiceError> {
        let count = named.accounts.len() + named.groups.len();
        if count == 0 {
            return Err(InvalidField::new("accounts", MessageCode::IsRequired).into());
        }
        if count > limits::BRANCH_READERS {
            let reason = MessageCode::TooMany.with("most", limits::BRANCH_READERS);
            return Err(InvalidField::new("accounts", reason).into());
        }
        let (mut accounts, mut groups) = (BTreeSet::new(), BTreeSet::new());
        for name in &named.accounts {
            let unknown = || InvalidField::new("accounts", MessageCode::NoSuchAccount.with("name", name));
            accounts.insert(self.find_enabled_account(name).await?.ok_or_else(unknown)?);
        }
        for name in &named.groups {
            let unknown = || InvalidField::new("groups", MessageCode::NoSuchGroup.with("name", name));
            groups.insert(self.find_group(name).await?.ok_or_else(unknown)?);
        }
        let accounts = accounts.into_iter().map(|user| NewGrant::Account(ids::mint(), user));
        let groups = groups.into_iter().map(|group| NewGrant::Group(ids::mint(), group));
        Ok(accounts.chain(groups).collect())
    }

    /// Returns what a reader opens.
    ///
    /// # Errors
    /// `NotFound` for an unknown or ended share, one that this account does not read, and while its branch or chat is in
    /// Trash or its owner is disabled.
    pub async fn open_branch_share(&self, reader: UserId, id: BranchShareId) -> Result<OpenBranchShare, ServiceError> {
        branch_shares::open(self.db(), reader, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns an image of what a reader opens.
    ///
    /// # Errors
    /// As of [`Self::open_branch_share`]; also `NotFound` for an image that is not on the path.
    pub async fn open_branch_image(
        &self,
        reader: UserId,
        id: BranchShareId,
        sha256: &str,
    ) -> Result<Bytes, ServiceError> {
        if !is_sha256(sha256) {
            return Err(ServiceError::NotFound);
        }
        let OpenBranchShare { owner, head, parts, .. } = self.open_branch_share(reader, id).await?;
        let bytes = branch_shares::path_image(self.db(), owner, head, sha256, parts.tools).await?;
        bytes.ok_or(ServiceError::NotFound)
    }
}
