//! The tools of a chat: the choice, the default of new chats, and the tools that a branch is given. A branch freezes
//! its tools with its first turn, because the prefix of its requests must stay the same
//! (docs/reference/providers.md 3.7).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::tools::toolbox::{ToolSelection, ToolServerOffering};
use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::{ModelLock, PromptPrefix};
use turnleaf_domain::tools::server_instructions::{ServerInstructions, fit_instructions};
use turnleaf_domain::tools::tool::{OfferedTool, PROVIDER, ToolChoice, ToolOrigin, WEB_SEARCH};
use turnleaf_domain::{
    AccountChange, Branch, BranchId, Chat, ChatId, CodedMessage, InvalidField, MessageCode, UserId, limits,
};
use turnleaf_store::accounts::settings;
use turnleaf_store::chats::{self, chat_tools};
use turnleaf_store::tools::listings::ToolListing;
use turnleaf_store::{StoreError, Tx, branches, turns};
use turnleaf_tools::built_in;
use turnleaf_tools::schema::check_schema;
use turnleaf_tools::tool_search;

/// The setting that holds the default tools of new chats.
pub(crate) const DEFAULT: &str = "tools.default";
/// The initial default: tools without effects, and one that asks for approval before it sends a request.
const FIRST_DEFAULT: [&str; 3] = ["current_time", "calculator", "fetch_page"];

/// A chat's choice, resolved to the tools that exist now.
#[derive(Debug, Clone)]
pub struct ChatTools {
    pub choice: ToolChoice,
    pub selection: ToolSelection,
}

impl Service {
    /// Returns the tools of a chat, and those that a new branch would be given now.
    pub async fn chat_tools(&self, owner: UserId, id: ChatId) -> Result<ChatTools, ServiceError> {
        let chat = self.chat(owner, id).await?;
        let choice = self.chat_tool_choice(&chat).await?;
        self.resolve_tool_choice(owner, choice).await
    }

    /// Resolves a choice to the tools that exist now.
    pub async fn resolve_tool_choice(&self, owner: UserId, choice: ToolChoice) -> Result<ChatTools, ServiceError> {
        let selection = self.tools().select_tools(owner, &choice).await?;
        Ok(ChatTools { choice, selection })
    }

    /// Sets the tools of a chat. The choice applies to branches without turns and to new branches.
    pub async fn choose_tools(&self, owner: UserId, id: ChatId, choice: ToolChoice) -> Result<ChatTools, ServiceError> {
        let before = chat_tools::find(self.db(), owner, id).await?;
        self.chat(owner, id).await?;
        self.check_tool_choice(owner, &choice, before.as_ref()).await?;
        self.wake_chosen_servers(owner, &choice).await;
        let mut tx = self.db().begin().await?;
        chats::lock_for_update(&mut tx, owner, id).await?.ok_or(ServiceError::NotFound)?;
        chat_tools::put(&mut tx, owner, id, &choice).await?;
        for (branch, lock) in branches::list_empty(&mut tx, id).await? {
            let tools = self.offered_tools(owner, &lock, &choice).await;
            let instructions = self.tools().instructions(owner, &choice, &tools).await;
            branches::set_tools(&mut tx, branch, &tools).await?;
            branches::set_instructions(&mut tx, branch, &instructions).await?;
        }
        tx.commit().await?;
        self.publish_chat(owner, id);
        self.chat_tools(owner, id).await
    }

    /// Wakes the chosen servers that have failed, whose next attempt may be a minute away.
    pub(crate) async fn wake_chosen_servers(&self, owner: UserId, choice: &ToolChoice) {
        let chosen = choice.on.iter().filter_map(|name| Some(name.split_once('/')?.0));
        let chosen: BTreeSet<&str> = chosen.filter(|server| *server != PROVIDER).collect();
        let keys: Vec<_> = chosen.into_iter().map(|server| self.tools().server_key(owner, server)).collect();
        self.tools().servers().wake(keys, limits::TOOL_WAKE).await;
    }

