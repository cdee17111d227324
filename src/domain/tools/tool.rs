//! Tool definitions: what a tool is, who runs it, which tools a chat offers, and how raw arguments are parsed.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::encoding::json_bounds;
use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;

/// A tool as it is described to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON Schema of the arguments.
    pub parameters: Value,
}

/// The executor of a tool, and its name there. It is stored with the branch; calls are routed by it and never by
/// parsing the tool's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case", tag = "run_by")]
pub enum ToolOrigin {
    /// Turnleaf runs the tool.
    BuiltIn { tool: String },
    /// An MCP server runs the tool.
    Server { server: String, tool: String },
    /// The client that declared the tool runs it and sends the result in a turn of its own.
    Client,
    /// The provider of the model runs the tool within its response.
    Provider { tool: String },
}

/// The server name of provider tools in settings: `provider/web_search`.
pub const PROVIDER: &str = "provider";
/// The names of the provider tools that Turnleaf knows.
pub const WEB_SEARCH: &str = "web_search";
pub const CODE_EXECUTION: &str = "code_execution";

impl ToolOrigin {
    /// Returns the display name, which is also the name in settings: `tool` or `server/tool`; `None` for a client's
    /// tool.
    pub fn full_name(&self) -> Option<String> {
        match self {
            Self::BuiltIn { tool } => Some(tool.clone()),
            Self::Server { server, tool } => Some(format!("{server}/{tool}")),
            Self::Provider { tool } => Some(format!("{PROVIDER}/{tool}")),
            Self::Client => None,
        }
    }

    /// Returns the server's id; empty if the tool does not belong to a server.
    pub fn server(&self) -> &str {
        match self {
            Self::Server { server, .. } => server,
            Self::Provider { .. } => PROVIDER,
            Self::BuiltIn { .. } | Self::Client => "",
        }
    }
}

/// The display name of a tool. It is never used for decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolLabel {
    pub title: String,
    /// The name of its server, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl ToolLabel {
    /// The key of the label in a call's block metadata.
    pub const KEY: &str = "tool";
}

/// The progress of a running call, in its block's metadata under `progress`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolProgress {
    /// One line for people ("3 of 10 · copying").
    pub line: String,
    /// The progress from 0 to 100, if the total is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// The last lines of its progress output, if more than one, at most
    /// [`TOOL_TAIL_LINES`](crate::limits::TOOL_TAIL_LINES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
}

impl ToolProgress {
    /// The key of the progress in a call's block metadata.
    pub const KEY: &str = "progress";

    /// Creates progress without a total.
    pub fn from_line(line: impl Into<String>) -> Self {
        Self { line: line.into(), percent: None, tail: Vec::new() }
    }

    /// Computes the percentage of a positive total.
    pub fn percent_of(done: f64, total: f64) -> Option<u8> {
        let share = done / total;
        (total > 0.0 && share.is_finite()).then(|| (share.clamp(0.0, 1.0) * 100.0) as u8)
    }
}

/// A tool as a branch offers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OfferedTool {
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// The executor of the tool. Absent if the provider brings and runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
    /// The display name. Absent if only the tool's name is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<ToolLabel>,
    /// True for a tool that a search added to the branch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_found: bool,
}

impl OfferedTool {
    /// Creates a tool that the provider itself brings and runs: the demo's.
    pub fn from_provider(spec: ToolSpec) -> Self {
        Self { spec, origin: None, called: None, is_found: false }
    }

    /// Returns true if a model is offered the same tool; the display name does not count.
    pub fn is_same_offer(&self, other: &Self) -> bool {
        self.spec == other.spec && self.origin == other.origin
    }

    /// Returns the display name, as far as it is known.
    pub fn label(&self) -> Option<ToolLabel> {
        self.called.clone().or_else(|| match self.origin.as_ref()? {
            ToolOrigin::BuiltIn { tool } => Some(ToolLabel { title: tool.clone(), server: None }),
            ToolOrigin::Server { server, tool } => {
                Some(ToolLabel { title: tool.clone(), server: Some(server.clone()) })
            }
            ToolOrigin::Client | ToolOrigin::Provider { .. } => None,
        })
    }

