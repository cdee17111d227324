//! Changes of what belongs to an account, as the live channel tells them to its pages and programs
//! (docs/reference/events.md 14). They say what has changed and not what it is now.

use chrono::{DateTime, Utc};
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::Error;

use crate::encoding::json_reader::{JsonMembers, deserialize_members, unknown_variant};
use crate::id::ChatId;

/// A change. A later one of the same subject replaces it: whoever reads the subject then knows both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AccountChange {
    /// A chat: its turns, a reply that began or ended, its title, its queue or its settings.
    ChatChanged { chat_id: ChatId },
    /// The list of chats or of projects: their titles, order and places, replies that run or wait for a person.
    ChatListChanged,
    /// The draft of a chat, or of the new chat, has this revision. Without one it was sent, and is empty.
    DraftChanged {
        chat_id: Option<ChatId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rev: Option<i64>,
    },
    /// The chats with unread replies.
    UnreadChanged,
    /// The notifications: a reply waits for its person, or an import ended.
    NotificationsChanged,
    /// The instructions or the tools with which new chats begin, or the models that the account can choose from.
    SettingsChanged,
}

impl AccountChange {
    /// Returns true if this change says everything that the earlier one said.
    pub fn replaces(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::DraftChanged { chat_id, .. }, Self::DraftChanged { chat_id: of_earlier, .. }) => {
                chat_id == of_earlier
            }
            _ => self == earlier,
        }
    }
}

/// An event of the live channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChannelEvent {
    /// The first event. The changes after the number `id` follow.
    Hello {
        id: u64,
        now: DateTime<Utc>,
    },
    /// Changes may have been missed: the client had no number, or one that is not known any more. Those after `id`
    /// follow.
    Reset {
        id: u64,
    },
    Heartbeat {
        now: DateTime<Utc>,
    },
    /// The last event: the client has opened too many streams, and this one is the oldest.
    Displaced,
    #[serde(untagged)]
    Changed {
        /// The number of the change. It rises for each account.
        id: u64,
        #[serde(flatten)]
        change: AccountChange,
    },
}

impl ChannelEvent {
    /// All names that `name` returns.
    pub const NAMES: [&str; 10] = [
        "hello",
        "reset",
        "heartbeat",
        "displaced",
        "chat_changed",
        "chat_list_changed",
        "draft_changed",
        "unread_changed",
        "notifications_changed",
        "settings_changed",
    ];

    /// Returns the event's name on the wire (SSE `event:`).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Reset { .. } => "reset",
            Self::Heartbeat { .. } => "heartbeat",
            Self::Displaced => "displaced",
            Self::Changed { change, .. } => match change {
                AccountChange::ChatChanged { .. } => "chat_changed",
                AccountChange::ChatListChanged => "chat_list_changed",
                AccountChange::DraftChanged { .. } => "draft_changed",
                AccountChange::UnreadChanged => "unread_changed",
                AccountChange::NotificationsChanged => "notifications_changed",
                AccountChange::SettingsChanged => "settings_changed",
            },
        }
    }

    /// Returns the number after which a client continues that has seen this event; none if it changes nothing.
    pub fn cursor(&self) -> Option<u64> {
        match self {
            Self::Hello { id, .. } | Self::Reset { id } | Self::Changed { id, .. } => Some(*id),
            Self::Heartbeat { .. } | Self::Displaced => None,
        }
    }
}

fn parse_event(event: &JsonMembers<'_>) -> Result<ChannelEvent, Error> {
    let change = match event.tag("type")? {
        "hello" => return Ok(ChannelEvent::Hello { id: event.get("id")?, now: event.get("now")? }),
        "reset" => return Ok(ChannelEvent::Reset { id: event.get("id")? }),
        "heartbeat" => return Ok(ChannelEvent::Heartbeat { now: event.get("now")? }),
        "displaced" => return Ok(ChannelEvent::Displaced),
        "chat_changed" => AccountChange::ChatChanged { chat_id: event.get("chat_id")? },
        "chat_list_changed" => AccountChange::ChatListChanged,
        "draft_changed" => {
            AccountChange::DraftChanged { chat_id: event.get_or_default("chat_id")?, rev: event.get_or_default("rev")? }
        }
        "unread_changed" => AccountChange::UnreadChanged,
        "notifications_changed" => AccountChange::NotificationsChanged,
        "settings_changed" => AccountChange::SettingsChanged,
        other => return Err(unknown_variant(other)),
    };
    Ok(ChannelEvent::Changed { id: event.get("id")?, change })
}

