//! Loops with Turnleaf's own tools through each API: calls that run, fail, are declined, stopped or handed to the client.
//! Every request that follows is accepted.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use serde_json::{Value, json};
use turnleaf::domain::approval::{Ask, Decision};
use turnleaf::domain::block::{ToolStatus, chat_seq};
use turnleaf::domain::{
    Author, Block, BlockState, Content, Exchange, ExchangeKind, Params, Role, Turn, TurnStatus, Usage,
};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::endpoint::Api;
use turnleaf_platform::ids;
use turnleaf_providers::connect::connect;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::registry::Registry;
use turnleaf_service::turns::placement::Wanted;
use turnleaf_store::{branches, chats, exchanges, turns};

use crate::chats::{complete, plain};
use crate::house::House;
use crate::talk::{At, Talk};
use crate::toolbox::{Does, Lab};
use crate::validator::Validator;
use crate::validator::script::{Part, Say, call, text, thinking};

const ACCOUNTS: [At; 6] = [
    At { provider: "anthropic", api: Api::Anthropic, model: "claude-sonnet-4-5" },
    At { provider: "deepseek", api: Api::OpenaiChat, model: "deepseek-v4" },
    At { provider: "responses", api: Api::OpenaiResponses, model: "gpt-5.6" },
    At { provider: "responses-kept", api: Api::OpenaiResponses, model: "gpt-5.6" },
    At { provider: "gemini", api: Api::Gemini, model: "gemini-3-pro-preview" },
    At { provider: "ollama", api: Api::Ollama, model: "qwen3:4b" },
];

fn lab() -> Lab {
    Lab::default()
        .with("look", Does::Echo)
        .with("fail", Does::Fails)
        .with("hang", Does::Hangs)
        .asking("write", Does::Gives(json!("written")))
}

async fn talk(at: At, lab: &Lab) -> Talk {
    let validator = Validator::start(7).await;
    let provider = connect(&validator.endpoint(at.provider, at.api), HttpClient::default());
    let registry = Registry::of_providers(vec![(provider, vec![at.model.to_owned()])]);
    let house = House::equipped(registry, Arc::new(lab.clone())).await;
    let chat = Some(house.chat_with(&lab.offer()).await);
    let thinking = turnleaf::domain::Thinking::High;
    Talk { house, validator, chat, leaf: None, next: None, thinking, params: Params::default() }
}

fn says(words: &str, calls: impl IntoIterator<Item = Part>) -> Say {
    Say::new([thinking("I need a tool."), text(words)].into_iter().chain(calls))
}

fn statuses(turn: &Turn) -> Vec<ToolStatus> {
    let status = |block: &Block| match &block.content {
        Content::ToolUse { status, .. } => Some(*status),
        _ => None,
    };
    turn.blocks.iter().filter_map(status).collect()
}

fn asked(turn: &Turn) -> Option<(Block, Ask)> {
    turn.blocks.iter().find_map(|block| Some((block.clone(), Ask::of(block)?)))
}

async fn everything(at: At) {
    let lab = lab();
    let mut talk = talk(at, &lab).await;
    let look = || call("lab__look", json!({ "n": 1 }));
    // Thoughts and tools in turns, one that fails beside one that does not, one that is not there.
    let steps =
        [says("Once.", [look()]), says("Twice.", [call("lab__fail", json!({})), look()]), plain("That is all.")];
    complete(&talk.say("Go", steps).await);
    // Declined with a reason, then allowed.
    for decision in [Decision::Deny, Decision::Allow] {
        let script = [says("May I?", [call("lab__write", json!({ "a": 1 })), look()]), plain("So be it.")];
        let id = talk.begin("Write", script).await.assistant_turn.id;
        let turn = talk.house.until(id, |turn| asked(turn).is_some()).await;
        let (call, ask) = asked(&turn).unwrap();
        let (service, owner) = (&talk.house.service, talk.house.owner);
        service.decide(owner, id, call.id, &ask.hash, decision, Some("not that file".into())).await.unwrap();
        complete(&talk.house.ended(id).await);
    }
    // One call stopped, then the whole reply.
    let script = [says("This takes long.", [call("lab__hang", json!({})), look()]), plain("Stopped, then.")];
    let id = talk.begin("Hang", script).await.assistant_turn.id;
    let hangs = |turn: &Turn| statuses(turn) == [ToolStatus::Running, ToolStatus::Done];
    let turn = talk.house.until(id, hangs).await;
    let hung = turn.blocks.iter().find(|block| matches!(block.content, Content::ToolUse { .. })).unwrap();
    talk.house.service.stop_call(talk.house.owner, id, hung.id).await.unwrap();
    complete(&talk.house.ended(id).await);
    let id = talk.begin("Hang again", [says("As you like.", [call("lab__hang", json!({})), look()])]).await;
    let id = id.assistant_turn.id;
    talk.house.until(id, hangs).await;
    talk.house.service.stop_turn(talk.house.owner, id).await.unwrap();
    complete(&talk.say("And now?", [plain("Nothing.")]).await);
    // Handed over, and never answered.
    let handed = talk.say("Yours", [says("Yours.", [call("client_tool", json!({})), look()])]).await;
    assert_eq!(statuses(&handed), [ToolStatus::HandedOver, ToolStatus::Done]);
    complete(&talk.say("Never mind", [plain("Very well.")]).await);
    // Handed over, and answered by the client: with words beside the result, and without.
    for words in [Some("Here it is."), None] {
        let handed = talk.say("Yours again", [says("Yours.", [call("client_tool", json!({})), look()])]).await;
        complete(&handed);
        talk.validator.will_say([says("I go on.", [look()]), plain("Thanks.")]);
        complete(&answered(&mut talk, &handed, words).await);
        complete(&talk.say("Bye", [plain("Bye.")]).await);
    }
    talk.house.check().await;
    talk.validator.accepted();
}

