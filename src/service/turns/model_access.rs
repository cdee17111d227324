//! Checks whether a model may be used when an exchange is made: its provider exists, and the account is granted it. A
//! run checks again before every call (`turnleaf_run::provider_access`).

use serde_json::{Value, json};

use crate::{Service, ServiceError};
use turnleaf_domain::{MessageCode, ModelLock, TurnId, UserId};

impl Service {
    /// Checks that the provider of a lock exists and its model is granted. A branch for which one is not so keeps its
    /// lock and stays readable; continuing needs another model (docs/reference/ux.md 5.4).
    pub(crate) fn check_lock_available(
        &self,
        owner: UserId,
        lock: &ModelLock,
        from: Option<TurnId>,
    ) -> Result<(), ServiceError> {
        self.check_provider(owner, &lock.provider, Some(&lock.model), from)
    }

    /// Returns true if the owner may use a provider, for this model if one is known.
    pub(super) fn has_provider(&self, owner: UserId, provider: &str, model: Option<&str>) -> bool {
        match model {
            Some(model) => self.supervisor().usable_provider(owner, &ModelLock::new(provider, model)).is_some(),
            None => self.supervisor().registry().find_scoped(owner, provider).is_some(),
        }
    }

    /// Checks that the owner is granted a model, or any of the provider if none is named. The refusal contains the body
    /// of a request that continues with another model.
    pub(super) fn check_granted(
        &self,
        owner: UserId,
        provider: &str,
        model: Option<&str>,
        from: Option<TurnId>,
    ) -> Result<(), ServiceError> {
        if self.supervisor().registry().is_granted(owner, provider, model) {
            return Ok(());
        }
        Err(ServiceError::Forbidden {
            code: "model_not_granted",
            message: match model {
                Some(model) => MessageCode::ModelNotGranted.with("model", model),
                None => MessageCode::ProviderNotGranted.into(),
            },
            extra: Box::new(self.other_model(owner, provider, model, from)),
        })
    }

    /// Returns the members of a refusal that name the model and another one to continue with.
    fn other_model(&self, owner: UserId, provider: &str, model: Option<&str>, from: Option<TurnId>) -> Value {
        let other = self.supervisor().registry().default_lock(owner);
        json!({
            "locked_to": { "provider": provider, "model": model },
            "fork": { "from_turn_id": from, "provider": other.provider, "model": other.model },
        })
    }

    /// Checks that the owner may use a provider, for this model if one is known.
    pub(super) fn check_provider(
        &self,
        owner: UserId,
        provider: &str,
        model: Option<&str>,
        from: Option<TurnId>,
    ) -> Result<(), ServiceError> {
        self.check_granted(owner, provider, model, from)?;
        if self.has_provider(owner, provider, model) {
            return Ok(());
        }
        Err(ServiceError::Conflict {
            code: "model_unavailable",
            // People know the model; the provider's id tells them nothing.
            message: match model {
                Some(model) => MessageCode::ModelUnavailable.with("model", model),
                None => MessageCode::ProviderUnavailable.into(),
            },
            extra: self.other_model(owner, provider, model, from),
        })
    }
}
