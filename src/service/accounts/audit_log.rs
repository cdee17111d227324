//! The audit log: entries are added in the transaction of the action, so that there is none without the other.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use super::Actor;
use super::account_error::AccountError;
use crate::{Service, ServiceError};
use turnleaf_domain::{AuditEntryId, AuditOutcome, AuditVerb, InvalidField, MessageCode, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::audit::{self, AuditSelection};
use turnleaf_store::accounts::{api_tokens, identity_sign_ins, invites, sessions};
use turnleaf_store::database::db::Tx;

pub use turnleaf_store::accounts::audit::AuditEntry;

/// The entries that an administrator asks for; all of them by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub action: Option<AuditVerb>,
    /// The account that did it.
    pub account: Option<UserId>,
    /// The first and the last day, in UTC.
    pub from: Option<NaiveDate>,
    pub to: Option<NaiveDate>,
}

impl AuditFilter {
    /// # Errors
    /// Names `from` when the period would end before it begins.
    pub fn check(&self) -> Result<(), InvalidField> {
        if self.from.zip(self.to).is_some_and(|(from, to)| from > to) {
            return Err(InvalidField::new("from", MessageCode::PeriodReversed));
        }
        Ok(())
    }

    fn selection(&self, before: Option<AuditEntryId>) -> Result<AuditSelection, InvalidField> {
        self.check()?;
        let midnight = |day: NaiveDate| -> DateTime<Utc> { day.and_time(NaiveTime::MIN).and_utc() };
        Ok(AuditSelection {
            verb: self.action,
            actor: self.account,
            from: self.from.map(midnight),
            until: self.to.and_then(|day| day.succ_opt()).map(midnight),
            before,
        })
    }
}

impl Service {
    /// Adds an entry about an action that is done when the transaction is committed. `target` is a name, no content.
    pub(crate) async fn record(
        &self,
        tx: &mut Tx,
        actor: Actor,
        verb: AuditVerb,
        target: &str,
    ) -> Result<(), StoreError> {
        self.record_outcome(tx, actor, verb, target, AuditOutcome::Done).await
    }

    async fn record_outcome(
        &self,
        tx: &mut Tx,
        actor: Actor,
        verb: AuditVerb,
        target: &str,
        outcome: AuditOutcome,
    ) -> Result<(), StoreError> {
        let entry = AuditEntry {
            id: ids::mint(),
            at: self.clock().now(),
            actor: actor.user,
            actor_name: None,
            token: actor.token,
            ip: actor.address.map(|address| address.to_string()),
            verb: verb.as_str().to_owned(),
            target: target.to_owned(),
            outcome,
        };
        audit::insert(tx, &entry).await
    }

    /// Adds an entry about an action that was refused.
    pub(super) async fn record_refused(&self, actor: Actor, verb: AuditVerb, target: &str) -> Result<(), AccountError> {
        let mut tx = self.db().begin().await?;
        self.record_outcome(&mut tx, actor, verb, target, AuditOutcome::Refused).await?;
        Ok(tx.commit().await?)
    }

    /// Adds an entry about a sign-in that was refused, in the background: an answer that waited for it would tell that
    /// the account exists.
    pub(super) fn note_refused_sign_in(&self, actor: Actor, name: String) {
        self.note_refused(actor, AuditVerb::SignIn, name);
    }

    /// Works like [`Self::note_refused_sign_in`] for other ways in which people say who they are.
    pub(super) fn note_refused(&self, actor: Actor, verb: AuditVerb, name: String) {
        let service = self.clone();
        tokio::spawn(async move {
            if let Err(error) = service.record_refused(actor, verb, &name).await {
                tracing::warn!(%error, "a refused sign-in could not be added to the audit log");
            }
        });
    }

    /// Returns the entries of a filter before one of them, or the newest.
    ///
    /// # Errors
    /// `Invalid` for a period that ends before it begins.
    pub async fn audit_log(
        &self,
        filter: &AuditFilter,
        before: Option<AuditEntryId>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, ServiceError> {
        Ok(audit::list(self.db(), &filter.selection(before)?, limit).await?)
    }

    /// Deletes sessions, tokens, invitations, begun sign-ins and withheld secrets that have expired, and old entries of the
    /// audit log.
    pub async fn delete_expired_credentials(&self) -> Result<(), ServiceError> {
        self.accounts().withheld_secrets().forget_expired();
        let now = self.clock().now();
        let mut tx = self.db().begin().await?;
        sessions::delete_expired(&mut tx, now, now - limits::SESSION_IDLE).await?;
        // Expired tokens and invitations are shown for a while, so that people see why a program stopped.
        api_tokens::delete_expired(&mut tx, now - limits::SESSION_KEPT).await?;
        invites::delete_expired(&mut tx, now - limits::SESSION_KEPT).await?;
        identity_sign_ins::delete_expired(&mut tx, now).await?;
        audit::delete_old(&mut tx, now - limits::AUDIT_KEPT).await?;
        Ok(tx.commit().await?)
    }
}