    /// Gives a branch the tools that its chat offers now, from its next message on. This invalidates the provider's
    /// prompt cache, and the model may see earlier calls of tools that are no longer offered.
    ///
    /// # Errors
    /// `turn_running` while a reply of the branch is not finished.
    pub async fn refresh_branch_tools(
        &self,
        owner: UserId,
        id: BranchId,
    ) -> Result<(Branch, Vec<OfferedTool>), ServiceError> {
        let found = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        let chat = self.lock_chat(&mut tx, owner, found.chat_id).await?;
        let branch = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if let Some(head) = branch.head_turn_id {
            let turn = turns::find(self.db(), owner, head).await?;
            if turn.is_some_and(|turn| !turn.status.is_terminal()) {
                return Err(ServiceError::conflict("turn_running", MessageCode::BranchReplyRunning));
            }
        }
        let choice = self.chat_tool_choice(&chat).await?;
        let tools = self.offered_tools(owner, &branch.lock, &choice).await;
        let instructions = self.tools().instructions(owner, &choice, &tools).await;
        branches::set_tools(&mut tx, id, &tools).await?;
        branches::set_instructions(&mut tx, id, &instructions).await?;
        tx.commit().await?;
        self.publish_chat(owner, chat.id);
        Ok((branch, tools))
    }

    /// Gives a branch the tools of chosen servers that listed none before the branch began, such as a server that was
    /// still starting. The tools that the branch has stay in front.
    pub(crate) async fn add_late_tools(
        &self,
        tx: &mut Tx,
        owner: UserId,
        choice: &ToolChoice,
        branch: &Branch,
    ) -> Result<(), ServiceError> {
        let chosen: BTreeSet<&str> = choice.on.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        if chosen.is_empty() {
            return Ok(());
        }
        let Some(PromptPrefix { tools: Some(mut tools), instructions, .. }) =
            branches::frozen(self.db(), branch.id).await?
        else {
            return Ok(());
        };
        let server_of = |tool: &OfferedTool| tool.origin.as_ref().map(|origin| origin.server().to_owned());
        let known: BTreeSet<String> = tools.iter().filter_map(server_of).collect();
        let listings = self.tools().listings(owner).await?;
        let is_late = |listing: &&ToolListing| {
            chosen.contains(listing.server.as_str())
                && !known.contains(&listing.server)
                && listing.listed_at > branch.created_at
        };
        let late: BTreeSet<&str> = listings.iter().filter(is_late).map(|listing| listing.server.as_str()).collect();
        if late.is_empty() {
            return Ok(());
        }
        let offered = self.offered_tools(owner, &branch.lock, choice).await;
        let is_new = |tool: &OfferedTool| {
            let is_late = server_of(tool).is_some_and(|server| late.contains(server.as_str()));
            // A late server may have so many tools that the model has to search for them.
            (is_late || tool_search::is_search(tool)) && tools.iter().all(|known| known.spec.name != tool.spec.name)
        };
        let searches = offered.iter().any(tool_search::is_search);
        let kept_free = if searches { limits::TOOLS_FOUND } else { 0 };
        let room = (limits::TOOLS_OFFERED - kept_free).saturating_sub(tools.len());
        let new: Vec<OfferedTool> = offered.into_iter().filter(is_new).take(room).collect();
        if new.is_empty() {
            return Ok(());
        }
        tools.extend(new);
        branches::set_tools(tx, branch.id, &tools).await?;
        let present = self.tools().instructions(owner, choice, &tools).await;
        let is_new = |one: &ServerInstructions| late.contains(one.server.as_str());
        let added: Vec<ServerInstructions> = present.into_iter().filter(is_new).collect();
        if !added.is_empty() {
            branches::set_instructions(tx, branch.id, &fit_instructions(instructions.into_iter().chain(added))).await?;
        }
        Ok(())
    }

    /// Gives a fork the tools that searches on its source found, as far as they are still chosen.
    pub(crate) async fn carry_found_tools(
        &self,
        source: BranchId,
        choice: &ToolChoice,
        frozen: &mut PromptPrefix,
    ) -> Result<(), ServiceError> {
        let Some(tools) = frozen.tools.as_mut().filter(|tools| tools.iter().any(tool_search::is_search)) else {
            return Ok(());
        };
        let of_source = branches::frozen(self.db(), source).await?.and_then(|frozen| frozen.tools).unwrap_or_default();
        let is_chosen = |tool: &OfferedTool| {
            tool.origin.as_ref().and_then(ToolOrigin::full_name).is_some_and(|name| choice.has_tool(&name))
        };
        let found: Vec<OfferedTool> = of_source.into_iter().filter(|tool| tool.is_found && is_chosen(tool)).collect();
        *tools = tool_search::add_found(std::mem::take(tools), &found);
        Ok(())
    }