impl<'de> Deserialize<'de> for ChannelEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from, parse_event)
    }
}

/// Parses the number after which a client continues.
pub fn parse_channel_cursor(text: &str) -> Option<u64> {
    // `u64::from_str` would also accept a leading plus.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::fixtures;

    fn samples() -> Vec<(ChannelEvent, Value)> {
        let (chat_id, now) = (ChatId::from_uuid(fixtures::uuid(3)), fixtures::time(0));
        let changed = |change| ChannelEvent::Changed { id: 7, change };
        vec![
            (ChannelEvent::Hello { id: 6, now }, json!({ "type": "hello", "id": 6, "now": now })),
            (ChannelEvent::Reset { id: 6 }, json!({ "type": "reset", "id": 6 })),
            (ChannelEvent::Heartbeat { now }, json!({ "type": "heartbeat", "now": now })),
            (ChannelEvent::Displaced, json!({ "type": "displaced" })),
            (
                changed(AccountChange::ChatChanged { chat_id }),
                json!({ "id": 7, "type": "chat_changed", "chat_id": chat_id }),
            ),
            (changed(AccountChange::ChatListChanged), json!({ "id": 7, "type": "chat_list_changed" })),
            (
                changed(AccountChange::DraftChanged { chat_id: Some(chat_id), rev: Some(4) }),
                json!({ "id": 7, "type": "draft_changed", "chat_id": chat_id, "rev": 4 }),
            ),
            (
                changed(AccountChange::DraftChanged { chat_id: None, rev: None }),
                json!({ "id": 7, "type": "draft_changed", "chat_id": null }),
            ),
            (changed(AccountChange::UnreadChanged), json!({ "id": 7, "type": "unread_changed" })),
            (changed(AccountChange::NotificationsChanged), json!({ "id": 7, "type": "notifications_changed" })),
            (changed(AccountChange::SettingsChanged), json!({ "id": 7, "type": "settings_changed" })),
        ]
    }

    #[test]
    fn channel_events_round_trip_under_their_names() {
        let mut names = Vec::new();
        for (event, expected) in samples() {
            assert_eq!(serde_json::to_value(event).unwrap(), expected);
            assert_eq!(serde_json::from_value::<ChannelEvent>(expected.clone()).unwrap(), event);
            assert_eq!(expected["type"], event.name());
            names.push(event.name());
        }
        names.dedup();
        assert_eq!(names, ChannelEvent::NAMES);
    }

    #[test]
    fn event_of_later_version_is_refused() {
        for event in [json!({ "type": "weather_changed", "id": 7 }), json!({ "id": 7 }), json!([])] {
            assert!(serde_json::from_value::<ChannelEvent>(event.clone()).is_err(), "{event}");
        }
    }

    #[test]
    fn change_replaces_earlier_one_of_same_subject_only() {
        let (one, other) = (ChatId::from_uuid(fixtures::uuid(1)), ChatId::from_uuid(fixtures::uuid(2)));
        let draft = |chat_id, rev| AccountChange::DraftChanged { chat_id, rev: Some(rev) };
        let chat = |chat_id| AccountChange::ChatChanged { chat_id };
        for (later, earlier, replaces) in [
            (draft(Some(one), 5), draft(Some(one), 4), true),
            (draft(None, 5), draft(None, 4), true),
            (draft(Some(one), 5), draft(Some(other), 4), false),
            (draft(Some(one), 5), draft(None, 4), false),
            (chat(one), chat(one), true),
            (chat(one), chat(other), false),
            (AccountChange::UnreadChanged, AccountChange::UnreadChanged, true),
            (AccountChange::UnreadChanged, AccountChange::ChatListChanged, false),
        ] {
            assert_eq!(later.replaces(&earlier), replaces, "{later:?} {earlier:?}");
        }
    }

    #[test]
    fn cursor_is_plain_number_or_none() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1795813200000000", Some(1_795_813_200_000_000)),
            ("", None),
            ("+1", None),
            ("-1", None),
            ("1.5", None),
            ("99999999999999999999", None),
            ("T:7", None),
        ] {
            assert_eq!(parse_channel_cursor(text), expected, "{text:?}");
        }
    }
}
