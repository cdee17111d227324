//! Resolves a chat's tool choice: the tools that are offered to its model, in a stable order, those that the model has to
//! search for, because the chosen servers have too many, and those that are left out, with the reason.

use std::collections::HashSet;

use serde::Serialize;

use super::ServiceToolbox;
use crate::coded_sentence::CodedSentence;
use turnleaf_domain::tools::approval::ToolApprovalPolicy;
use turnleaf_domain::tools::tool::{OfferedTool, ToolChoice, ToolOrigin};
use turnleaf_domain::{CodedMessage, MessageCode, UserId, limits};
use turnleaf_store::StoreError;
use turnleaf_store::tools::server_policies::{self, ServerPolicy};
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};
use turnleaf_tools::built_in;
use turnleaf_tools::schema::check_schema;
use turnleaf_tools::tool_search;
use turnleaf_tools::toolbox::ToolDescription;

/// The result of resolving a choice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSelection {
    pub offered: Vec<OfferedTool>,
    /// The tools of servers that the model finds with the tool search, which is then among the offered ones.
    pub searched: Vec<OfferedTool>,
    pub left_out: Vec<LeftOutTool>,
}

/// A chosen tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct LeftOutTool {
    /// Full name, such as `files/read`.
    pub name: String,
    /// The reason as an English sentence, like `sentence`.
    pub why: String,
    #[serde(flatten)]
    pub reason: CodedSentence,
}

impl LeftOutTool {
    fn new(name: String, why: CodedMessage) -> Self {
        Self { name, why: why.to_string(), reason: CodedSentence::new(why) }
    }

    /// Returns the reason with its code.
    pub fn message(&self) -> CodedMessage {
        self.reason.message()
    }
}

