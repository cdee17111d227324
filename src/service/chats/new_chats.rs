//! Initial settings of new chats: instructions for all of them, and settings for the next chat before it exists. The
//! latter belong to the new chat's draft: the message that creates the chat consumes them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::chats::{InitialChatSettings, NewChatPlan, check_system_prompt};
use crate::tools::choice::DEFAULT as DEFAULT_TOOLS;
use crate::turns::placement::PlacementRequest;
use crate::{Service, ServiceError};
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::{AccountChange, ModelParams, UserId};
use turnleaf_store::StoreError;
use turnleaf_store::accounts::settings;
use turnleaf_store::database::db::Tx;

/// The setting that holds the prompt of all new chats.
const INSTRUCTIONS: &str = "chats.instructions";
/// The setting that holds the settings of the next chat.
const NEXT: &str = "chats.next";

/// Settings of the chat that does not exist yet. `None` takes the default of new chats.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NextChat {
    #[serde(default)]
    pub system_prompt: Option<String>,
    #[serde(default)]
    pub params: ModelParams,
    #[serde(default)]
    pub tools: Option<ToolChoice>,
}

impl Service {
    /// Returns the prompt of new chats; empty when there is none.
    pub async fn instructions(&self, owner: UserId) -> Result<String, ServiceError> {
        self.setting(owner, INSTRUCTIONS).await
    }

    /// Sets the prompt of new chats. Existing chats keep theirs.
    pub async fn set_instructions(&self, owner: UserId, prompt: &str) -> Result<(), ServiceError> {
        check_system_prompt(prompt)?;
        self.set_setting(owner, INSTRUCTIONS, &json!(prompt)).await
    }

    /// Returns the settings of the next chat.
    pub async fn next_chat(&self, owner: UserId) -> Result<NextChat, ServiceError> {
        self.setting(owner, NEXT).await
    }

    /// Sets the prompt and the parameters of the next chat. A prompt equal to the instructions is stored as unset, so
    /// later changes of the instructions still apply.
    pub async fn set_next_chat(&self, owner: UserId, prompt: &str, params: ModelParams) -> Result<(), ServiceError> {
        check_system_prompt(prompt)?;
        params.validate()?;
        let system_prompt = (prompt != self.instructions(owner).await?).then(|| prompt.to_owned());
        self.change_next_chat(owner, |next| NextChat { system_prompt, params, ..next }).await
    }

    /// Chooses the tools of the next chat.
    pub async fn choose_next_chat_tools(&self, owner: UserId, choice: ToolChoice) -> Result<(), ServiceError> {
        let before = self.next_chat_tools(owner).await?;
        self.check_tool_choice(owner, &choice, Some(&before)).await?;
        let tools = (choice != self.default_tools(owner).await?).then_some(choice);
        self.change_next_chat(owner, |next| NextChat { tools, ..next }).await
    }

    /// Changes a part of the settings under a row lock, so that a concurrent change of the other part survives.
    async fn change_next_chat(
        &self,
        owner: UserId,
        change: impl FnOnce(NextChat) -> NextChat + Send,
    ) -> Result<(), ServiceError> {
        let now = self.clock().now();
        let mut tx = self.db().begin().await?;
        let next = change(parse_setting(settings::lock_for_update(&mut tx, owner, NEXT, now).await?));
        settings::put(&mut tx, owner, NEXT, &json!(next), now).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::SettingsChanged);
        Ok(())
    }

    /// Returns the tools of the next chat.
    pub async fn next_chat_tools(&self, owner: UserId) -> Result<ToolChoice, ServiceError> {
        match self.next_chat(owner).await?.tools {
            Some(tools) => Ok(tools),
            None => self.default_tools(owner).await,
        }
    }

    /// Returns the plan of the next chat, with the present settings for it.
    pub(crate) async fn plan_next_chat(
        &self,
        owner: UserId,
        wanted: &PlacementRequest,
    ) -> Result<(NextChat, NewChatPlan), ServiceError> {
        let [next, instructions, tools] =
            settings::find_several(self.db(), owner, [NEXT, INSTRUCTIONS, DEFAULT_TOOLS]).await?;
        let next: NextChat = next.map(parse_setting).unwrap_or_default();
        let settings = InitialChatSettings {
            system_prompt: match next.system_prompt.clone() {
                Some(prompt) => prompt,
                None => instructions.map(parse_setting).unwrap_or_default(),
            },
            params: next.params.clone(),
            tools: Some(next.tools.clone().unwrap_or_else(|| self.parse_default_tools(owner, tools))),
            ..InitialChatSettings::default()
        };
        let plan = self.plan_chat(owner, wanted, settings).await?;
        Ok((next, plan))
    }

    /// Consumes the settings of the next chat: the chat after it starts with the defaults. Returns the plan with the
    /// settings that were consumed.
    pub(crate) async fn take_next_chat(
        &self,
        tx: &mut Tx,
        owner: UserId,
        wanted: &PlacementRequest,
        (planned, plan): (NextChat, NewChatPlan),
    ) -> Result<NewChatPlan, ServiceError> {
        if planned == NextChat::default() {
            return Ok(plan);
        }
        // Settings that are stored after this lock belong to the chat after this one.
        let now = self.clock().now();
        let next: NextChat = parse_setting(settings::lock_for_update(tx, owner, NEXT, now).await?);
        settings::put(tx, owner, NEXT, &Value::Null, now).await?;
        if next == planned {
            return Ok(plan);
        }
        self.plan_chat(owner, wanted, self.initial_settings(owner, next).await?).await
    }

    async fn initial_settings(&self, owner: UserId, next: NextChat) -> Result<InitialChatSettings, ServiceError> {
        let system_prompt = match next.system_prompt {
            Some(prompt) => prompt,
            None => self.instructions(owner).await?,
        };
        Ok(InitialChatSettings {
            system_prompt,
            params: next.params,
            tools: next.tools,
            ..InitialChatSettings::default()
        })
    }

    /// Clears the settings of the next chat.
    pub(crate) async fn clear_next_chat(&self, tx: &mut Tx, owner: UserId) -> Result<(), StoreError> {
        settings::put(tx, owner, NEXT, &Value::Null, self.clock().now()).await
    }

    /// Returns one setting; its default when it was never set.
    pub(crate) async fn setting<T: DeserializeOwned + Default>(
        &self,
        owner: UserId,
        key: &str,
    ) -> Result<T, ServiceError> {
        let stored = settings::find(self.db(), owner, key).await?;
        Ok(stored.map(parse_setting).unwrap_or_default())
    }

    pub(crate) async fn set_setting(&self, owner: UserId, key: &str, value: &Value) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, key, value, self.clock().now()).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::SettingsChanged);
        Ok(())
    }
}

/// Parses a stored setting. A value that this version cannot read counts as unset.
fn parse_setting<T: DeserializeOwned + Default>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_default()
}