/// The reply to a message of the client that brings the result of its call.
async fn answered(talk: &mut Talk, reply: &Turn, words: Option<&str>) -> Turn {
    let (house, owner) = (&talk.house, talk.house.owner);
    let now = SystemClock.now();
    let called = reply.blocks.iter().find_map(|block| match &block.content {
        Content::ToolUse { tool_use_id, tool_name, status: ToolStatus::HandedOver, .. } => {
            Some((block.id, tool_use_id.clone(), tool_name.clone()))
        }
        _ => None,
    });
    let (call, tool_use_id, tool_name) = called.unwrap();
    let result = Content::ToolResult {
        tool_use_id,
        tool_name,
        result: json!({ "from": "the client" }),
        success: true,
        is_error: false,
        metadata: Value::Null,
    };
    let mut tx = house.db.begin().await.unwrap();
    let ord = chats::take_ord(&mut tx, owner, reply.chat_id, now).await.unwrap().unwrap();
    let exchange = Exchange {
        id: ids::mint(),
        chat_id: reply.chat_id,
        branch_id: reply.branch_id,
        user_turn_id: None,
        kind: ExchangeKind::Send,
        is_thinking_mode: true,
        params: Params::default(),
        not_sent: Vec::new(),
        client_request_id: None,
        created_at: now,
    };
    let contents = [Some((result, Some(call))), words.map(|words| (Content::text(words), None))];
    let block = |(seq, (content, parent_block_id)): (u32, (Content, _))| Block {
        id: ids::mint(),
        seq,
        chat_seq: chat_seq(ord, seq),
        author: Author::User,
        state: BlockState::Done,
        content,
        parent_block_id,
        generation_id: None,
        block_metadata: Value::Null,
        created_at: now,
    };
    let message = Turn {
        id: ids::mint(),
        ord,
        depth: reply.depth + 1,
        exchange_id: exchange.id,
        prev_turn_id: Some(reply.id),
        role: Role::User,
        status: TurnStatus::Complete,
        provider_used: None,
        model_used: None,
        usage: Usage::default(),
        cost: None,
        context_tokens: None,
        error: None,
        last_event_seq: 0,
        created_at: now,
        started_at: None,
        completed_at: Some(now),
        blocks: (0..).zip(contents.into_iter().flatten()).map(block).collect(),
        ..reply.clone()
    };
    let exchange = Exchange { user_turn_id: Some(message.id), ..exchange };
    exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &message).await.unwrap();
    assert!(branches::set_head(&mut tx, reply.branch_id, Some(reply.id), message.id).await.unwrap());
    tx.commit().await.unwrap();
    let place = Wanted::default();
    let params = Params { thinking: Some(talk.thinking), ..Params::default() };
    let started = house.service.retry_turn(owner, message.id, place, params, None).await.unwrap();
    talk.leaf = Some(started.assistant_turn.id);
    talk.house.ended(started.assistant_turn.id).await
}

#[tokio::test]
async fn whatever_becomes_of_a_call_the_next_request_is_accepted() {
    join_all(ACCOUNTS.map(|at| everything(at).boxed_local())).await;
}
