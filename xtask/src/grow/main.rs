//! Makes a long chat in a database, row by row as the server would write them: for tests and figures of chats that nobody
//! has the time to talk. The same number is the same words. Prints the chat and its turns as JSON.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use chrono::{DateTime, TimeDelta, Utc};
use clap::Parser;
use serde_json::{Value, json};
use turnleaf::domain::branch::Frozen;
use turnleaf::domain::chat::ChatSettings;
use turnleaf::domain::{
    Author, Block, BlockState, Branch, Chat, Content, Exchange, ExchangeKind, Lock, Origin, Params, Role, Turn, TurnId,
    TurnStatus, Usage, UserId, block,
};
use turnleaf::server::platform::clock::{Clock, SystemClock};
use turnleaf::server::platform::ids;
use turnleaf::server::store::{Db, Tx, branches, chats, exchanges, turns, users};

#[derive(Parser)]
struct Arguments {
    /// The database, as `turnleaf serve` would be told it.
    #[arg(long)]
    database: String,
    /// How many turns; an odd number is rounded up, because every message has its reply.
    #[arg(long)]
    turns: i64,
    /// Who is asked: provider and model.
    #[arg(long, default_value = "demo/demo-scripted")]
    model: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match grow(&Arguments::parse()).await {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("grow: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn grow(asked: &Arguments) -> Result<Value> {
    let (provider, model) = asked.model.split_once('/').context("--model is provider/model")?;
    let db = Db::open(&asked.database).await?;
    db.migrate(None, SystemClock.now()).await?;
    let mut tx = db.begin().await?;
    let owner = users::ensure_local_owner(&mut tx, ids::mint(), SystemClock.now()).await?;
    let start = SystemClock.now() - TimeDelta::seconds(asked.turns);
    let mut chat = Long::begin(&mut tx, owner, Lock::new(provider, model), start).await?;
    for number in 0..(asked.turns + 1) / 2 {
        chat.exchange(&mut tx, number).await?;
    }
    let said = chat.end(&mut tx, asked.turns).await?;
    tx.commit().await?;
    db.close().await;
    Ok(said)
}

/// A chat that grows.
struct Long {
    owner: UserId,
    chat: Chat,
    branch: Branch,
    path: Vec<TurnId>,
    now: DateTime<Utc>,
}

impl Long {
    async fn begin(tx: &mut Tx, owner: UserId, lock: Lock, now: DateTime<Utc>) -> Result<Self> {
        let chat = Chat {
            id: ids::mint(),
            owner_id: owner,
            title: String::new(),
            system_prompt: String::new(),
            settings: ChatSettings::default(),
            default_branch_id: None,
            last_viewed_turn_id: None,
            rev: 0,
            created_at: now,
            updated_at: now,
        };
        let branch = Branch {
            id: ids::mint(),
            chat_id: chat.id,
            name: "main".into(),
            lock,
            parent_branch_id: None,
            fork_turn_id: None,
            head_turn_id: None,
            origin: Origin::Root,
            label: None,
            pinned: false,
            policy: Default::default(),
            created_at: now,
        };
        chats::insert(tx, &chat).await?;
        branches::insert(tx, &branch, &Frozen::default()).await?;
        chats::set_default_branch(tx, chat.id, branch.id).await?;
        Ok(Self { owner, chat, branch, path: Vec::new(), now })
    }

    async fn exchange(&mut self, tx: &mut Tx, number: i64) -> Result<()> {
        let mut question = self.turn(tx, Role::User, ids::mint(), &question(number)).await?;
        let exchange = Exchange {
            id: question.exchange_id,
            chat_id: self.chat.id,
            branch_id: self.branch.id,
            user_turn_id: Some(question.id),
            kind: ExchangeKind::Send,
            is_thinking_mode: false,
            params: Params::default(),
            not_sent: Vec::new(),
            client_request_id: None,
            created_at: question.created_at,
        };
        exchanges::insert(tx, self.owner, &exchange, None).await?;
        question.provider_used = None;
        turns::insert(tx, &question).await?;
        self.path.push(question.id);
        let mut reply = self.turn(tx, Role::Assistant, exchange.id, &answer(number)).await?;
        reply.provider_used = Some(self.branch.lock.provider.clone());
        reply.model_used = Some(self.branch.lock.model.clone());
        turns::insert(tx, &reply).await?;
        self.path.push(reply.id);
        Ok(())
    }

    async fn turn(
        &mut self,
        tx: &mut Tx,
        role: Role,
        exchange_id: turnleaf::domain::ExchangeId,
        text: &str,
    ) -> Result<Turn> {
        self.now += TimeDelta::seconds(1);
        let ord = chats::take_ord(tx, self.owner, self.chat.id, self.now).await?.context("the chat is gone")?;
        let block = Block {
            id: ids::mint(),
            seq: 0,
            chat_seq: block::chat_seq(ord, 0),
            author: if role == Role::User { Author::User } else { Author::Assistant },
            state: BlockState::Done,
            content: Content::text(text),
            parent_block_id: None,
            generation_id: None,
            block_metadata: Value::Null,
            created_at: self.now,
        };
        Ok(Turn {
            id: ids::mint(),
            chat_id: self.chat.id,
            ord,
            depth: i64::try_from(self.path.len())?,
            branch_id: self.branch.id,
            exchange_id,
            prev_turn_id: self.path.last().copied(),
            role,
            status: TurnStatus::Complete,
            provider_used: None,
            model_used: None,
            usage: Usage::default(),
            cost: None,
            context_tokens: None,
            error: None,
            last_event_seq: 0,
            created_at: self.now,
            started_at: None,
            completed_at: Some(self.now),
            blocks: vec![block],
            attempt: None,
        })
    }

    async fn end(self, tx: &mut Tx, asked: i64) -> Result<Value> {
        let head = *self.path.last().context("no turns were asked for")?;
        branches::set_head(tx, self.branch.id, None, head).await?;
        chats::rename(tx, self.owner, self.chat.id, &format!("A chat of {asked} turns"), true).await?;
        Ok(json!({ "chat": self.chat.id, "turns": self.path }))
    }
}

/// Every message says its own number, so that a test can look for it.
fn question(number: i64) -> String {
    format!("Question {number}: what grows in place {}?", number % 7)
}

/// Between one and six paragraphs; every fourth with code.
fn answer(number: i64) -> String {
    let mut text = format!("Answer {number}. ");
    for paragraph in 0..=(number * 5 % 6) {
        let _ = write!(
            text,
            "In place **{}** there grow {} trees, and a reader who scrolls past them sees leaves of every kind, one \
             below the other, until the path ends.\n\n",
            (number + paragraph) % 7,
            number + paragraph,
        );
    }
    if number % 4 == 3 {
        let _ = write!(text, "```rust\nfn place_{number}() -> usize {{\n    {number}\n}}\n```\n");
    }
    text
}
