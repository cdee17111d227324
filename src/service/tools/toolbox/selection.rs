//! Resolves a chat's tool choice: the tools that are offered to its model, in a stable order, and those that are left
//! out, with the reason.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::ServiceToolbox;
use turnleaf_domain::approval::ToolApprovalPolicy;
use turnleaf_domain::tool::{OfferedTool, ToolChoice, ToolOrigin};
use turnleaf_domain::{CodedMessage, MessageCode, UserId, limits};
use turnleaf_store::{StoreError, tool_policies};
use turnleaf_tools::built_in;
use turnleaf_tools::schema::check_schema;
use turnleaf_tools::toolbox::ToolDescription;

/// The result of resolving a choice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSelection {
    pub offered: Vec<OfferedTool>,
    pub left_out: Vec<LeftOutTool>,
}

/// A chosen tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct LeftOutTool {
    /// Full name, such as `files/read`.
    pub name: String,
    /// The reason as an English sentence: the text of `code` with `args`.
    pub why: String,
    /// The code of the reason.
    pub code: &'static str,
    /// The arguments of the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
}

impl LeftOutTool {
    fn new(name: String, why: CodedMessage) -> Self {
        Self { name, why: why.to_string(), code: why.code.code(), args: why.args }
    }

    /// Returns the reason with its code.
    pub fn message(&self) -> CodedMessage {
        CodedMessage::from_parts(Some(self.code), &self.args, &self.why)
    }
}

impl ServiceToolbox {
    /// Orders built-in tools first, then those of servers by server id, each in its server's order, then the
    /// client's. Of two tools with the same wire name, the first one wins.
    pub async fn select_tools(&self, owner: UserId, choice: &ToolChoice) -> Result<ToolSelection, StoreError> {
        if choice.is_empty() {
            return Ok(ToolSelection::default());
        }
        let offerings = async {
            // Most chats have only built-in tools.
            if choice.names_servers() { self.offerings(owner).await } else { Ok(Vec::new()) }
        };
        let (offerings, policies) = tokio::try_join!(offerings, tool_policies::list(&self.0.db, owner))?;
        let is_never = |server: &str, tool: &str| {
            policies.iter().any(|policy| {
                policy.chat.is_none()
                    && policy.policy == ToolApprovalPolicy::Never
                    && policy.server == server
                    && policy.tool == tool
            })
        };
        let mut picked = SelectionBuilder::default();
        for tool in built_in::describe_all().iter().filter(|tool| choice.has_tool(&tool.tool)) {
            picked.take(None, tool, is_never("", &tool.tool));
        }
        for offering in &offerings {
            let server = offering.server.as_str();
            let named = Some((server, offering.name.as_str()));
            for tool in &offering.tools {
                if choice.has_tool(&format!("{server}/{}", tool.tool)) {
                    picked.take(named, tool, is_never(server, &tool.tool));
                }
            }
        }
        for offering in &offerings {
            for unusable in &offering.unusable {
                let name = format!("{}/{}", offering.server, unusable.tool);
                if choice.has_tool(&name) {
                    picked.met.insert(name.clone());
                    picked
                        .leave_out(name, MessageCode::ToolUnusable.with("reason", unusable.why.trim_end_matches('.')));
                }
            }
        }
        for spec in &choice.client {
            let offered = OfferedTool { spec: spec.clone(), origin: Some(ToolOrigin::Client), called: None };
            picked.add(spec.name.clone(), offered);
        }
        let known: Vec<&str> = offerings.iter().map(|offering| offering.server.as_str()).collect();
        picked.report_missing(choice, &known);
        Ok(picked.selection)
    }
}

#[derive(Default)]
struct SelectionBuilder {
    selection: ToolSelection,
    wire_names: HashSet<String>,
    /// The full names that exist.
    met: HashSet<String>,
}

