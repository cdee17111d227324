//! Measures the search time in 100,000 turns: a part of `cargo xtask bench` that is linked with Turnleaf. Turns are
//! written by the store's own functions to a separate database, with the word frequencies of natural languages; then
//! each kind of query is repeated. Prints one line of JSON about the preparation, and one for each kind of query.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::json;
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::{
    Author, Block, Branch, Chat, Content, Exchange, ExchangeKind, ModelLock, ModelParams, Role, Turn, TurnLocation,
    TurnStatus, UserId,
};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids::mint;
use turnleaf_store::accounts::users;
use turnleaf_store::search::{SearchFilter, SearchKind, TextQuery, find_items};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, Tx, branches, chats};

const TURNS_PER_CHAT: usize = 200;
/// The vocabulary; the n-th word is n times as rare as the first.
const WORDS: usize = 30_000;
const LETTERS_OF_HAN: u32 = 3_000;
/// A typical length of messages and replies.
const WORDS_PER_TURN: usize = 110;
const ROUNDS: usize = 200;

#[derive(Parser)]
struct Arguments {
    /// The URL of an empty database.
    #[arg(long)]
    database: String,
    /// The database already has the turns of an earlier run.
    #[arg(long)]
    is_planted: bool,
    #[arg(long, default_value_t = 100_000)]
    turns: usize,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match measure(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("search: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(arguments: &Arguments) -> Result<()> {
    let db = Db::open(&arguments.database).await?;
    db.migrate(None, SystemClock.now()).await?;
    let mut tx = db.begin().await?;
    let owner = users::ensure_local_owner(&mut tx, mint(), SystemClock.now()).await?;
    tx.commit().await?;
    let mut chance = CorpusRng(0x5eed);
    if !arguments.is_planted {
        let began = Instant::now();
        for _ in 0..arguments.turns.div_ceil(TURNS_PER_CHAT) {
            plant(&db, owner, &mut chance).await?;
        }
        let seconds = began.elapsed().as_secs_f64();
        println!("{}", json!({ "planted": arguments.turns, "seconds": seconds }));
    }
    type SearchCall = fn(&mut CorpusRng) -> String;
    let kinds: [(&str, SearchCall); 7] = [
        ("a rare word", |chance| word(WORDS / 2 + chance.next_below(WORDS / 2))),
        ("a common word", |chance| word(chance.next_below(5))),
        ("two Han characters", |chance| han_word(chance).chars().take(2).collect()),
        ("two words", |chance| format!("{} {}", word(chance.next_zipf()), word(chance.next_zipf()))),
        ("two common words", |chance| format!("{} {}", word(chance.next_below(20)), word(20 + chance.next_below(200)))),
        ("a beginning of a word", |chance| word(chance.next_zipf()).chars().take(3).collect()),
        ("signs", |chance| ["C++", "a-b", "100%", "foo_bar"][chance.next_below(4)].to_owned()),
    ];
    for (name, ask) in kinds {
        let mut times = Vec::with_capacity(ROUNDS);
        let mut hits = 0;
        for _ in 0..ROUNDS {
            let query = TextQuery::new(&ask(&mut chance)).map_err(|invalid| anyhow::anyhow!("{invalid:?}"))?;
            let began = Instant::now();
            let page = find_items(&db, owner, (&query, &SearchFilter::default(), &SearchKind::ALL), None, 20).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            hits += page.map_or(0, |page| page.hits.len());
        }
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or(f64::NAN);
        println!("{}", json!({ "query": name, "p50_ms": at(50), "p95_ms": at(95), "max_ms": at(99), "hits": hits }));
    }
    db.close().await;
    Ok(())
}

/// A deterministic pseudorandom number generator.
struct CorpusRng(u64);

impl CorpusRng {
    fn next_below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap_or(0)
    }

    /// Returns a word index with Zipf's distribution.
    fn next_zipf(&mut self) -> usize {
        let part = self.next_below(1_000_000) as f64 / 1e6;
        ((WORDS as f64).powf(part) as usize).saturating_sub(1)
    }
}

/// Returns the word of this index.
fn word(place: usize) -> String {
    const BEGIN: [&str; 10] = ["st", "br", "con", "pre", "m", "tr", "l", "in", "w", "gr"];
    const MIDDLE: [&str; 10] = ["a", "e", "ou", "i", "o", "ea", "u", "ai", "or", "en"];
    let mut word = String::new();
    let mut left = place + 10;
    while left > 0 {
        word.push_str(if word.len().is_multiple_of(2) { BEGIN[left % 10] } else { MIDDLE[left % 10] });
        left /= 10;
    }
    word
}

fn han_word(chance: &mut CorpusRng) -> String {
    (0..6).filter_map(|_| char::from_u32(0x4e00 + chance.next_zipf() as u32 % LETTERS_OF_HAN)).collect()
}

fn text(chance: &mut CorpusRng) -> String {
    let mut text = String::new();
    for n in 0..WORDS_PER_TURN / 2 + chance.next_below(WORDS_PER_TURN) {
        match chance.next_below(40) {
            0 => text.push_str(&han_word(chance)),
            1 if chance.next_below(20) == 0 => text.push_str(["C++", "a-b", "100%", "foo_bar"][chance.next_below(4)]),
            _ => text.push_str(&word(chance.next_zipf())),
        }
        text.push_str(if n % 12 == 11 { ". " } else { " " });
    }
    text
}

async fn plant(db: &Db, owner: UserId, chance: &mut CorpusRng) -> Result<()> {
    let now = SystemClock.now();
    let mut tx = db.begin().await?;
    let title = format!("{} {}", word(chance.next_zipf()), word(chance.next_zipf()));
    let chat = Chat { title, ..Chat::new(mint(), owner, now) };
    chats::insert(&mut tx, &chat).await?;
    let branch = Branch::new(mint(), chat.id, "planted", ModelLock::new("openai", "mock"), now);
    branches::insert(&mut tx, &branch, &PromptPrefix::default()).await?;
    let mut last: Option<Turn> = None;
    for _ in 0..TURNS_PER_CHAT {
        last = Some(append_turn(&mut tx, &chat, &branch, last.as_ref(), text(chance)).await?);
    }
    tx.commit().await?;
    Ok(())
}

async fn append_turn(tx: &mut Tx, chat: &Chat, branch: &Branch, prev: Option<&Turn>, text: String) -> Result<Turn> {
    let now = SystemClock.now();
    let ord = chats::allocate_ord(tx, chat.owner_id, chat.id, now).await?.context("the chat is gone")?;
    let id = mint();
    let exchange = Exchange {
        id: mint(),
        chat_id: chat.id,
        branch_id: branch.id,
        user_turn_id: Some(id),
        kind: ExchangeKind::Send,
        is_thinking_mode: false,
        params: ModelParams::default(),
        not_sent: Vec::new(),
        client_request_id: None,
        created_at: now,
    };
    exchanges::insert(tx, chat.owner_id, &exchange, None).await?;
    let block = Block::new(mint(), (ord, 0), Author::User, Content::text(text), now);
    let location = TurnLocation {
        chat_id: chat.id,
        ord,
        depth: prev.map_or(0, |prev| prev.depth + 1),
        branch_id: branch.id,
        exchange_id: exchange.id,
        prev_turn_id: prev.map(|prev| prev.id),
    };
    let turn = Turn {
        status: TurnStatus::Complete,
        completed_at: Some(now),
        blocks: vec![block],
        ..Turn::new(id, location, Role::User, now)
    };
    turns::insert(tx, &turn).await?;
    Ok(turn)
}
