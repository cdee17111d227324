//! What the built-in tools read of the store: words in one's own chats.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::domain::{Needle, Role, limits};
use crate::server::store::Db;
use crate::server::store::turns::find::in_chats;
use crate::server::tools::built_in::Library;
use crate::server::tools::toolbox::Caller;

/// The chats of this database.
pub(super) struct Shelves(pub Db);

impl Library for Shelves {
    fn search<'a>(&'a self, caller: &'a Caller, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let needle = Needle::new(query).map_err(|invalid| invalid.to_string())?;
            let limit = u32::try_from(limit).unwrap_or(limits::FIND_MAX).clamp(1, limits::FIND_MAX);
            let found = in_chats(&self.0, caller.owner, caller.chat, &needle, limit).await.map_err(|error| {
                tracing::error!(%error, "a tool could not look through the chats");
                "the chats could not be searched".to_owned()
            })?;
            let hits: Vec<Value> = found
                .hits
                .iter()
                .map(|hit| {
                    json!({
                        "chat": hit.title,
                        "chat_id": hit.chat_id,
                        "turn_id": hit.turn_id,
                        "said_by": if hit.role == Role::User { "user" } else { "assistant" },
                        "at": hit.created_at,
                        "text": hit.excerpt.concat(),
                    })
                })
                .collect();
            let mut result = json!({ "found": hits });
            if !found.is_whole {
                result["note"] = json!("There may be more: the search was ended before everything was looked through.");
            }
            Ok(result)
        })
    }
}