impl SelectionBuilder {
    /// Adds a tool or records why it is left out. `server` is the id and name of its server.
    fn take(&mut self, server: Option<(&str, &str)>, tool: &ToolDescription, is_never: bool) {
        let name = server.map_or_else(|| tool.tool.clone(), |(server, _)| format!("{server}/{}", tool.tool));
        self.met.insert(name.clone());
        if is_never {
            return self.leave_out(name, MessageCode::SetToNever);
        }
        if let Err(why) = check_schema(&tool.schema) {
            return self.leave_out(name, MessageCode::SchemaInvalid.with("reason", why));
        }
        self.add(name, tool.to_offered_tool(server));
    }

    fn add(&mut self, name: String, tool: OfferedTool) {
        if self.selection.offered.len() >= limits::TOOLS_OFFERED {
            return self.leave_out(name, MessageCode::TooManyTools.with("most", limits::TOOLS_OFFERED));
        }
        if !self.wire_names.insert(tool.spec.name.clone()) {
            return self.leave_out(name, MessageCode::ToolNameTaken);
        }
        self.selection.offered.push(tool);
    }

    fn leave_out(&mut self, name: String, why: impl Into<CodedMessage>) {
        self.selection.left_out.push(LeftOutTool::new(name, why.into()));
    }

    /// Reports chosen names that do not exist. Whole servers count as present when they are enabled; provider tools
    /// are not checked.
    fn report_missing(&mut self, choice: &ToolChoice, servers: &[&str]) {
        for name in &choice.on {
            let is_there = match name.split_once('/') {
                Some(("provider", _)) => true,
                Some((server, "*")) => servers.contains(&server),
                _ => self.met.contains(name),
            };
            if !is_there {
                self.leave_out(name.clone(), MessageCode::NotAvailableNow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILES: Option<(&str, &str)> = Some(("files", "Files"));

    fn tool(name: &str) -> ToolDescription {
        ToolDescription {
            tool: name.into(),
            title: name.into(),
            description: String::new(),
            schema: json!({ "type": "object" }),
            is_harmless: false,
            hints: Vec::new(),
        }
    }

    fn names(picked: &SelectionBuilder) -> (Vec<&str>, Vec<&str>) {
        let offered = picked.selection.offered.iter().map(|tool| tool.spec.name.as_str()).collect();
        (offered, picked.selection.left_out.iter().map(|left| left.name.as_str()).collect())
    }

    #[test]
    fn tool_never_takes_name_of_another() {
        let mut picked = SelectionBuilder::default();
        picked.take(None, &tool("calculator"), false);
        picked.take(FILES, &tool("calculator"), false);
        picked.take(FILES, &tool("calculator"), false);
        picked.take(FILES, &tool("../x"), false);
        picked.take(FILES, &tool("__proto__"), false);
        picked.take(FILES, &tool("never"), true);
        let (offered, left) = names(&picked);
        assert_eq!(offered[..2], ["calculator", "files__calculator"]);
        assert!(offered.iter().all(|name| turnleaf_domain::tool::is_wire_name(name)), "{offered:?}");
        assert_eq!((offered.len(), left), (4, vec!["files/calculator", "files/never"]));
    }

    #[test]
    fn excess_tools_are_left_out_and_reported() {
        let mut picked = SelectionBuilder::default();
        for n in 0..=limits::TOOLS_OFFERED {
            picked.take(FILES, &tool(&format!("t{n}")), false);
        }
        let (offered, left) = names(&picked);
        assert_eq!((offered.len(), left), (limits::TOOLS_OFFERED, vec!["files/t128"]));
    }

    #[test]
    fn missing_choice_is_reported() {
        let mut picked = SelectionBuilder::default();
        picked.take(FILES, &tool("read"), false);
        let on = ["files/read", "files/write", "files/*", "gone/*", "old_tool", "provider/web_search"];
        let choice = ToolChoice { on: on.map(str::to_owned).into(), client: Vec::new() };
        picked.report_missing(&choice, &["files"]);
        assert_eq!(names(&picked).1, ["files/write", "gone/*", "old_tool"]);
    }
}