impl ServiceToolbox {
    /// Orders built-in tools first, then those of servers by server id, each in its server's order, then the
    /// client's. Of two tools with the same wire name, the first one wins.
    pub async fn select_tools(&self, owner: UserId, choice: &ToolChoice) -> Result<ToolSelection, StoreError> {
        if choice.is_empty() {
            return Ok(ToolSelection::default());
        }
        // Most chats have only built-in tools.
        let has_servers = choice.names_servers();
        let offerings = async { if has_servers { self.offerings(owner).await } else { Ok(Vec::new()) } };
        let of_servers =
            async { if has_servers { server_policies::list(&self.0.db, owner).await } else { Ok(Vec::new()) } };
        let (offerings, policies, of_servers) =
            tokio::try_join!(offerings, tool_policies::list(&self.0.db, owner), of_servers)?;
        let is_never = |server: &str, tool: &str| {
            let is_about =
                |policy: &&StoredPolicy| policy.chat.is_none() && policy.server == server && policy.tool == tool;
            let mut own = policies.iter().filter(is_about).map(|policy| policy.policy).peekable();
            if own.peek().is_some() || server.is_empty() {
                return own.any(|policy| policy == ToolApprovalPolicy::Never);
            }
            let of_server = ServerPolicy::of_server(&of_servers, server);
            of_server.is_some_and(|of_server| of_server.policy == ToolApprovalPolicy::Never)
        };
        let mut picked = SelectionBuilder::default();
        let has_search_engine = self.search_engines().find(owner).is_some();
        for tool in built_in::describe_all().iter().filter(|tool| choice.has_tool(&tool.tool)) {
            if tool.tool == built_in::WEB_SEARCH_TOOL && !has_search_engine {
                picked.met.insert(tool.tool.clone());
                picked.leave_out(tool.tool.clone(), MessageCode::SearchNotSetUp);
            } else {
                picked.take(None, tool, is_never("", &tool.tool), true);
            }
        }
        for offering in &offerings {
            let server = offering.server.as_str();
            let named = Some((server, offering.name.as_str()));
            for tool in &offering.tools {
                let name = format!("{server}/{}", tool.tool);
                if choice.has_tool(&name) && !tool.is_closed_to_models {
                    picked.take(named, tool, is_never(server, &tool.tool), choice.on.contains(&name));
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
            let origin = Some(ToolOrigin::Client);
            let offered = OfferedTool { spec: spec.clone(), origin, called: None, is_found: false };
            picked.add(spec.name.clone(), offered, true);
        }
        let known: Vec<&str> = offerings.iter().map(|offering| offering.server.as_str()).collect();
        picked.report_missing(choice, &known);
        Ok(picked.finish(!is_never("", tool_search::NAME)))
    }
}

/// A tool that can be offered.
struct ToolCandidate {
    name: String,
    tool: OfferedTool,
    /// It was chosen by its name, not with its whole server.
    is_named: bool,
}

impl ToolCandidate {
    fn is_of_server(&self) -> bool {
        matches!(self.tool.origin, Some(ToolOrigin::Server { .. }))
    }
}

#[derive(Default)]
struct SelectionBuilder {
    candidates: Vec<ToolCandidate>,
    left_out: Vec<LeftOutTool>,
    wire_names: HashSet<String>,
    /// The full names that exist.
    met: HashSet<String>,
}

impl SelectionBuilder {
    /// Adds a tool or records why it is left out. `server` is the id and name of its server.
    fn take(&mut self, server: Option<(&str, &str)>, tool: &ToolDescription, is_never: bool, is_named: bool) {
        let name = server.map_or_else(|| tool.tool.clone(), |(server, _)| format!("{server}/{}", tool.tool));
        self.met.insert(name.clone());
        if is_never {
            return self.leave_out(name, MessageCode::SetToNever);
        }
        if let Err(why) = check_schema(&tool.schema) {
            return self.leave_out(name, MessageCode::SchemaInvalid.with("reason", why));
        }
        self.add(name, tool.to_offered_tool(server), is_named);
    }

    fn add(&mut self, name: String, tool: OfferedTool, is_named: bool) {
        if !self.wire_names.insert(tool.spec.name.clone()) {
            return self.leave_out(name, MessageCode::ToolNameTaken);
        }
        self.candidates.push(ToolCandidate { name, tool, is_named });
    }

    /// Offers as many tools as providers accept. Of more, those of servers are left to the tool search if it is
    /// allowed: all that were chosen with their whole server, and those chosen by name as far as there is no room.
    fn finish(mut self, may_search: bool) -> ToolSelection {
        let mut picked = ToolSelection { left_out: std::mem::take(&mut self.left_out), ..ToolSelection::default() };
        let candidates = std::mem::take(&mut self.candidates);
        let is_searched = may_search
            && candidates.len() > limits::TOOLS_OFFERED
            && candidates.iter().any(ToolCandidate::is_of_server);
        let most = limits::TOOLS_OFFERED - if is_searched { 1 + limits::TOOLS_FOUND } else { 0 };
        let own = candidates.iter().filter(|candidate| !candidate.is_of_server()).count();
        let mut room = (limits::TOOLS_OFFERED - 1 - limits::TOOLS_FOUND_ROOM).saturating_sub(own);
        for ToolCandidate { name, tool, is_named } in candidates {
            let is_of_server = matches!(tool.origin, Some(ToolOrigin::Server { .. }));
            if is_searched && is_of_server && (!is_named || room == 0) {
                picked.searched.push(tool);
                continue;
            }
            if is_of_server {
                room = room.saturating_sub(1);
            }
            if is_searched && tool.spec.name == tool_search::NAME {
                picked.left_out.push(LeftOutTool::new(name, MessageCode::ToolNameTaken.into()));
            } else if picked.offered.len() >= most {
                let why = MessageCode::TooManyTools.with("most", limits::TOOLS_OFFERED);
                picked.left_out.push(LeftOutTool::new(name, why));
            } else {
                picked.offered.push(tool);
            }
        }
        if is_searched {
            let is_built_in = |tool: &&OfferedTool| matches!(tool.origin, Some(ToolOrigin::BuiltIn { .. }));
            let at = picked.offered.iter().take_while(is_built_in).count();
            let search = tool_search::describe(&searched_servers(&picked.searched));
            picked.offered.insert(at, search.to_offered_tool(None));
        }
        picked
    }

    fn leave_out(&mut self, name: String, why: impl Into<CodedMessage>) {
        self.left_out.push(LeftOutTool::new(name, why.into()));
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

/// Returns the names of the servers of these tools in their order, each with the number of its tools.
fn searched_servers(tools: &[OfferedTool]) -> Vec<(String, usize)> {
    let mut servers: Vec<(String, usize)> = Vec::new();
    for name in tools.iter().filter_map(|tool| tool.label()?.server) {
        match servers.last_mut().filter(|(last, _)| *last == name) {
            Some((_, count)) => *count += 1,
            None => servers.push((name, 1)),
        }
    }
    servers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILES: Option<(&str, &str)> = Some(("files", "Files"));

    fn tool(name: &str) -> ToolDescription {
        ToolDescription::new(name, "", json!({ "type": "object" }))
    }

    fn names(picked: &ToolSelection) -> (Vec<&str>, Vec<&str>) {
        let offered = picked.offered.iter().map(|tool| tool.spec.name.as_str()).collect();
        (offered, picked.left_out.iter().map(|left| left.name.as_str()).collect())
    }

    /// Returns a selection of this many tools, chosen by name or with their whole server.
    fn selection_of(count: usize, is_named: bool) -> SelectionBuilder {
        let mut picked = SelectionBuilder::default();
        picked.take(None, &tool("calculator"), false, true);
        for n in 1..count {
            picked.take(FILES, &tool(&format!("t{n}")), false, is_named);
        }
        picked
    }

    fn client_tool(name: &str) -> OfferedTool {
        OfferedTool { origin: Some(ToolOrigin::Client), ..tool(name).to_offered_tool(None) }
    }

    #[test]
    fn tool_never_takes_name_of_another() {
        let mut picked = SelectionBuilder::default();
        picked.take(None, &tool("calculator"), false, true);
        picked.take(FILES, &tool("calculator"), false, true);
        picked.take(FILES, &tool("calculator"), false, true);
        picked.take(FILES, &tool("../x"), false, true);
        picked.take(FILES, &tool("__proto__"), false, true);
        picked.take(FILES, &tool("never"), true, true);
        let picked = picked.finish(true);
        let (offered, left) = names(&picked);
        assert_eq!(offered[..2], ["calculator", "files__calculator"]);
        assert!(offered.iter().all(|name| turnleaf_domain::tools::tool::is_wire_name(name)), "{offered:?}");
        assert_eq!((offered.len(), left), (4, vec!["files/calculator", "files/never"]));
    }

    #[test]
    fn as_many_tools_as_providers_accept_are_offered_without_search() {
        let picked = selection_of(limits::TOOLS_OFFERED, false).finish(true);
        assert_eq!((picked.offered.len(), picked.searched.len(), picked.left_out.len()), (128, 0, 0));
        assert!(picked.offered.iter().all(|tool| tool.spec.name != tool_search::NAME));
    }

    #[test]
    fn more_tools_of_whole_servers_are_searched() {
        let mut picked = selection_of(limits::TOOLS_OFFERED + 1, false);
        picked.take(Some(("maps", "Maps")), &tool("route"), false, true);
        picked.add("look_up".into(), client_tool("look_up"), true);
        let picked = picked.finish(true);
        assert_eq!(names(&picked), (vec!["calculator", "tool_search", "maps__route", "look_up"], vec![]));
        assert_eq!(picked.searched.len(), 128);
        let search = &picked.offered[1].spec;
        assert!(search.description.ends_with("Servers with their numbers of tools: Files (128)."), "{search:?}");
    }

    #[test]
    fn tools_chosen_by_name_are_offered_as_far_as_found_ones_have_room() {
        let picked = selection_of(limits::TOOLS_OFFERED + 10, true).finish(true);
        let room = limits::TOOLS_OFFERED - limits::TOOLS_FOUND_ROOM;
        assert_eq!((picked.offered.len(), picked.searched.len()), (room, 138 + 1 - room));
        assert_eq!(picked.offered[1].spec.name, tool_search::NAME);
        // Tools of a client are never searched; one search always has room.
        let mut picked = selection_of(5, false);
        for n in 0..limits::TOOLS_OFFERED {
            picked.add(format!("c{n}"), client_tool(&format!("c{n}")), true);
        }
        let picked = picked.finish(true);
        assert_eq!((picked.offered.len(), picked.searched.len()), (limits::TOOLS_OFFERED - limits::TOOLS_FOUND, 4));
        assert_eq!(picked.left_out.len(), 10);
    }

    #[test]
    fn excess_tools_are_left_out_and_reported_without_search() {
        let picked = selection_of(limits::TOOLS_OFFERED + 1, false).finish(false);
        let (offered, left) = names(&picked);
        assert_eq!((offered.len(), left), (limits::TOOLS_OFFERED, vec!["files/t128"]));
        assert_eq!(picked.left_out[0].reason.code, "too_many_tools");
        // A tool of the client cannot have the name of the search beside it.
        let mut picked = selection_of(limits::TOOLS_OFFERED + 1, false);
        picked.add("tool_search".into(), client_tool("tool_search"), true);
        let picked = picked.finish(true);
        assert_eq!(names(&picked), (vec!["calculator", "tool_search"], vec!["tool_search"]));
        assert!(matches!(picked.offered[1].origin, Some(ToolOrigin::BuiltIn { .. })));
    }

    #[test]
    fn missing_choice_is_reported() {
        let mut picked = SelectionBuilder::default();
        picked.take(FILES, &tool("read"), false, true);
        let on = ["files/read", "files/write", "files/*", "gone/*", "old_tool", "provider/web_search"];
        let choice = ToolChoice { on: on.map(str::to_owned).into(), client: Vec::new() };
        picked.report_missing(&choice, &["files"]);
        assert_eq!(names(&picked.finish(true)).1, ["files/write", "gone/*", "old_tool"]);
    }
}
