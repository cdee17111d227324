//! Exchanges: one user message and one reply, with the requested parameters and the thinking mode
//! (`docs/reference/domain.md C2`).

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::blocks::block::{Block, Content};
use crate::id::{BranchId, ChatId, ExchangeId, TurnId};
use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::drop_reason::DropReason;
use crate::messages::failure::InvalidField;
use crate::messages::message_template::MessageArgs;

/// The action that created an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    Send,
    Edit,
    Regenerate,
    Continue,
    Import,
}

/// The requested amount of reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    Off,
    Low,
    #[default]
    Medium,
    High,
    /// At most this many tokens of reasoning.
    Budget(u32),
}

impl Thinking {
    /// The levels that menus offer.
    pub const LEVELS: [Self; 4] = [Self::Off, Self::Low, Self::Medium, Self::High];

    /// Returns the level's name in forms and requests; a budget is `budget`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Budget(_) => "budget",
        }
    }

    /// Returns the level that a budget corresponds to, or the level itself.
    pub fn level(self) -> Self {
        match self {
            Self::Budget(0..=2_048) => Self::Low,
            Self::Budget(2_049..=8_192) => Self::Medium,
            Self::Budget(_) => Self::High,
            level => level,
        }
    }

    /// Returns the best match among the available levels, which are sorted: the level itself, else the next higher
    /// one, else the highest.
    pub fn nearest(self, levels: &[Self]) -> Option<Self> {
        let level = self.level();
        if levels.contains(&level) {
            return Some(level);
        }
        let rank = |level: Self| Self::LEVELS.iter().position(|known| *known == level);
        let mut on = levels.iter().copied().filter(|level| *level != Self::Off);
        on.clone().find(|on| rank(*on) >= rank(level)).or_else(|| on.next_back())
    }

    /// Parses a level's name from a menu.
    pub fn parse_level(word: &str) -> Option<Self> {
        Self::LEVELS.into_iter().find(|level| level.as_str() == word)
    }
}

/// The requested parameters. An absent parameter means the model's own default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct ModelParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub top_p: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub top_k: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 16)]
    pub stop_sequences: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
}

impl Serialize for ModelParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for ModelParams {
    /// Accepts objects only: the derived implementation would also read a list as the fields in order.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = ModelParams;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of parameters")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelParams, A::Error> {
                ModelParams::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl ModelParams {
    /// Rejects values that no provider accepts and names the field. [`crate::providers::params_resolution`] checks the
    /// bounds of one model.
    pub fn validate(&self) -> Result<(), InvalidField> {
        let within = |field: &str, value: Option<f64>, low: f64, high: f64| match value {
            Some(value) if !(low..=high).contains(&value) => {
                Err(InvalidField::out_of_range(format!("params.{field}"), &(low..=high)))
            }
            _ => Ok(()),
        };
        within("temperature", self.temperature, 0.0, 2.0)?;
        within("top_p", self.top_p, 0.0, 1.0)?;
        if self.top_k == Some(0) {
            return Err(InvalidField::new("params.top_k", MessageCode::TooSmall.with("least", 1)));
        }
        if self.max_tokens == Some(0) {
            return Err(InvalidField::new("params.max_tokens", MessageCode::TooSmall.with("least", 1)));
        }
        if self.stop_sequences.len() > limits::STOP_SEQUENCES {
            let reason = MessageCode::TooMany.with("most", limits::STOP_SEQUENCES);
            return Err(InvalidField::new("params.stop_sequences", reason));
        }
        if self.stop_sequences.iter().any(String::is_empty) {
            return Err(InvalidField::new("params.stop_sequences", MessageCode::EmptyStopSequence));
        }
        if self.thinking == Some(Thinking::Budget(0)) {
            return Err(InvalidField::new("params.thinking", MessageCode::ZeroBudget));
        }
        Ok(())
    }

    /// Fills the missing parameters from `base`.
    pub fn with_defaults(self, base: &Self) -> Self {
        Self {
            temperature: self.temperature.or(base.temperature),
            top_p: self.top_p.or(base.top_p),
            top_k: self.top_k.or(base.top_k),
            max_tokens: self.max_tokens.or(base.max_tokens),
            stop_sequences: if self.stop_sequences.is_empty() {
                base.stop_sequences.clone()
            } else {
                self.stop_sequences
            },
            thinking: self.thinking.or(base.thinking),
        }
    }
}

/// A requested parameter that was not sent, or not as requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DroppedParam {
    /// The name of the parameter, as in [`ModelParams`].
    pub param: String,
    /// The reason in English, as the end of a sentence without its full stop.
    pub reason: String,
    /// The code of the reason, such as `unsupported` or `out_of_range`. Exchanges of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The arguments of the reason: `least` and `most` of a range, `limit`, `requested` and `sent` of a level.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
}

impl DroppedParam {
    /// Creates a dropped parameter with the code, the arguments and the English text of its reason.
    pub fn new(param: &str, reason: DropReason, args: MessageArgs) -> Self {
        let text = reason.sentence(&args);
        Self { param: param.to_owned(), reason: text, code: Some(reason.code().to_owned()), args }
    }

    /// Returns the reason with its arguments. That of an older version is recognized in the text. `None` if it is
    /// unknown; then the text is shown.
    pub fn known_reason(&self) -> Option<(DropReason, MessageArgs)> {
        match &self.code {
            Some(code) => Some((DropReason::from_code(code)?, self.args.clone())),
            None => DropReason::recognize(&self.reason),
        }
    }
}

/// One user message and one reply. A retry creates another exchange with the same `user_turn_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Exchange {
    pub id: ExchangeId,
    pub chat_id: ChatId,
    pub branch_id: BranchId,
    pub user_turn_id: Option<TurnId>,
    pub kind: ExchangeKind,
    /// The thinking mode (`docs/reference/domain.md C2`).
    pub is_thinking_mode: bool,
    /// The parameters requested by the turn and by the chat's defaults.
    pub params: ModelParams,
    /// The parameters that were not sent, determined when the exchange was created.
    #[serde(default)]
    pub not_sent: Vec<DroppedParam>,
    pub client_request_id: Option<String>,
    pub created_at: DateTime<Utc>,
}

impl Exchange {
    /// Returns true if the exchange is not in thinking mode although nobody switched thinking off: the first reasoning
    /// of its reply turns the mode on. What an import states stays.
    pub fn is_thinking_undecided(&self) -> bool {
        !self.is_thinking_mode && self.params.thinking != Some(Thinking::Off) && self.kind != ExchangeKind::Import
    }

    /// Returns true if reasoning of the reply is shown. While the mode is undecided it is shown, too, because it
    /// decides the mode.
    pub fn shows_reasoning(&self) -> bool {
        self.is_thinking_mode || self.is_thinking_undecided()
    }

    /// Returns the thinking mode with these blocks of the reply, which may be newer than the stored mode.
    pub fn is_thinking_with(&self, reply: &[Block]) -> bool {
        let is_thinking = |block: &Block| matches!(block.content, Content::Thinking { .. });
        self.is_thinking_mode || (self.is_thinking_undecided() && reply.iter().any(is_thinking))
    }
}

#[cfg(test)]
mod tests;
