//! A chat as a test holds it: a message, a script for the reply, and the turn once it is over.

use std::sync::Arc;

use futures::StreamExt;
use turnleaf::domain::{ChatId, Params, Thinking, Turn, TurnId};
use turnleaf_platform::endpoint::Api;
use turnleaf_platform::price::Price;
use turnleaf_providers::connect::connect;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider::Provider;
use turnleaf_providers::registry::Registry;
use turnleaf_run::{Cursor, Followed};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::placement::Wanted;
use turnleaf_service::turns::{StartTurn, Started};

use crate::house::{House, message};
use crate::tools::WithTools;
use crate::validator::Validator;
use crate::validator::script::Say;

/// A provider account and a model of it.
#[derive(Debug, Clone, Copy)]
pub struct At {
    pub provider: &'static str,
    pub api: Api,
    pub model: &'static str,
}

pub struct Talk {
    pub house: House,
    pub validator: Validator,
    pub chat: Option<ChatId>,
    /// The last reply.
    pub leaf: Option<TurnId>,
    /// Who answers the next message, if that is another than before: it goes to a branch of its own.
    pub next: Option<At>,
    pub thinking: Thinking,
    pub params: Params,
}

impl Talk {
    /// A server with these accounts; the first one answers.
    pub async fn new(seed: u64, accounts: &[At]) -> Self {
        Self::of(seed, accounts, |provider| Arc::new(WithTools(provider))).await
    }

    /// The same with each account's provider as this makes it.
    pub async fn of(seed: u64, accounts: &[At], made: impl Fn(Arc<dyn Provider>) -> Arc<dyn Provider>) -> Self {
        let validator = Validator::start(seed).await;
        let mut providers: Vec<(Arc<dyn Provider>, Vec<String>)> = Vec::new();
        for at in accounts {
            match providers.iter_mut().find(|(known, _)| known.id() == at.provider) {
                Some((_, models)) => models.push(at.model.to_owned()),
                None => {
                    let provider = connect(&validator.endpoint(at.provider, at.api), HttpClient::default());
                    providers.push((made(provider), vec![at.model.to_owned()]));
                }
            }
        }
        let price = |at: &At| Price {
            provider: at.provider.to_owned(),
            model: at.model.to_owned(),
            input: 3.0,
            output: 15.0,
            cache_read: None,
            cache_write: None,
        };
        let registry = Registry::of_providers(providers).with_prices(accounts.iter().map(price).collect());
        let house = House::over(tempfile::tempdir().unwrap(), registry).await;
        Self {
            house,
            validator,
            chat: None,
            leaf: None,
            next: None,
            thinking: Thinking::High,
            params: Params::default(),
        }
    }

    /// A chat with a system prompt, so that it stands before everything.
    pub async fn with_system_prompt(mut self, prompt: &str) -> Self {
        let new = turnleaf_service::chats::NewChat { system_prompt: prompt.into(), ..Default::default() };
        let (chat, _) = self.house.service.create_chat(self.house.owner, new).await.unwrap().it;
        self.chat = Some(chat.id);
        self
    }

    fn params(&self) -> Params {
        Params { thinking: Some(self.thinking), ..self.params.clone() }
    }

    /// Sends a message below the last reply; the model is told what to say.
    pub async fn begin(&mut self, text: &str, script: impl IntoIterator<Item = Say>) -> Started {
        self.validator.will_say(script);
        self.ask(text).await.unwrap()
    }

    /// Sends a message below the last reply, unless what is asked for does not fit the model.
    pub async fn ask(&mut self, text: &str) -> Result<Started, ServiceError> {
        let next = self.next.take();
        let place = Wanted {
            prev_turn_id: self.leaf,
            provider: next.map(|at| at.provider.to_owned()),
            model: next.map(|at| at.model.to_owned()),
            may_branch: next.is_some(),
            ..Wanted::default()
        };
        let request = StartTurn { chat_id: self.chat, params: self.params(), place, ..message(text) };
        let started = self.house.service.start_turn(self.house.owner, request).await?;
        self.chat = Some(started.chat.id);
        self.leaf = Some(started.assistant_turn.id);
        Ok(started)
    }

    /// As `begin`, and waits for the end.
    pub async fn say(&mut self, text: &str, script: impl IntoIterator<Item = Say>) -> Turn {
        let started = self.begin(text, script).await;
        self.house.ended(started.assistant_turn.id).await
    }

    /// Sends a message and stops the reply once it had an event of this name.
    pub async fn stop(&mut self, text: &str, script: impl IntoIterator<Item = Say>, name: &str) -> Turn {
        let id = self.begin(text, script).await.assistant_turn.id;
        let (service, owner) = (&self.house.service, self.house.owner);
        let followed = service.supervisor().follow(owner, id, Cursor::After(0)).await.unwrap().unwrap();
        let shown =
            |followed: &Result<Followed, _>| matches!(followed, Ok(Followed::Line(line)) if line.name() == name);
        assert!(followed.any(async |followed| shown(&followed)).await, "no {name} came");
        service.stop_turn(owner, id).await.unwrap()
    }

    /// Says a message in other words and goes on below its reply.
    pub async fn edit(&mut self, user_turn: TurnId, text: &str, script: impl IntoIterator<Item = Say>) -> Turn {
        self.validator.will_say(script);
        let edit = StartTurn { chat_id: self.chat, params: self.params(), ..message(text) };
        let started = self.house.service.edit_turn(self.house.owner, user_turn, edit).await.unwrap();
        self.leaf = Some(started.assistant_turn.id);
        self.house.ended(started.assistant_turn.id).await
    }

    /// Tries the last reply again and goes on below the new one.
    pub async fn again(&mut self, script: impl IntoIterator<Item = Say>) -> Turn {
        self.validator.will_say(script);
        let leaf = self.leaf.unwrap();
        let service = &self.house.service;
        let started = service.retry_turn(self.house.owner, leaf, Wanted::default(), self.params(), None).await.unwrap();
        self.leaf = Some(started.assistant_turn.id);
        self.house.ended(started.assistant_turn.id).await
    }
}