    /// Returns the default tools of new chats.
    pub async fn default_tools(&self, owner: UserId) -> Result<ToolChoice, ServiceError> {
        Ok(self.parse_default_tools(owner, settings::find(self.db(), owner, DEFAULT).await?))
    }

    /// Parses the stored default tools of new chats; unset or unreadable ones are the first defaults.
    pub(crate) fn parse_default_tools(&self, owner: UserId, stored: Option<Value>) -> ToolChoice {
        let search = self.tools().search_engines().find(owner).map(|_| built_in::WEB_SEARCH_TOOL);
        let first = || ToolChoice {
            on: FIRST_DEFAULT.into_iter().chain(search).map(str::to_owned).collect(),
            client: Vec::new(),
        };
        stored.and_then(|choice| serde_json::from_value(choice).ok()).unwrap_or_else(first)
    }

    /// Adds a built-in tool that can be used from now on to the default tools of new chats, if its owner chose those.
    pub(crate) async fn add_default_tool(&self, tx: &mut Tx, owner: UserId, tool: &str) -> Result<(), StoreError> {
        let now = self.clock().now();
        let stored = settings::lock_for_update(tx, owner, DEFAULT, now).await?;
        let Ok(mut choice) = serde_json::from_value::<ToolChoice>(stored) else { return Ok(()) };
        if !choice.has_tool(tool) {
            choice.on.push(tool.to_owned());
            settings::put(tx, owner, DEFAULT, &json!(choice), now).await?;
        }
        Ok(())
    }

    /// Sets the default tools of new chats. Client tools are refused, because they belong to one chat.
    pub async fn set_default_tools(&self, owner: UserId, choice: ToolChoice) -> Result<ToolChoice, ServiceError> {
        if !choice.client.is_empty() {
            return Err(InvalidField::new("tools.client", MessageCode::ClientToolsNotAllowed).into());
        }
        let before = self.default_tools(owner).await?;
        self.check_tool_choice(owner, &choice, Some(&before)).await?;
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, DEFAULT, &json!(choice), self.clock().now()).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::SettingsChanged);
        Ok(choice)
    }

    /// Returns the choice of a chat; empty for chats from before the choice was stored.
    pub(crate) async fn chat_tool_choice(&self, chat: &Chat) -> Result<ToolChoice, ServiceError> {
        Ok(chat_tools::find(self.db(), chat.owner_id, chat.id).await?.unwrap_or_default())
    }

    /// Returns the tools that a branch with this lock is given: none when its model takes no tools, and the
    /// provider's own tools after the rest.
    pub async fn offered_tools(&self, owner: UserId, lock: &ModelLock, choice: &ToolChoice) -> Vec<OfferedTool> {
        let registry = self.supervisor().registry();
        let no_tool_support = registry.capabilities(owner, lock).tools == Some(false);
        let mut offered =
            if no_tool_support { Vec::new() } else { self.supervisor().toolbox().offered_tools(owner, choice).await };
        let Some(provider) = registry.find(owner, &lock.provider) else { return offered };
        let is_chosen = |tool: &OfferedTool| {
            tool.origin.as_ref().and_then(ToolOrigin::full_name).is_some_and(|name| choice.has_tool(&name))
        };
        let of_provider = provider.tools().into_iter().map(OfferedTool::from_provider);
        let own: Vec<OfferedTool> = self.provider_tools(owner, lock).into_iter().filter(is_chosen).collect();
        if own.iter().any(|tool| tool.provider_tool_name() == Some(WEB_SEARCH)) {
            // A model needs one search, and the provider's own also cites what it finds.
            let search = ToolOrigin::BuiltIn { tool: built_in::WEB_SEARCH_TOOL.to_owned() };
            offered.retain(|tool| tool.origin.as_ref() != Some(&search));
        }
        for tool in of_provider.chain(own) {
            if !offered.iter().any(|known| known.spec.name == tool.spec.name) {
                offered.push(tool);
            }
        }
        offered
    }

    /// Returns the tools that the provider of this lock offers for its model and runs itself.
    pub fn provider_tools(&self, owner: UserId, lock: &ModelLock) -> Vec<OfferedTool> {
        let provider = self.supervisor().registry().find(owner, &lock.provider);
        provider.map(|provider| provider.provider_tools(&lock.model)).unwrap_or_default()
    }

    /// Returns the tools that providers run themselves, over all selectable models, each with the names of its
    /// providers.
    pub fn provider_tool_catalog(&self, owner: UserId) -> Vec<(String, Vec<String>)> {
        let mut tools: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for model in self.supervisor().registry().models(owner) {
            for tool in self.provider_tools(owner, &model.lock) {
                if let Some(tool) = tool.provider_tool_name() {
                    tools.entry(tool.to_owned()).or_default().insert(model.provider_name.clone());
                }
            }
        }
        tools.into_iter().map(|(tool, providers)| (tool, providers.into_iter().collect())).collect()
    }

    /// Validates a choice. An unknown name is refused, unless the previous choice contains it.
    pub(crate) async fn check_tool_choice(
        &self,
        owner: UserId,
        choice: &ToolChoice,
        before: Option<&ToolChoice>,
    ) -> Result<(), ServiceError> {
        check_stored_choice(choice)?;
        let offerings = self.tools().offerings(owner).await?;
        for name in &choice.on {
            let is_kept = before.is_some_and(|before| before.on.contains(name));
            if !is_kept && !is_known(name, &offerings) {
                return Err(InvalidField::new("tools.on", MessageCode::UnknownTool.with("name", name)).into());
            }
        }
        Ok(())
    }
}

