//! When a block goes on and when it ended, for the clocks beside it: what waits for a person does not go on.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{Block, BlockState, Content, ToolStatus};

/// Where `block_metadata` of a call keeps when it began to run: it is written, and may have waited, before that.
pub const RUNS_SINCE: &str = "runs_since";

impl Block {
    /// Since when it goes on by itself: a thought that is being written, a call that runs. Nothing of what is over, and of
    /// what waits for a person or for its place.
    pub fn goes_on_since(&self) -> Option<DateTime<Utc>> {
        match (&self.content, self.state) {
            (Content::Thinking { .. }, BlockState::Open) => Some(self.created_at),
            (Content::ToolUse { status: ToolStatus::Running, .. }, BlockState::Done) => Some(self.began_at()),
            _ => None,
        }
    }

    /// When the last of it came, where that is known: of text it is not.
    pub fn ended_at(&self) -> Option<DateTime<Utc>> {
        let (began, ms) = match &self.content {
            _ if self.state == BlockState::Open => return None,
            Content::Text { is_error: false, .. } => return None,
            Content::Thinking { duration_ms, .. } => (self.created_at, (*duration_ms)?),
            Content::ToolUse { duration_ms, .. } => (self.began_at(), (*duration_ms)?),
            _ => (self.created_at, 0),
        };
        began.checked_add_signed(TimeDelta::try_milliseconds(i64::try_from(ms).ok()?)?)
    }

    fn began_at(&self) -> DateTime<Utc> {
        let began = self.block_metadata.get(RUNS_SINCE).and_then(Value::as_str);
        began.and_then(|began| began.parse().ok()).unwrap_or(self.created_at)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_waits_for_a_person_does_not_go_on() {
        let at = |seconds: i64| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let began = json!({ RUNS_SINCE: at(300) });
        let call = |status, took| {
            let mut call = crate::sample::tool_use("c", "f", json!({}), status);
            if let Content::ToolUse { duration_ms, .. } = &mut call {
                *duration_ms = took;
            }
            call
        };
        let block = |content, metadata| Block {
            created_at: at(0),
            block_metadata: metadata,
            ..crate::sample::block(2, 0, content)
        };
        let asked = block(call(ToolStatus::AwaitingApproval, None), Value::Null);
        assert_eq!((asked.goes_on_since(), asked.ended_at()), (None, None));
        let running = block(call(ToolStatus::Running, None), began.clone());
        assert_eq!((running.goes_on_since(), running.ended_at()), (Some(at(300)), None));
        let of_before = block(call(ToolStatus::Running, None), Value::Null);
        assert_eq!(of_before.goes_on_since(), Some(at(0)), "who does not say so began when it was written");
        let over = block(call(ToolStatus::Done, Some(800)), began);
        assert_eq!((over.goes_on_since(), over.ended_at()), (None, Some(at(300) + TimeDelta::milliseconds(800))));
        let mut thought = block(Content::thinking("hm"), Value::Null);
        thought.state = BlockState::Open;
        assert_eq!((thought.goes_on_since(), thought.ended_at()), (Some(at(0)), None));
        thought.state = BlockState::Done;
        if let Content::Thinking { duration_ms, .. } = &mut thought.content {
            *duration_ms = Some(45_000);
        }
        assert_eq!((thought.goes_on_since(), thought.ended_at()), (None, Some(at(45))));
        assert_eq!(block(Content::text("Hi"), Value::Null).ended_at(), None, "nobody knows");
    }
}
