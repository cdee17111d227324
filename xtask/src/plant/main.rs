//! Generates long chats for `cargo xtask bench` and the browser tests directly in a database, because through the API
//! every one of thousands of exchanges would send all before it to the model server. Rows are written by the store's
//! own functions, so they are like those of the product. Prints one JSON object: for each length the chat, its leaf
//! and a turn in the middle. With `--old` it writes a sample of an older schema instead, and prints an empty object.

mod legacy_database;
mod response;
mod texts;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use serde_json::{Map, Value, json};
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::{
    Author, Block, Branch, BranchOrigin, Chat, Content, Exchange, ExchangeKind, ModelLock, ModelParams, Role, Turn,
    TurnId, TurnLocation, TurnStatus, UserId,
};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids::mint;
use turnleaf_store::accounts::users;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, Tx, branches, chats};

/// After this many turns the path continues on another branch, as after an edit.
const ON_ONE_BRANCH: usize = 500;
/// Every n-th reply has another version.
const VERSIONS: usize = 20;
/// A typical length of a model's answer.
const REPLY_BYTES: usize = 650;

#[derive(Parser)]
struct Arguments {
    /// The database for the chats. A running server finds them there.
    #[arg(long, required_unless_present = "old")]
    database: Option<String>,
    /// The model that the chats are locked to.
    #[arg(long, required_unless_present = "old")]
    model: Option<String>,
    /// Write a sample database of this older schema to this file, and nothing else.
    #[arg(long, num_args = 2, value_names = ["SCHEMA", "FILE"], conflicts_with_all = ["database", "model"])]
    old: Vec<String>,
    /// For tests: one branch, replies of all lengths with their numbers, and all turn ids in the output.
    #[arg(long)]
    plain: bool,
    /// The length of the texts in bytes, with many different words.
    #[arg(long, conflicts_with = "plain")]
    text_bytes: Option<usize>,
    /// The number of turns on the path of each chat.
    lengths: Vec<usize>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match plant(&Arguments::parse()).await {
        Ok(chats) => {
            println!("{chats}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("plant: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn plant(arguments: &Arguments) -> Result<Value> {
    let (Some(database), Some(model)) = (&arguments.database, &arguments.model) else {
        let [schema, file] = arguments.old.as_slice() else { bail!("no database is named") };
        legacy_database::write_legacy_database(schema, file).await?;
        return Ok(json!({}));
    };
    let db = Db::open(database).await.with_context(|| database.clone())?;
    db.migrate(None, SystemClock.now()).await?;
    let lock = ModelLock::new("openai", model);
    let mut planted = Map::new();
    let mut tx = db.begin().await?;
    let owner = users::ensure_local_owner(&mut tx, mint(), SystemClock.now()).await?;
    tx.commit().await?;
    for &length in &arguments.lengths {
        let turn_text = TurnText { is_plain: arguments.plain, bytes: arguments.text_bytes };
        planted.insert(length.to_string(), plant_chat(&db, owner, &lock, length, turn_text).await?);
    }
    db.close().await;
    Ok(planted.into())
}

/// The texts of turns, if they differ from the default.
#[derive(Debug, Clone, Copy)]
struct TurnText {
    is_plain: bool,
    bytes: Option<usize>,
}

impl TurnText {
    /// Sets the text of exchange `n / 2` in a turn.
    fn add_block(self, turn: &mut Turn, n: usize) {
        let of_reply = turn.role == Role::Assistant;
        let text = match self.bytes {
            Some(bytes) => texts::filler_text(n + usize::from(of_reply), bytes),
            None if !self.is_plain => return,
            None if of_reply => texts::exchange_texts(n / 2).1,
            None => texts::exchange_texts(n / 2).0,
        };
        turn.blocks[0].content = Content::text(text);
    }
}

/// Creates a chat in several transactions. A single one would leave ten thousand dead versions of the chat's row,
/// unlike ten thousand sequential messages.
async fn plant_chat(db: &Db, owner: UserId, lock: &ModelLock, length: usize, turn_text: TurnText) -> Result<Value> {
    let is_plain = turn_text.is_plain;
    let mut begun = db.begin().await?;
    let mut tx = &mut begun;
    let chat = Chat { title: format!("{length} turns"), ..Chat::new(mint(), owner, SystemClock.now()) };
    chats::insert(tx, &chat).await?;
    let mut path: Vec<Turn> = Vec::with_capacity(length);
    let mut branch = start_branch(tx, &chat, lock, None).await?;
    chats::set_default_branch(tx, chat.id, branch.id).await?;
    for n in (0..length).step_by(2) {
        if n > 0 && n % ON_ONE_BRANCH == 0 {
            begun.commit().await?;
            begun = db.begin().await?;
            tx = &mut begun;
        }
        if !is_plain && n > 0 && n % ON_ONE_BRANCH == 0 {
            branch = start_branch(tx, &chat, lock, path.last()).await?;
        }
        let mut user = turn(tx, &chat, &branch, path.last(), Role::User, n).await?;
        let user_exchange = exchange(&branch, user.id, ExchangeKind::Send);
        user.exchange_id = user_exchange.id;
        turn_text.add_block(&mut user, n);
        exchanges::insert(tx, owner, &user_exchange, None).await?;
        turns::insert(tx, &user).await?;
        let mut reply = turn(tx, &chat, &branch, Some(&user), Role::Assistant, n).await?;
        reply.exchange_id = user_exchange.id;
        turn_text.add_block(&mut reply, n);
        turns::insert(tx, &reply).await?;
        // Chats of a given text length serve as the reference for imports and exports, so they store no responses.
        if !is_plain && turn_text.bytes.is_none() {
            response::store_response(tx, lock, &reply).await?;
        }
        branches::set_head(tx, branch.id, branch.head_turn_id, reply.id).await?;
        branch.head_turn_id = Some(reply.id);
        if !is_plain && n % VERSIONS == 0 {
            plant_version(tx, owner, &chat, lock, &user).await?;
        }
        path.extend([user, reply]);
    }
    let leaf = path.last().context("a chat without turns")?.id;
    chats::set_last_viewed(tx, owner, chat.id, leaf).await?;
    begun.commit().await?;
    let all: Option<Vec<TurnId>> = is_plain.then(|| path.iter().map(|turn| turn.id).collect());
    Ok(json!({ "chat": chat.id, "leaf": leaf, "middle": path[length / 2].id, "turns": all }))
}

/// Adds another reply to the same message.
async fn plant_version(tx: &mut Tx, owner: UserId, chat: &Chat, lock: &ModelLock, user: &Turn) -> Result<()> {
    let branch = start_branch(tx, chat, lock, Some(user)).await?;
    let again = exchange(&branch, user.id, ExchangeKind::Regenerate);
    exchanges::insert(tx, owner, &again, None).await?;
    let mut reply = turn(tx, chat, &branch, Some(user), Role::Assistant, 0).await?;
    reply.exchange_id = again.id;
    turns::insert(tx, &reply).await?;
    branches::set_head(tx, branch.id, None, reply.id).await?;
    Ok(())
}

async fn start_branch(tx: &mut Tx, chat: &Chat, lock: &ModelLock, from: Option<&Turn>) -> Result<Branch> {
    let branch = Branch {
        parent_branch_id: from.map(|turn| turn.branch_id),
        fork_turn_id: from.map(|turn| turn.id),
        origin: if from.is_some() { BranchOrigin::Fork } else { BranchOrigin::Root },
        ..Branch::new(mint(), chat.id, "planted", lock.clone(), SystemClock.now())
    };
    branches::insert(tx, &branch, &PromptPrefix::default()).await?;
    Ok(branch)
}

fn exchange(branch: &Branch, user: TurnId, kind: ExchangeKind) -> Exchange {
    Exchange {
        id: mint(),
        chat_id: branch.chat_id,
        branch_id: branch.id,
        user_turn_id: Some(user),
        kind,
        is_thinking_mode: false,
        params: ModelParams::default(),
        not_sent: Vec::new(),
        client_request_id: None,
        created_at: SystemClock.now(),
    }
}

async fn turn(
    tx: &mut Tx,
    chat: &Chat,
    branch: &Branch,
    prev: Option<&Turn>,
    role: Role,
    number: usize,
) -> Result<Turn> {
    let now = SystemClock.now();
    let ord = chats::allocate_ord(tx, chat.owner_id, chat.id, now).await?.context("the chat is gone")?;
    let (author, text) = match role {
        Role::User => (Author::User, format!("Question {number}: what about the next leaf of this tree?")),
        _ => (
            Author::Assistant,
            "A leaf is **where a path ends**; a branch is what leads to it. ".repeat(REPLY_BYTES / 63),
        ),
    };
    let block = Block::new(mint(), (ord, 0), author, Content::text(text), now);
    let used = (role == Role::Assistant).then(|| branch.lock.clone());
    let location = TurnLocation {
        chat_id: chat.id,
        ord,
        depth: prev.map_or(0, |prev| prev.depth + 1),
        branch_id: branch.id,
        // The caller sets the exchange.
        exchange_id: mint(),
        prev_turn_id: prev.map(|prev| prev.id),
    };
    Ok(Turn {
        status: TurnStatus::Complete,
        provider_used: used.as_ref().map(|lock| lock.provider.clone()),
        model_used: used.map(|lock| lock.model),
        completed_at: Some(now),
        blocks: vec![block],
        ..Turn::new(mint(), location, role, now)
    })
}
