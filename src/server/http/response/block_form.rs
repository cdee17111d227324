//! The forms in which responses show the blocks of a turn: Turnleaf's own, and that of the unified message model
//! (`docs/reference/domain.md C3`), for clients written for it. Requests accept both without a choice.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::content_block::ContentBlock;
use crate::domain::{InvalidField, MessageCode, Turn};
use crate::server::http::response::problem::Problem;

/// The form of the blocks in a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockForm {
    /// `{"type": "text", "text": "…"}`.
    #[default]
    Native,
    /// `{"block_type": "user_text", "content": {"text": "…"}}`, as in `/api/chats/{id}/blocks`.
    Seed,
}

/// The query of an operation that returns blocks.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct BlockFormQuery {
    /// Form of the blocks: `native` (default), or `seed` for `{"block_type", "content"}`.
    #[param(inline)]
    pub form: Option<BlockForm>,
}

/// A turn whose blocks have the requested form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TurnView {
    Native(Box<Turn>),
    Seed(Map<String, Value>),
}

impl TurnView {
    /// Shows the turn in this form.
    ///
    /// # Errors
    /// The turn cannot be written as JSON.
    pub fn new(turn: Turn, form: BlockForm) -> Result<Self, Problem> {
        if form == BlockForm::Native {
            return Ok(Self::Native(Box::new(turn)));
        }
        let blocks: Vec<_> = turn.blocks.iter().map(|block| ContentBlock::new(turn.chat_id, turn.id, block)).collect();
        match serde_json::to_value(Turn { blocks: Vec::new(), ..turn }) {
            Ok(Value::Object(mut fields)) => {
                fields.insert("blocks".into(), json!(blocks));
                Ok(Self::Seed(fields))
            }
            _ => Err(Problem::invalid(InvalidField::new("form", MessageCode::FormNotAvailable))),
        }
    }
}

/// Adds the schemas of responses in the seed form, which are the native ones with other blocks.
pub fn add_seed_schemas(known: &mut Map<String, Value>) {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    for (native, seed, list, item) in [
        ("Turn", "TurnInSeedForm", "blocks", "ContentBlock"),
        ("PathTurns", "PathTurnsInSeedForm", "turns", "TurnInSeedForm"),
    ] {
        if let Some(mut schema) = known.get(native).cloned() {
            schema["properties"][list]["items"] = reference(item);
            schema["description"] = format!("{native} with `form=seed`.").into();
            known.insert(seed.to_owned(), schema);
        }
    }
}
