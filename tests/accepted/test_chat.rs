//! A chat as the tests use it: a message, a script for the reply, and the turn once it has ended.

use std::sync::Arc;

use futures::StreamExt;
use turnleaf::domain::{ChatId, ModelParams, Thinking, Turn, TurnId};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_platform::price::ModelPrice;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider::Provider;
use turnleaf_providers::provider_factory::create_provider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_run::{EventCursor, FollowerItem};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

use crate::test_server::{TestServer, message_to_send};
use crate::tool_providers::ProviderWithTools;
use crate::validator::ProviderValidator;
use crate::validator::script::ScriptedReply;

/// A provider account and one of its models.
#[derive(Debug, Clone, Copy)]
pub struct ModelAccount {
    pub provider: &'static str,
    pub api: ProviderApi,
    pub model: &'static str,
}

pub struct TestChat {
    pub instance: TestServer,
    pub validator: ProviderValidator,
    pub chat: Option<ChatId>,
    /// The last reply, below which the next message is sent.
    pub leaf: Option<TurnId>,
    /// The account that answers the next message on a new branch; without it, the branch continues.
    pub next: Option<ModelAccount>,
    pub thinking: Thinking,
    pub params: ModelParams,
}

impl TestChat {
    /// Starts a server with these accounts, of which the first answers.
    pub async fn new(seed: u64, accounts: &[ModelAccount]) -> Self {
        Self::with_provider_wrapper(seed, accounts, |provider| Arc::new(ProviderWithTools(provider))).await
    }

    /// Like [`Self::new`], with each provider wrapped by `made`.
    pub async fn with_provider_wrapper(
        seed: u64,
        accounts: &[ModelAccount],
        made: impl Fn(Arc<dyn Provider>) -> Arc<dyn Provider>,
    ) -> Self {
        let validator = ProviderValidator::start(seed).await;
        let mut providers: Vec<(Arc<dyn Provider>, Vec<String>)> = Vec::new();
        for at in accounts {
            match providers.iter_mut().find(|(known, _)| known.id() == at.provider) {
                Some((_, models)) => models.push(at.model.to_owned()),
                None => {
                    let provider = create_provider(&validator.endpoint(at.provider, at.api), HttpClient::default());
                    providers.push((made(provider), vec![at.model.to_owned()]));
                }
            }
        }
        let price = |at: &ModelAccount| ModelPrice {
            provider: at.provider.to_owned(),
            model: at.model.to_owned(),
            input: 3.0,
            output: 15.0,
            cache_read: None,
            cache_write: None,
        };
        let registry = ProviderRegistry::from_providers(providers).with_prices(accounts.iter().map(price).collect());
        let instance = TestServer::with_registry(tempfile::tempdir().unwrap(), registry).await;
        Self {
            instance,
            validator,
            chat: None,
            leaf: None,
            next: None,
            thinking: Thinking::High,
            params: ModelParams::default(),
        }
    }

    /// Creates the chat with a system prompt, which precedes all messages.
    pub async fn with_system_prompt(mut self, prompt: &str) -> Self {
        let new = turnleaf_service::chats::NewChat { system_prompt: prompt.into(), ..Default::default() };
        let (chat, _) = self.instance.service.create_chat(self.instance.owner, new).await.unwrap().value;
        self.chat = Some(chat.id);
        self
    }

    fn params(&self) -> ModelParams {
        ModelParams { thinking: Some(self.thinking), ..self.params.clone() }
    }

    /// Sends a message below the last reply, whose answer follows the script.
    pub async fn start_reply(
        &mut self,
        text: &str,
        script: impl IntoIterator<Item = ScriptedReply>,
    ) -> AcceptedExchange {
        self.validator.push_script(script);
        self.try_start_reply(text).await.unwrap()
    }

    /// Sends a message below the last reply. Errors: the service refuses parameters that do not fit the model.
    pub async fn try_start_reply(&mut self, text: &str) -> Result<AcceptedExchange, ServiceError> {
        let next = self.next.take();
        let place = PlacementRequest {
            prev_turn_id: self.leaf,
            provider: next.map(|at| at.provider.to_owned()),
            model: next.map(|at| at.model.to_owned()),
            may_branch: next.is_some(),
            ..PlacementRequest::default()
        };
        let request = TurnRequest { chat_id: self.chat, params: self.params(), place, ..message_to_send(text) };
        let started = self.instance.service.start_turn(self.instance.owner, request).await?;
        self.chat = Some(started.chat.id);
        self.leaf = Some(started.assistant_turn.id);
        Ok(started)
    }

    /// Like [`Self::start_reply`], and waits for the end of the reply.
    pub async fn send_and_wait(&mut self, text: &str, script: impl IntoIterator<Item = ScriptedReply>) -> Turn {
        let started = self.start_reply(text, script).await;
        self.instance.wait_until_ended(started.assistant_turn.id).await
    }

    /// Sends a message and stops its reply after the first event of this name.
    pub async fn send_and_stop(
        &mut self,
        text: &str,
        script: impl IntoIterator<Item = ScriptedReply>,
        name: &str,
    ) -> Turn {
        let id = self.start_reply(text, script).await.assistant_turn.id;
        let (service, owner) = (&self.instance.service, self.instance.owner);
        let followed = service.supervisor().follow(owner, id, EventCursor::After(0)).await.unwrap().unwrap();
        let shown = |followed: &Result<FollowerItem, _>| matches!(followed, Ok(FollowerItem::Line(line)) if line.name() == name);
        assert!(followed.any(async |followed| shown(&followed)).await, "no {name} came");
        service.stop_turn(owner, id).await.unwrap()
    }

    /// Edits a message; the chat continues below the new reply.
    pub async fn edit_and_wait(
        &mut self,
        user_turn: TurnId,
        text: &str,
        script: impl IntoIterator<Item = ScriptedReply>,
    ) -> Turn {
        self.validator.push_script(script);
        let edit = TurnRequest { chat_id: self.chat, params: self.params(), ..message_to_send(text) };
        let started = self.instance.service.edit_turn(self.instance.owner, user_turn, edit).await.unwrap();
        self.leaf = Some(started.assistant_turn.id);
        self.instance.wait_until_ended(started.assistant_turn.id).await
    }

    /// Retries the last reply; the chat continues below the new one.
    pub async fn retry_and_wait(&mut self, script: impl IntoIterator<Item = ScriptedReply>) -> Turn {
        self.validator.push_script(script);
        let leaf = self.leaf.unwrap();
        let service = &self.instance.service;
        let started = service
            .retry_turn(self.instance.owner, leaf, PlacementRequest::default(), self.params(), None)
            .await
            .unwrap();
        self.leaf = Some(started.assistant_turn.id);
        self.instance.wait_until_ended(started.assistant_turn.id).await
    }
}