    /// Creates a tool that the provider runs within its response, by Turnleaf's name for it. The provider defines its
    /// arguments.
    pub fn provider_tool(tool: &str) -> Self {
        let (title, description) = match tool {
            WEB_SEARCH => ("Web search", "The provider searches the web while it answers."),
            CODE_EXECUTION => ("Code execution", "The provider runs code of the model in a sandbox of its own."),
            _ => (tool, "The provider runs this tool itself."),
        };
        let spec = ToolSpec {
            name: tool.to_owned(),
            description: description.to_owned(),
            parameters: serde_json::json!({ "type": "object" }),
        };
        let called = Some(ToolLabel { title: title.to_owned(), server: None });
        Self { spec, origin: Some(ToolOrigin::Provider { tool: tool.to_owned() }), called, is_found: false }
    }

    /// Returns the name of a tool that the provider runs within its response.
    pub fn provider_tool_name(&self) -> Option<&str> {
        match &self.origin {
            Some(ToolOrigin::Provider { tool }) => Some(tool),
            _ => None,
        }
    }
}

/// The tools that a chat offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolChoice {
    /// The enabled tools: `tool` for a built-in one, `server/tool` for one of a server, `server/*` for all of a
    /// server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// The tools that the client runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client: Vec<ToolSpec>,
}

impl ToolChoice {
    pub fn is_empty(&self) -> bool {
        self.on.is_empty() && self.client.is_empty()
    }

    /// Returns true if the tool is enabled, by its full name ([`ToolOrigin::full_name`]).
    pub fn has_tool(&self, name: &str) -> bool {
        let all = name.split_once('/').map(|(server, _)| format!("{server}/*"));
        self.on.iter().any(|on| on == name || Some(on) == all.as_ref())
    }

    /// Returns whether any of the chosen tools is one of a server.
    pub fn names_servers(&self) -> bool {
        self.on.iter().any(|on| on.split_once('/').is_some_and(|(server, _)| server != PROVIDER))
    }

    /// # Errors
    /// A name is invalid or repeated, or there are too many. A model searches for tools of servers that are more than can
    /// be offered; those of a client cannot be searched.
    pub fn check(&self) -> Result<(), InvalidField> {
        for (count, most) in [(self.on.len(), limits::TOOLS_CHOSEN), (self.client.len(), limits::TOOLS_OFFERED)] {
            if count > most {
                return Err(InvalidField::new("tools", MessageCode::TooMany.with("most", most)));
            }
        }
        let mut seen = HashSet::new();
        for name in &self.on {
            if name.is_empty() || name.chars().count() > limits::TITLE_CHARS || name.chars().any(char::is_control) {
                return Err(InvalidField::new("tools.on", MessageCode::NotAToolName));
            }
            if !seen.insert(name) {
                return Err(InvalidField::new("tools.on", MessageCode::ListedTwice.with("name", name)));
            }
        }
        for spec in &self.client {
            if !is_wire_name(&spec.name) || spec.name.contains("__") {
                let reason = MessageCode::NotAWireName.with("most", limits::TOOL_NAME_CHARS);
                return Err(InvalidField::new("tools.client", reason));
            }
            if !seen.insert(&spec.name) {
                return Err(InvalidField::new("tools.client", MessageCode::ListedTwice.with("name", &spec.name)));
            }
            if !spec.parameters.is_object() {
                let why = MessageCode::ParametersNotObject.with("name", &spec.name);
                return Err(InvalidField::new("tools.client", why));
            }
        }
        Ok(())
    }
}

/// Returns true if every API accepts this tool name.
pub fn is_wire_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= limits::TOOL_NAME_CHARS && name.chars().all(fits)
}

/// Serializes arguments independently of the order of members, for hashing and for the detection of repeated calls.
pub fn canonical_arguments(arguments: &Value) -> String {
    sort_members(arguments).to_string()
}

