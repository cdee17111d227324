//! What pages say of chats beside their turns: which are being answered, which wait for somebody, how many tools are on.

use std::collections::BTreeMap;

use super::{Pages, api_error};
use crate::api::error::ApiError;
use crate::domain::{Branch, ChatId, UserId};
use crate::server::service::ServiceError;

impl Pages {
    /// The viewer's chats in which a reply runs, and whether it waits for the viewer.
    pub async fn running_chats(&self, viewer: UserId) -> Result<Vec<(ChatId, bool)>, ApiError> {
        let mut own = Vec::new();
        for (chat, waits) in self.running() {
            match self.0.chat(viewer, chat).await {
                Ok(_) => own.push((chat, waits)),
                Err(ServiceError::NotFound) => {}
                Err(error) => return Err(api_error(error)),
            }
        }
        Ok(own)
    }

    /// The chats of everybody in which a reply runs here.
    pub(super) fn running(&self) -> BTreeMap<ChatId, bool> {
        self.0.supervisor().running_chats()
    }

    /// How many tools a new chat gets; nothing where that is up to what a server has.
    pub(super) async fn tools_of_new_chats(&self, viewer: UserId) -> Result<Option<usize>, ApiError> {
        let choice = self.0.default_tools(viewer).await.map_err(api_error)?;
        let is_known = !choice.on.iter().any(|name| name.ends_with("/*"));
        Ok(is_known.then_some(choice.on.len()))
    }

    /// How many tools a branch offers to its model.
    pub(super) async fn tools_on(&self, viewer: UserId, branch: &Branch) -> Result<Option<usize>, ApiError> {
        let (_, frozen) = self.0.branch(viewer, branch.id).await.map_err(api_error)?;
        Ok(frozen.tools.map(|tools| tools.len()))
    }
}
