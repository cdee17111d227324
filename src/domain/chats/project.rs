//! Projects: groups of chats whose new members begin with the same instructions and the same model.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::branches::branch::ModelLock;
use crate::chats::chat::nobody;
use crate::id::{ProjectId, UserId};
use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;

/// A project without its chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Project {
    pub id: ProjectId,
    #[serde(skip_serializing)]
    #[schema(ignore)]
    #[serde(default = "nobody")]
    pub owner_id: UserId,
    pub name: String,
    #[serde(default)]
    pub color: ProjectColor,
    /// The system prompt of new chats in the project. Chats that exist keep theirs.
    #[serde(default)]
    pub instructions: String,
    /// The model of new chats in the project. Absent if they begin with the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<ModelLock>,
    /// The version of the instructions. It increases with every change of them.
    pub version: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A color of the palette, which both themes have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProjectColor {
    #[default]
    Gray,
    Red,
    Orange,
    Yellow,
    Green,
    Teal,
    Blue,
    Purple,
}

impl ProjectColor {
    pub const ALL: [Self; 8] =
        [Self::Gray, Self::Red, Self::Orange, Self::Yellow, Self::Green, Self::Teal, Self::Blue, Self::Purple];

    /// Returns its word in JSON, in the database and in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::Red => "red",
            Self::Orange => "orange",
            Self::Yellow => "yellow",
            Self::Green => "green",
            Self::Teal => "teal",
            Self::Blue => "blue",
            Self::Purple => "purple",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|color| color.as_str() == word)
    }
}

/// Validates the name of a project and trims it: one line that is not empty, at most the length bound.
pub fn check_project_name(name: &str) -> Result<String, InvalidField> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > limits::TITLE_CHARS || name.chars().any(char::is_control) {
        return Err(InvalidField::invalid_name("name", limits::TITLE_CHARS));
    }
    Ok(name.to_owned())
}

/// Validates the instructions of a project, which become the system prompt of its chats.
pub fn check_project_instructions(text: &str) -> Result<(), InvalidField> {
    if text.contains('\0') {
        return Err(InvalidField::new("instructions", MessageCode::HasNul));
    }
    if text.chars().count() > limits::SYSTEM_PROMPT_CHARS {
        return Err(InvalidField::too_long("instructions", limits::SYSTEM_PROMPT_CHARS));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_has_same_word_in_json_and_forms() {
        for color in ProjectColor::ALL {
            assert_eq!(serde_json::to_value(color).unwrap(), color.as_str());
            assert_eq!(ProjectColor::parse(color.as_str()), Some(color));
        }
        assert_eq!(ProjectColor::parse("Red"), None);
    }

    #[test]
    fn name_is_one_line_within_bound() {
        assert_eq!(check_project_name("  Boat 船 ").unwrap(), "Boat 船");
        for wrong in ["", " \n", "a\nb", "a\0", &"a".repeat(limits::TITLE_CHARS + 1)] {
            assert_eq!(check_project_name(wrong).unwrap_err().field, "name", "{wrong:?}");
        }
    }

    #[test]
    fn instructions_beyond_bound_are_refused() {
        assert!(check_project_instructions(&"字".repeat(limits::SYSTEM_PROMPT_CHARS)).is_ok());
        for wrong in ["a\0b", &"a".repeat(limits::SYSTEM_PROMPT_CHARS + 1)] {
            assert_eq!(check_project_instructions(wrong).unwrap_err().field, "instructions");
        }
    }
}
