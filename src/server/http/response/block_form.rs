//! The forms in which responses show a turn: Turnleaf's own, that of the unified message model
//! (`docs/reference/domain.md C3`) and that of nodes, for clients written for those. Requests accept the forms of a
//! block without a choice.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::blocks::content_block::ContentBlock;
use crate::domain::{Turn, TurnId};
use crate::server::app::App;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::generations::RawResponseValues;

/// The form of the turns in a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockForm {
    /// `{"type": "text", "text": "…"}`.
    #[default]
    Native,
    /// `{"block_type": "user_text", "content": {"text": "…"}}`, as in `/api/chats/{id}/blocks`.
    Seed,
    /// Without `blocks`; with `content`, `contentBlocks`, `rawResponse`, `modelUsed` and `createdOnBranch`.
    Node,
}

/// The query of an operation that returns blocks.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct BlockFormQuery {
    /// Form of the turn: `native` (default), `seed` for blocks as `{"block_type", "content"}`, or `node` for `content`,
    /// `contentBlocks`, `rawResponse`, `modelUsed` and `createdOnBranch` instead of `blocks`.
    #[param(inline)]
    pub form: Option<BlockForm>,
}

/// A turn in the requested form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TurnResponse {
    Native(Box<Turn>),
    Other(Map<String, Value>),
}

impl TurnResponse {
    /// Shows these turns of the caller in this form.
    ///
    /// # Errors
    /// A turn cannot be written as JSON, or its raw response cannot be read.
    pub async fn list(app: &App, turns: Vec<Turn>, form: BlockForm) -> Result<Vec<Self>, Problem> {
        match form {
            BlockForm::Native => Ok(turns.into_iter().map(|turn| Self::Native(Box::new(turn))).collect()),
            BlockForm::Seed => turns.into_iter().map(|turn| seed_members(turn).map(Self::Other)).collect(),
            BlockForm::Node => {
                let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
                let mut raw: HashMap<TurnId, RawResponseValues> = app.service().raw_response_values(&ids).await?;
                let node = |turn: Turn| {
                    let raw = raw.remove(&turn.id).unwrap_or_default();
                    node_members(turn, raw).map(Self::Other)
                };
                turns.into_iter().map(node).collect()
            }
        }
    }

    /// Shows one turn, like [`Self::list`].
    ///
    /// # Errors
    /// Same as [`Self::list`].
    pub async fn new(app: &App, turn: Turn, form: BlockForm) -> Result<Self, Problem> {
        Self::list(app, vec![turn], form).await?.pop().ok_or_else(Problem::not_found)
    }
}

fn seed_members(turn: Turn) -> Result<Map<String, Value>, Problem> {
    let blocks: Vec<_> = turn.blocks.iter().map(|block| ContentBlock::new(turn.chat_id, turn.id, block)).collect();
    let mut members = members_without_blocks(turn)?;
    members.insert("blocks".into(), json!(blocks));
    Ok(members)
}

/// Returns a turn as a node: its text, its blocks as plain contents, what its provider sent, and what it was made with.
fn node_members(turn: Turn, raw: RawResponseValues) -> Result<Map<String, Value>, Problem> {
    let contents: Vec<_> = turn.blocks.iter().map(|block| &block.content).collect();
    let projections = [
        ("content", json!(turn.content_text())),
        ("contentBlocks", json!(contents)),
        ("rawResponse", json!(raw.values)),
        ("modelUsed", json!(turn.model_used)),
        ("createdOnBranch", json!(turn.branch_id)),
    ];
    let mut members = members_without_blocks(turn)?;
    members.extend(projections.map(|(name, value)| (name.to_owned(), value)));
    if raw.is_omitted {
        members.insert("rawResponseOmitted".into(), true.into());
    }
    Ok(members)
}

fn members_without_blocks(turn: Turn) -> Result<Map<String, Value>, Problem> {
    match serde_json::to_value(Turn { blocks: Vec::new(), ..turn }) {
        Ok(Value::Object(mut members)) => {
            members.remove("blocks");
            Ok(members)
        }
        _ => Err(Problem::internal("a turn is no JSON object")),
    }
}

/// Adds the schemas of responses in the other forms, which are the native ones with other members.
pub fn add_form_schemas(known: &mut Map<String, Value>) {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    for (native, form, other, list, item) in [
        ("Turn", "seed", "TurnInSeedForm", "blocks", "ContentBlock"),
        ("Turn", "node", "TurnAsNode", "contentBlocks", "Content"),
        ("PathTurns", "seed", "PathTurnsInSeedForm", "turns", "TurnInSeedForm"),
        ("PathTurns", "node", "PathTurnsAsNodes", "turns", "TurnAsNode"),
    ] {
        let Some(mut schema) = known.get(native).cloned() else { continue };
        if other == "TurnAsNode" {
            replace_blocks_by_projections(&mut schema);
        }
        schema["properties"][list]["items"] = reference(item);
        schema["description"] = format!("{native} with `form={form}`.").into();
        known.insert(other.to_owned(), schema);
    }
}

fn replace_blocks_by_projections(turn: &mut Value) {
    let projections = json!({
        "content": { "type": "string", "description": "The text, without reasoning and tool calls." },
        "contentBlocks": { "type": "array", "description": "The contents of the blocks, in order." },
        "rawResponse": {
            "type": ["array", "null"],
            "items": {},
            "description": "What the provider sent, as JSON in its own format: the events or documents of all requests \
                in order; a named event is `{\"event\", \"data\"}`. Null if nothing was kept, or if it was omitted.",
        },
        "rawResponseOmitted": {
            "type": "boolean",
            "description": "True if the raw responses did not fit into this answer; read them at \
                `/api/generations/{id}/raw`.",
        },
        "modelUsed": { "type": ["string", "null"], "description": "The model as the provider names it." },
        "createdOnBranch": { "type": "string", "format": "uuid", "description": "The branch it was written on." },
    });
    if let (Some(Value::Object(properties)), Value::Object(projections)) = (turn.get_mut("properties"), projections) {
        properties.remove("blocks");
        properties.extend(projections);
    }
    if let Some(Value::Array(required)) = turn.get_mut("required") {
        required.retain(|name| name != "blocks");
        required.extend(["content", "contentBlocks", "rawResponse", "modelUsed", "createdOnBranch"].map(Value::from));
    }
}