fn sort_members(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            Value::Object(
                names.into_iter().map(|name| (name.clone(), sort_members(&members[name]))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sort_members).collect()),
        other => other.clone(),
    }
}

/// Parses the arguments that a model wrote. An empty text means `{}`. Returns `None` for invalid JSON and for values
/// beyond the bounds of stored JSON.
pub fn parse_arguments(raw: &str) -> Option<Value> {
    if raw.trim().is_empty() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    json_bounds::parse_bounded(raw).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_arguments_are_empty_object_and_broken_ones_are_none() {
        let table = [
            ("", Some(json!({}))),
            (" \n", Some(json!({}))),
            ("{}", Some(json!({}))),
            (r#" {"b": 1, "a": [0.1]} "#, Some(json!({"b": 1, "a": [0.1]}))),
            ("null", Some(json!(null))),
            (r#"{"a": 1"#, None),
            (r#"{"a": 1} {"#, None),
            ("plain words", None),
        ];
        for (raw, arguments) in table {
            assert_eq!(parse_arguments(raw), arguments, "{raw:?}");
        }
        let kept = parse_arguments(r#"{"z":1,"a":2}"#).unwrap();
        assert_eq!(kept.to_string(), r#"{"z":1,"a":2}"#);
    }

    #[test]
    fn arguments_in_another_order_are_same_call() {
        let one = json!({"b": [{"y": 1, "x": 2}], "a": "é"});
        let other = json!({"a": "é", "b": [{"x": 2, "y": 1}]});
        assert_eq!(canonical_arguments(&one), canonical_arguments(&other));
        assert_eq!(canonical_arguments(&one), r#"{"a":"é","b":[{"x":2,"y":1}]}"#);
        assert_ne!(canonical_arguments(&json!([1, 2])), canonical_arguments(&json!([2, 1])), "a list has an order");
    }

    #[test]
    fn choice_names_tools_and_whole_servers() {
        let choice = ToolChoice { on: vec!["calculator".into(), "files/*".into(), "web/fetch".into()], client: vec![] };
        let table = [
            ("calculator", true),
            ("files/read", true),
            ("files", false),
            ("web/fetch", true),
            ("web/post", false),
            ("calculator/x", false),
            ("", false),
        ];
        for (name, is_on) in table {
            assert_eq!(choice.has_tool(name), is_on, "{name}");
        }
    }

    #[test]
    fn invalid_choice_is_refused_by_field() {
        let client = |name: &str| ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        };
        let choice = |on: &[&str], client: Vec<ToolSpec>| ToolChoice {
            on: on.iter().map(|name| (*name).to_owned()).collect(),
            client,
        };
        let many: Vec<String> = (0..=limits::TOOLS_CHOSEN).map(|n| format!("t{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for good in [
            choice(&[], vec![]),
            choice(&["a", "b/*"], vec![client("look_up"), client("look-down")]),
            choice(&many[1..], vec![client("look_up")]),
        ] {
            assert_eq!(good.check(), Ok(()), "{good:?}");
        }
        for (bad, field) in [
            (choice(&[""], vec![]), "tools.on"),
            (choice(&["a", "a"], vec![]), "tools.on"),
            (choice(&["a\nb"], vec![]), "tools.on"),
            (choice(&many, vec![]), "tools"),
            (choice(&[], many[..=limits::TOOLS_OFFERED].iter().map(|name| client(name)).collect()), "tools"),
            (choice(&[], vec![client("a b")]), "tools.client"),
            (choice(&[], vec![client("server__tool")]), "tools.client"),
            (choice(&[], vec![client("../x")]), "tools.client"),
            (choice(&[], vec![client("x"), client("x")]), "tools.client"),
            (choice(&[], vec![ToolSpec { parameters: json!("x"), ..client("x") }]), "tools.client"),
        ] {
            assert_eq!(bad.check().unwrap_err().field, field, "{bad:?}");
        }
    }

    #[test]
    fn deeply_nested_arguments_are_refused() {
        let deep = "[".repeat(100_000);
        assert_eq!(parse_arguments(&deep), None);
    }
}
