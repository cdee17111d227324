//! The demo in the menus. It is offered while no other model is; beside others only to a person who asks for it, or
//! whose server has it as the default.

use serde_json::json;

use crate::{Service, ServiceError};
use turnleaf_domain::UserId;
use turnleaf_domain::providers::provider::Model;

/// The setting that offers the demo beside other models.
const SHOWN: &str = "demo.shown";

impl Service {
    /// Returns whether the demo is offered beside other models; `None` while there are no others.
    pub async fn demo_choice(&self, owner: UserId) -> Result<Option<bool>, ServiceError> {
        let has_others = self.supervisor().registry().models(owner).iter().any(|model| !model.is_demo);
        Ok(if has_others { Some(self.setting(owner, SHOWN).await?) } else { None })
    }

    /// Offers the demo beside other models, or hides it. Chats that use it keep it.
    pub async fn set_demo_shown(&self, owner: UserId, is_shown: bool) -> Result<(), ServiceError> {
        self.set_setting(owner, SHOWN, &json!(is_shown)).await
    }

    /// Removes the demo from a list of models in which nobody looks for it.
    pub(crate) async fn hide_demo(&self, owner: UserId, models: &mut Vec<Model>) -> Result<(), ServiceError> {
        let chosen = self.supervisor().registry().chosen_default(owner);
        let is_chosen = models.iter().any(|model| model.is_demo && Some(&model.lock) == chosen.as_ref());
        if !is_chosen && self.demo_choice(owner).await? == Some(false) {
            models.retain(|model| !model.is_demo);
        }
        Ok(())
    }
}