/// Returns whether a name of a choice is known. A tool that cannot be used is: it is left out with a notice.
fn is_known(name: &str, offerings: &[ToolServerOffering]) -> bool {
    match name.split_once('/') {
        Some(("provider", tool)) => !tool.is_empty(),
        Some((server, tool)) => offerings.iter().filter(|offering| offering.server == server).any(|offering| {
            tool == "*"
                || offering.tools.iter().any(|known| known.tool == tool && !known.is_closed_to_models)
                || offering.unusable.iter().any(|known| known.tool == tool)
        }),
        None => built_in::describe_all().iter().any(|known| known.tool == name),
    }
}

/// Validates the parts of a choice that do not depend on which tools exist.
pub(crate) fn check_stored_choice(choice: &ToolChoice) -> Result<(), InvalidField> {
    choice.check()?;
    for spec in &choice.client {
        let wrong = |why: CodedMessage| InvalidField::new("tools.client", why.with("name", &spec.name));
        let schema = spec.parameters.to_string();
        if spec.description.len() > limits::TOOL_DESCRIPTION_BYTES {
            return Err(wrong(MessageCode::DescriptionTooLong.with("most", limits::TOOL_DESCRIPTION_BYTES)));
        }
        if schema.len() > limits::TOOL_SCHEMA_BYTES {
            return Err(wrong(MessageCode::ParametersTooLong.with("most", limits::TOOL_SCHEMA_BYTES)));
        }
        if spec.description.contains('\0') || schema.contains("\\u0000") {
            return Err(wrong(MessageCode::ToolHasNul.into()));
        }
        check_schema(&spec.parameters).map_err(|why| wrong(MessageCode::InvalidSchema.with("reason", why)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use turnleaf_tools::toolbox::{ToolDescription, UnusableTool};

    use super::*;

    #[test]
    fn tool_that_cannot_be_used_is_known_and_one_for_views_is_not() {
        let unusable = vec![UnusableTool { tool: "odd".into(), why: "its schema is too deep".into() }];
        let (server, name) = ("files".to_owned(), "Files".to_owned());
        let of_views =
            ToolDescription { tool: "refresh".into(), is_closed_to_models: true, ..tool_search::describe(&[]) };
        let offerings = [ToolServerOffering { server, name, tools: vec![of_views], unusable }];
        for (name, expected) in [
            ("files/odd", true),
            ("files/*", true),
            ("files/other", false),
            ("files/refresh", false),
            ("other/odd", false),
            ("calculator", true),
            ("odd", false),
            ("provider/web_search", true),
            ("provider/", false),
        ] {
            assert_eq!(is_known(name, &offerings), expected, "{name}");
        }
    }
}
