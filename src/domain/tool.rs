//! Tool calls as data: what a tool is, who runs it, which of them a chat offers, and how raw arguments become arguments.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::InvalidField;
use crate::{json_bounds, limits};

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A JSON Schema of the arguments.
    pub parameters: Value,
}

/// Who runs a tool, and what it is called there. Kept with the branch beside the tool's description: a call is led by
/// this and never by taking its name apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case", tag = "run_by")]
pub enum ToolOrigin {
    /// Turnleaf itself.
    BuiltIn { tool: String },
    /// An MCP server, by its id.
    Server { server: String, tool: String },
    /// The client that declared it: it sends the result in a turn of its own.
    Client,
    /// The provider of the model, inside of its response: nobody here is asked to run it.
    Provider { tool: String },
}

/// The server that the provider's own tools have in settings: `provider/web_search`.
pub const PROVIDER: &str = "provider";
/// The provider's own tools that Turnleaf has names for.
pub const WEB_SEARCH: &str = "web_search";
pub const CODE_EXECUTION: &str = "code_execution";

impl ToolOrigin {
    /// The name for people, which is also the name in settings: `tool` or `server/tool`; nothing for a client's tool.
    pub fn full_name(&self) -> Option<String> {
        match self {
            Self::BuiltIn { tool } => Some(tool.clone()),
            Self::Server { server, tool } => Some(format!("{server}/{tool}")),
            Self::Provider { tool } => Some(format!("{PROVIDER}/{tool}")),
            Self::Client => None,
        }
    }

    /// The server's id; empty for what is no server's.
    pub fn server(&self) -> &str {
        match self {
            Self::Server { server, .. } => server,
            Self::Provider { .. } => PROVIDER,
            Self::BuiltIn { .. } | Self::Client => "",
        }
    }
}

/// What people call a tool. It decides nothing: it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolLabel {
    pub title: String,
    /// Its server's name; nothing for what is no server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl ToolLabel {
    /// Where the metadata of a call's block keeps it.
    pub const KEY: &str = "tool";
}

/// How far a call is that runs, as its block's metadata says it under `progress`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolProgress {
    /// One line for people ("3 of 10 · copying").
    pub line: String,
    /// From 0 to 100, where it is known how much there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// The last lines that its server said of it, where those are more than one; at most
    /// [`TOOL_TAIL_LINES`](crate::limits::TOOL_TAIL_LINES).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
}

impl ToolProgress {
    /// Where the metadata of a call's block keeps it.
    pub const KEY: &str = "progress";

    /// Without a total.
    pub fn from_line(line: impl Into<String>) -> Self {
        Self { line: line.into(), percent: None, tail: Vec::new() }
    }

    /// Of a total that is more than nothing.
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
    /// `None`: the provider brings it and runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
    /// `None`: its name is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<ToolLabel>,
}

impl OfferedTool {
    /// A tool that the provider itself brings and [`run_by`](ToolOrigin) nobody else: the demo's.
    pub fn from_provider(spec: ToolSpec) -> Self {
        Self { spec, origin: None, called: None }
    }

    /// Whether a model is offered the same; what people call it does not count.
    pub fn is_same_offer(&self, other: &Self) -> bool {
        self.spec == other.spec && self.origin == other.origin
    }

    /// What people call it, as far as that is known.
    pub fn label(&self) -> Option<ToolLabel> {
        self.called.clone().or_else(|| match self.origin.as_ref()? {
            ToolOrigin::BuiltIn { tool } => Some(ToolLabel { title: tool.clone(), server: None }),
            ToolOrigin::Server { server, tool } => {
                Some(ToolLabel { title: tool.clone(), server: Some(server.clone()) })
            }
            ToolOrigin::Client | ToolOrigin::Provider { .. } => None,
        })
    }

    /// One that the provider runs inside of its response, by Turnleaf's name for it. The provider knows its arguments.
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
        Self { spec, origin: Some(ToolOrigin::Provider { tool: tool.to_owned() }), called }
    }

    /// The name of a tool that the provider runs inside of its response.
    pub fn provider_tool_name(&self) -> Option<&str> {
        match &self.origin {
            Some(ToolOrigin::Provider { tool }) => Some(tool),
            _ => None,
        }
    }
}

/// Which tools a chat offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolChoice {
    /// `tool` for a built-in one, `server/tool` for one of a server, `server/*` for all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// Tools that the client runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub client: Vec<ToolSpec>,
}

impl ToolChoice {
    pub fn is_empty(&self) -> bool {
        self.on.is_empty() && self.client.is_empty()
    }

    /// Whether it has the tool, by its full name ([`ToolOrigin::full_name`]).
    pub fn has_tool(&self, name: &str) -> bool {
        let all = name.split_once('/').map(|(server, _)| format!("{server}/*"));
        self.on.iter().any(|on| on == name || Some(on) == all.as_ref())
    }

    /// # Errors
    /// A name that cannot be one, a name that is there twice, or more of them than are offered to a model.
    pub fn check(&self) -> Result<(), InvalidField> {
        if self.on.len() + self.client.len() > limits::TOOLS_OFFERED {
            return Err(InvalidField::new("tools", format!("are more than {}", limits::TOOLS_OFFERED)));
        }
        let mut seen = HashSet::new();
        for name in &self.on {
            if name.is_empty() || name.chars().count() > limits::TITLE_CHARS || name.chars().any(char::is_control) {
                return Err(InvalidField::new("tools.on", "is no name of a tool"));
            }
            if !seen.insert(name) {
                return Err(InvalidField::new("tools.on", format!("names `{name}` twice")));
            }
        }
        for spec in &self.client {
            if !is_wire_name(&spec.name) || spec.name.contains("__") {
                let why =
                    format!("has a name that is not of 1 to {} of a-z, A-Z, 0-9, _ and -", limits::TOOL_NAME_CHARS);
                return Err(InvalidField::new("tools.client", why));
            }
            if !seen.insert(&spec.name) {
                return Err(InvalidField::new("tools.client", format!("names `{}` twice", spec.name)));
            }
            if !spec.parameters.is_object() {
                return Err(InvalidField::new(
                    "tools.client",
                    format!("`{}`: parameters must be an object", spec.name),
                ));
            }
        }
        Ok(())
    }
}

/// Whether every API takes this as the name of a tool.
pub fn is_wire_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= limits::TOOL_NAME_CHARS && name.chars().all(fits)
}

/// Arguments in one form, whatever order the model wrote them in: what is hashed, and what is compared to see that a
/// call repeats itself.
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

/// The arguments a model wrote, parsed. Nothing at all means `{}` (providers.md 2.3); what is not JSON, or is beyond the
/// bounds of what can be stored, is `None`.
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
        for good in [choice(&[], vec![]), choice(&["a", "b/*"], vec![client("look_up"), client("look-down")])] {
            assert_eq!(good.check(), Ok(()), "{good:?}");
        }
        let many: Vec<String> = (0..=limits::TOOLS_OFFERED).map(|n| n.to_string()).collect();
        for (bad, field) in [
            (choice(&[""], vec![]), "tools.on"),
            (choice(&["a", "a"], vec![]), "tools.on"),
            (choice(&["a\nb"], vec![]), "tools.on"),
            (choice(&many.iter().map(String::as_str).collect::<Vec<_>>(), vec![]), "tools"),
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
