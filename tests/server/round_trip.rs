//! Property test: any chat is exported and imported as the same chat. Trees of every shape, with every kind of
//! content of a turn, are planted in a database, exported, imported into another database and exported again.

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::branches::branch::{ContextPolicy, PromptPrefix};
use turnleaf::domain::documents::attachment::DOCUMENT_REF_TYPE;
use turnleaf::domain::tools::{tool, tool_output};
use turnleaf::domain::*;
use turnleaf_interchange::archive::{ArchivedBytes, ArchivedGeneration};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_store::chats::{self, chat_sources, chat_tools};
use turnleaf_store::documents::blobs;
use turnleaf_store::documents::uploads::{self, NewUpload, UploadKind};
use turnleaf_store::documents::write::{self, NewDocument, NewDocumentVersion};
use turnleaf_store::transfer::archive;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Tx, branches};

use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use crate::fake_file_reader::{FakeFileReader, PNG};
use crate::interchange::{export_archive, import_file, without_ids};
use crate::test_server::TestServer;

/// The number of trees; each is copied from every kind of database to every other.
const TREES: u32 = 7;
/// Texts that databases, JSON or Markdown have failed on.
const ODD: [&str; 10] = [
    "",
    " \n\t ",
    "e\u{301} é",
    "👩\u{200d}👩\u{200d}👧 🏴\u{e0067}\u{e007f}",
    "\u{202e}gnal\u{202c} \u{2066}שלום\u{2069}",
    "\u{feff}\u{fffd}\u{ffff}\u{10ffff}",
    "\u{1}\u{1b}[31m\u{7f}\u{85}\u{2028}\u{2029}",
    "\\u0000 \\ \" ' ; -- $1 %s {} </script>",
    "```\n~~~~\n\u{2400}\r\n",
    "树叶、分支",
];

fn word_strategy() -> impl Strategy<Value = String> {
    // The texts have no NUL, because imports remove it.
    prop_oneof!["[ -~]{0,30}", "\\PC{0,12}", any::<Index>().prop_map(|at| ODD[at.index(ODD.len())].to_owned()),]
}

fn value_strategy() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        Just(json!(-0.5e-7)),
        Just(json!("NUL \0 and \\u0000")),
        word_strategy().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((word_strategy(), inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The content of a block, as far as it does not depend on its turn.
#[derive(Debug, Clone)]
enum BlockSpec {
    Text(String, bool),
    Thinking(String, Option<String>, Option<String>, Option<u64>),
    /// The signature of the previous block.
    Signature(String),
    Tool {
        arguments: Value,
        raw: Option<String>,
        result: Value,
        call_end: usize,
        metadata: Value,
    },
    Picture(Vec<u8>, String),
    /// One of the chat's documents, whole or in part; without documents, the block is left out.
    Document(Index, Option<(u64, u64)>),
    /// A reference of which only the name is known.
    Named(String),
    Newer(Value),
}

fn block_strategy() -> impl Strategy<Value = BlockSpec> {
    prop_oneof![
        3 => (word_strategy(), any::<bool>()).prop_map(|(text, is_error)| BlockSpec::Text(text, is_error)),
        2 => (word_strategy(), optional(word_strategy()), optional(word_strategy()), optional(0..1u64 << 40))
            .prop_map(|(text, signature, title, ms)| BlockSpec::Thinking(text, signature, title, ms)),
        1 => word_strategy().prop_map(BlockSpec::Signature),
        2 => (value_strategy(), optional(word_strategy()), value_strategy(), 0..5usize, value_strategy()).prop_map(|(arguments, raw, result, call_end, metadata)| {
            BlockSpec::Tool { arguments, raw, result, call_end, metadata }
        }),
        1 => (prop::collection::vec(any::<u8>(), 0..40), word_strategy()).prop_map(|(bytes, alt)| BlockSpec::Picture(bytes, alt)),
        1 => (any::<Index>(), optional((0..5u64, 5..9u64))).prop_map(|(which, part)| BlockSpec::Document(which, part)),
        1 => word_strategy().prop_map(BlockSpec::Named),
        1 => value_strategy().prop_map(BlockSpec::Newer),
    ]
}

fn optional<S: Strategy>(of: S) -> impl Strategy<Value = Option<S::Value>> {
    prop::option::of(of)
}

#[derive(Debug, Clone)]
struct GenerationSpec {
    request: Vec<u8>,
    raw: Option<Vec<u8>>,
    is_complete: bool,
    usage: [Option<u32>; 5],
    cost: Option<u32>,
    failure: Option<String>,
}

fn call_strategy() -> impl Strategy<Value = GenerationSpec> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..60);
    // Every other request begins with a long common prefix, so that it is stored and exported as a delta.
    let sent = (any::<bool>(), bytes()).prop_map(|(is_long, own)| match is_long {
        true => [&[b'x'; 2 * limits::REQUEST_SHORT_BYTES][..], &own].concat(),
        false => own,
    });
    let of = (
        sent,
        optional(bytes()),
        any::<bool>(),
        any::<[Option<u32>; 5]>(),
        any::<Option<u32>>(),
        optional(word_strategy()),
    );
    of.prop_map(|(request, raw, is_complete, usage, cost, failure)| GenerationSpec {
        request,
        raw,
        is_complete,
        usage,
        cost,
        failure,
    })
}

/// A turn to plant: below a reply it is a message, below a message it is a reply.
#[derive(Debug, Clone)]
struct TurnSpec {
    /// An index into the turns before it.
    parent: Index,
    /// 0: a root. Up to 7: below any turn. Others: below the last turn. Above 3, it continues its parent's branch if
    /// possible.
    place: u8,
    model: usize,
    pieces: Vec<BlockSpec>,
    calls: Vec<GenerationSpec>,
    ending: usize,
    failure: String,
    /// The last call is handed over to the client that declared its tool.
    is_handed_over: bool,
    thinking: (bool, Option<Thinking>),
    word: String,
    policy: usize,
}

fn turn_strategy() -> impl Strategy<Value = TurnSpec> {
    let thinking = prop_oneof![
        any::<Index>().prop_map(|at| Thinking::LEVELS[at.index(Thinking::LEVELS.len())]),
        (1..u32::MAX).prop_map(Thinking::Budget),
    ];
    let shape = (any::<Index>(), 0..12u8, 0..3usize, 0..3usize);
    let details = (word_strategy(), word_strategy(), any::<bool>(), (any::<bool>(), optional(thinking)), 0..3usize);
    (shape, prop::collection::vec(block_strategy(), 0..5), prop::collection::vec(call_strategy(), 0..3), details)
        .prop_map(
            |((parent, place, model, ending), pieces, calls, (failure, word, is_handed_over, thinking, policy))| {
                TurnSpec {
                    parent,
                    place,
                    model,
                    pieces,
                    calls,
                    ending,
                    failure,
                    is_handed_over,
                    thinking,
                    word,
                    policy,
                }
            },
        )
}

#[derive(Debug, Clone)]
struct TreeSpec {
    title: String,
    prompt: String,
    /// The texts of each document's versions, and whether the document was made from a file.
    documents: Vec<(Vec<String>, bool)>,
    nodes: Vec<TurnSpec>,
    /// Turns that are deleted at the end, with their descendants.
    deleted: Vec<Index>,
    /// The turn at which a branch without turns forks.
    empty_branch: Option<Index>,
    default_branch: Index,
    viewed: Option<Index>,
    /// The turns below which replies are still being written during the export.
    running: Vec<Index>,
    /// The chat's choice of tools.
    tools: Option<(bool, Value)>,
}

fn tree_strategy() -> impl Strategy<Value = TreeSpec> {
    let documents = prop::collection::vec((prop::collection::vec(word_strategy(), 1..4), any::<bool>()), 0..3);
    let ends = (
        prop::collection::vec(any::<Index>(), 0..3),
        optional(any::<Index>()),
        any::<Index>(),
        optional(any::<Index>()),
        prop::collection::vec(any::<Index>(), 0..3),
        optional((any::<bool>(), value_strategy())),
    );
    (word_strategy(), word_strategy(), documents, prop::collection::vec(turn_strategy(), 0..20), ends).prop_map(
        |(title, prompt, documents, nodes, (deleted, empty_branch, default_branch, viewed, running, tools))| TreeSpec {
            title,
            prompt,
            documents,
            nodes,
            deleted,
            empty_branch,
            default_branch,
            viewed,
            running,
            tools,
        },
    )
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a tree into the database of a server.
struct TreePlanter<'t> {
    owner: UserId,
    tx: Tx,
    tree: &'t TreeSpec,
    chat: Chat,
    /// Each document with the times of its versions.
    documents: Vec<(DocumentId, Vec<DateTime<Utc>>)>,
    branches: Vec<Branch>,
    turns: Vec<Turn>,
}

/// Plants the tree as the product would have stored it, then deletes its deleted turns. Returns the chat.
async fn plant_tree(instance: &TestServer, tree: &TreeSpec) -> ChatId {
    let tx = instance.db.begin().await.unwrap();
    let params = ModelParams { top_p: Some(0.7), stop_sequences: vec![tree.prompt.clone()], ..ModelParams::default() };
    let settings = turnleaf::domain::chats::chat::ChatSettings { params, titled_by_user: true };
    let of = Chat { title: tree.title.clone(), system_prompt: tree.prompt.clone(), settings, ..chat(instance.owner) };
    let owner = instance.owner;
    let mut planting = TreePlanter { owner, tx, tree, chat: of, documents: vec![], branches: vec![], turns: vec![] };
    chats::insert(&mut planting.tx, &planting.chat).await.unwrap();
    planting.plant_documents().await;
    for node in &tree.nodes {
        planting.plant_turn(node).await;
    }
    planting.finish().await;
    let TreePlanter { tx, turns, chat, .. } = planting;
    tx.commit().await.unwrap();
    for at in tree.deleted.iter().filter(|_| !turns.is_empty()) {
        // The turn may already be deleted with another one.
        let _ = instance.service.delete_turn(owner, turns[at.index(turns.len())].id).await;
    }
    for at in &tree.running {
        let below = (!turns.is_empty()).then(|| &turns[at.index(turns.len())]);
        let below = below.filter(|turn| turn.role == Role::Assistant);
        let is_there = match below {
            Some(turn) => instance.service.turn(owner, turn.id).await.is_ok(),
            None => false,
        };
        run(instance, chat.id, below.filter(|_| is_there), &tree.prompt).await;
    }
    chat.id
}

/// Adds a question below a reply, or as a root, and a reply to it that is still being written and is the one shown.
async fn run(instance: &TestServer, chat: ChatId, below: Option<&Turn>, words: &str) {
    let first = branches::list(&instance.db, instance.owner, chat).await.unwrap().first().map(|branch| branch.id);
    let mut tx = instance.db.begin().await.unwrap();
    let on = Branch {
        name: format!("running {}", next_id::<BranchId>()),
        parent_branch_id: below.map(|turn| turn.branch_id).or(first),
        fork_turn_id: below.map(|turn| turn.id),
        origin: BranchOrigin::Fork,
        ..branch(chat)
    };
    branches::insert(&mut tx, &on, &frozen_settings()).await.unwrap();
    let mut ord = async || chats::allocate_ord(&mut tx, instance.owner, chat, next_time()).await.unwrap().unwrap();
    let (one, other) = (ord().await, ord().await);
    let mut question = turn(&on, next_id(), below, one, Role::User);
    let of = exchange(&on, question.id, None);
    exchanges::insert(&mut tx, instance.owner, &of, None).await.unwrap();
    question.exchange_id = of.id;
    question.blocks = vec![block(&question, 0, Author::User, BlockState::Done, Content::text(words))];
    turns::insert(&mut tx, &question).await.unwrap();
    let mut reply = turn(&on, of.id, Some(&question), other, Role::Assistant);
    (reply.status, reply.started_at) = (TurnStatus::Streaming, Some(next_time()));
    reply.blocks = vec![block(&reply, 0, Author::Assistant, BlockState::Open, Content::text(RUNNING))];
    turns::insert(&mut tx, &reply).await.unwrap();
    assert!(branches::set_head(&mut tx, on.id, None, reply.id).await.unwrap());
    chats::set_default_branch(&mut tx, chat, on.id).await.unwrap();
    chats::set_last_viewed(&mut tx, instance.owner, chat, reply.id).await.unwrap();
    tx.commit().await.unwrap();
}

/// The text of a reply that is still being written.
const RUNNING: &str = "Half of an answ";

impl TreePlanter<'_> {
    async fn plant_blob(&mut self, bytes: &[u8], mime: &str, kind: Option<(UploadKind, &str)>) -> String {
        let hash = sha256(bytes);
        blobs::insert_unreferenced(&mut self.tx, &hash, mime, bytes, next_time()).await.unwrap();
        if let Some((kind, name)) = kind {
            let size = (kind == UploadKind::Image).then_some((3, 2));
            let upload = NewUpload { id: next_id(), owner_id: self.owner, sha256: &hash, name, kind, size };
            uploads::put(&mut self.tx, &upload, next_time()).await.unwrap();
        }
        hash
    }

    async fn plant_documents(&mut self) {
        for (number, (versions, is_of_file)) in self.tree.documents.iter().enumerate() {
            let origin = match is_of_file {
                true => Some(
                    self.plant_blob(
                        format!("file {number} {versions:?}").as_bytes(),
                        "application/pdf",
                        Some((UploadKind::File, "a.pdf")),
                    )
                    .await,
                ),
                false => None,
            };
            let id: DocumentId = next_id();
            let title = format!("{} {number}", self.tree.title);
            let mut times: Vec<DateTime<Utc>> = Vec::new();
            for content in versions {
                let notes = vec![content.clone()];
                let version =
                    NewDocumentVersion { content, origin: origin.as_deref(), mime: "text/markdown", notes: &notes };
                let at = next_time();
                match times.last().copied() {
                    None => {
                        let new = NewDocument { id, owner_id: self.owner, title: &title, kind: "text/markdown" };
                        write::insert(&mut self.tx, &new, &version, at).await.unwrap();
                    }
                    Some(newest) => {
                        write::lock_for_update(&mut self.tx, self.owner, id, None, at).await.unwrap().unwrap();
                        write::add_version(&mut self.tx, id, &version, Some(newest), at).await.unwrap();
                    }
                }
                times.push(at);
            }
            self.documents.push((id, times));
        }
    }

    /// Returns the index of the branch for a turn of this model: its parent's branch, or a new one.
    async fn branch_for(&mut self, node: &TurnSpec, parent: Option<&Turn>) -> usize {
        let lock = ModelLock::new("scripted", ["model-a", "model-b", "gone"][node.model]);
        if let Some(parent) = parent {
            let at = self.branches.iter().position(|branch| branch.id == parent.branch_id).unwrap();
            let goes_on = self.branches[at].head_turn_id == Some(parent.id) && node.place > 3;
            // A question and its first reply are mostly on one branch; another model needs another branch.
            if goes_on && (self.branches[at].lock == lock || node.place > 5) {
                return at;
            }
        }
        let name = format!("{} {}", node.word, self.branches.len());
        let origins = [
            BranchOrigin::Fork,
            BranchOrigin::Edit,
            BranchOrigin::Regenerate,
            BranchOrigin::Concurrent,
        ];
        let policies = [ContextPolicy::Exact, ContextPolicy::SignaturesOnly, ContextPolicy::OmitCompleted];
        let before = parent.map(|parent| parent.branch_id).or(self.branches.first().map(|branch| branch.id));
        let new = Branch {
            name,
            lock,
            parent_branch_id: before,
            fork_turn_id: parent.map(|parent| parent.id),
            origin: if before.is_none() { BranchOrigin::Root } else { origins[usize::from(node.place) % 4] },
            label: Some(node.word.clone()).filter(|_| node.thinking.0),
            pinned: node.is_handed_over,
            policy: policies[node.policy],
            ..branch(self.chat.id)
        };
        let prefix = match node.model {
            0 => frozen_settings(),
            1 => PromptPrefix { system_prompt: node.word.clone(), tools: Some(Vec::new()), instructions: Vec::new() },
            _ => PromptPrefix::default(),
        };
        branches::insert(&mut self.tx, &new, &prefix).await.unwrap();
        self.branches.push(new);
        self.branches.len() - 1
    }

    async fn plant_turn(&mut self, node: &TurnSpec) {
        let is_root = node.place == 0 || self.turns.is_empty();
        let parent = match (is_root, node.place) {
            (true, _) => None,
            (false, ..=7) => Some(self.turns[node.parent.index(self.turns.len())].clone()),
            (false, _) => self.turns.last().cloned(),
        };
        let role = match &parent {
            Some(parent) if parent.role == Role::User => Role::Assistant,
            _ => Role::User,
        };
        let at = self.branch_for(node, parent.as_ref()).await;
        let on = self.branches[at].clone();
        let ord = chats::allocate_ord(&mut self.tx, self.owner, self.chat.id, next_time()).await.unwrap().unwrap();
        let mut grown = turn(&on, next_id(), parent.as_ref(), ord, role);
        let calls = if role == Role::Assistant { self.plant_reply(node, &on, &mut grown) } else { Vec::new() };
        grown.exchange_id = self.plant_exchange(node, &on, &grown, parent.as_ref()).await;
        grown.blocks = self.plant_blocks(node, &grown, parent.as_ref(), &calls).await;
        grown.last_event_seq = node.word.len() as u64;
        turns::insert(&mut self.tx, &grown).await.unwrap();
        for block in &grown.blocks {
            let Content::ToolResult { metadata, .. } = &block.content else { continue };
            for sha256 in tool_output::result_blobs(metadata) {
                blobs::reference_owned(&mut self.tx, self.owner, block.id, sha256).await.unwrap();
            }
        }
        for call in &calls {
            archive::insert_generation(&mut self.tx, call).await.unwrap();
        }
        assert!(branches::set_head(&mut self.tx, on.id, on.head_turn_id, grown.id).await.unwrap());
        self.branches[at].head_turn_id = Some(grown.id);
        self.turns.push(grown);
    }

    /// A message starts an exchange. The first reply on the same branch shares it, any other reply has its own.
    async fn plant_exchange(&mut self, node: &TurnSpec, on: &Branch, of: &Turn, parent: Option<&Turn>) -> ExchangeId {
        if let Some(parent) = parent.filter(|_| of.role == Role::Assistant) {
            let is_answered =
                self.turns.iter().any(|turn| turn.role == Role::Assistant && turn.exchange_id == parent.exchange_id);
            if parent.branch_id == on.id && !is_answered {
                return parent.exchange_id;
            }
        }
        let (user, kind) = match parent {
            Some(parent) if of.role == Role::Assistant => (parent.id, ExchangeKind::Regenerate),
            _ if node.place.is_multiple_of(2) => (of.id, ExchangeKind::Send),
            _ => (of.id, ExchangeKind::Edit),
        };
        let args = BTreeMap::from([("limit".to_owned(), node.word.clone())]);
        let code = node.thinking.0.then(|| node.failure.clone());
        let not_sent = vec![DroppedParam { param: "top_k".into(), reason: node.word.clone(), code, args }];
        let params = ModelParams { thinking: node.thinking.1, temperature: Some(0.1), ..ModelParams::default() };
        // Idempotency keys belong to the installation and are not exported.
        let of = Exchange {
            kind,
            is_thinking_mode: node.thinking.0,
            params,
            not_sent: if node.thinking.0 { not_sent } else { Vec::new() },
            ..exchange(on, user, None)
        };
        exchanges::insert(&mut self.tx, self.owner, &of, None).await.unwrap();
        of.id
    }

    /// Ends the reply and returns its calls.
    fn plant_reply(&self, node: &TurnSpec, on: &Branch, grown: &mut Turn) -> Vec<ArchivedGeneration> {
        let failure = |words: &str| Failure {
            kind: FailureKind::ALL[words.len() % FailureKind::ALL.len()],
            message: words.to_owned(),
            args: (words.len() > 3).then(|| ("provider".to_owned(), words.to_owned())).into_iter().collect(),
            retryable: words.len().is_multiple_of(2),
            retry_after_ms: (words.len() > 5).then_some(7),
            detail: (words.len() > 9).then(|| words.to_owned()),
        };
        grown.status = [TurnStatus::Complete, TurnStatus::Cancelled, TurnStatus::Error][node.ending];
        grown.error = (grown.status == TurnStatus::Error).then(|| failure(&node.failure));
        grown.provider_used = Some(on.lock.provider.clone());
        grown.model_used = Some(format!("{}-0001", on.lock.model));
        (grown.started_at, grown.completed_at) = (Some(next_time()), Some(next_time()));
        let path: Vec<Value> = grown.prev_turn_id.iter().map(|id| json!({"id": id, "as": "raw"})).collect();
        let calls: Vec<ArchivedGeneration> = (0..)
            .zip(&node.calls)
            .map(|(step, call)| {
                let [a, b, c, d, e] = call.usage.map(|count| count.map(u64::from));
                ArchivedGeneration {
                    id: next_id(),
                    turn_id: grown.id,
                    step,
                    provider: on.lock.provider.clone(),
                    api: call.is_complete.then(|| "openai_chat".to_owned()),
                    model_requested: on.lock.model.clone(),
                    model_returned: call.raw.as_ref().map(|_| on.lock.model.clone()),
                    request: ArchivedBytes(call.request.clone()),
                    request_manifest: json!({"turns": path, "not_sent": [], "said": node.word}),
                    raw_kind: if call.raw.is_some() { "sse_events" } else { "none" }.to_owned(),
                    raw_complete: call.is_complete,
                    raw: call.raw.clone().map(ArchivedBytes),
                    status: ["complete", "cancelled", "error"][call.request.len() % 3].to_owned(),
                    stop_reason: call.failure.clone(),
                    usage: Usage {
                        input_tokens: a,
                        output_tokens: b,
                        cache_read_tokens: c,
                        cache_write_tokens: d,
                        reasoning_tokens: e,
                    },
                    cost_micros: call.cost.map(u64::from),
                    cost_basis: call.cost.map(|_| CostBasis::Listed),
                    price_version: call.cost.map(|_| "of today".to_owned()),
                    error: call.failure.as_deref().map(failure),
                    first_token_at: call.raw.as_ref().map(|_| next_time()),
                    started_at: next_time(),
                    ended_at: Some(next_time()),
                }
            })
            .collect();
        grown.usage = calls.iter().map(|call| call.usage).sum();
        grown.context_tokens = calls.last().and_then(|call| call.usage.context_tokens());
        let micros = calls.iter().filter_map(|call| call.cost_micros).sum();
        grown.cost = calls.first().map(|call| Cost { micros, is_estimated: call.raw_complete });
        calls
    }

    async fn plant_blocks(
        &mut self,
        node: &TurnSpec,
        of: &Turn,
        parent: Option<&Turn>,
        calls: &[ArchivedGeneration],
    ) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let is_reply = of.role == Role::Assistant;
        let author = if is_reply { Author::Assistant } else { Author::User };
        let states = [BlockState::Done, BlockState::Failed, BlockState::Aborted];
        let add = |blocks: &mut Vec<Block>, author, content| {
            let seq = u32::try_from(blocks.len()).unwrap();
            let mut new = block(of, seq, author, states[blocks.len() % 3], content);
            new.generation_id = calls.get(blocks.len() % 4).map(|call| call.id);
            new.block_metadata = if blocks.len().is_multiple_of(2) { Value::Null } else { json!({"said": node.word}) };
            blocks.push(new);
        };
        // The result of a handed-over call is part of the client's next message.
        let handed = parent.and_then(|parent| parent.blocks.iter().find(|block| is_handed_over(block)));
        if let Some(handed) = handed.filter(|_| !is_reply) {
            add(&mut blocks, Author::Tool, result(&handed.content, json!({"text": node.word}), &Value::Null));
            blocks.last_mut().unwrap().parent_block_id = Some(handed.id);
        }
        for piece in &node.pieces {
            match piece {
                BlockSpec::Text(text, is_error) => {
                    add(&mut blocks, author, Content::Text { text: text.clone(), is_error: *is_error && is_reply });
                }
                BlockSpec::Picture(bytes, alt) => {
                    let bytes = [PNG, b"clean", bytes].concat();
                    // An image of a model was not uploaded, so it has no file name.
                    let brought = (!is_reply).then_some((UploadKind::Image, "a picture.png"));
                    let blob = self.plant_blob(&bytes, "image/png", brought).await;
                    add(&mut blocks, author, Content::Image { blob, mime: "image/png".into(), alt: alt.clone() });
                }
                BlockSpec::Newer(value) => {
                    let fields = json!({"type": "x:hologram", "depth": value, "of": node.word});
                    add(&mut blocks, author, Content::Other(fields.as_object().unwrap().clone()));
                }
                BlockSpec::Document(which, part) if !is_reply && !self.documents.is_empty() => {
                    let (document, versions) = &self.documents[which.index(self.documents.len())];
                    let (ref_id, ref_type) = (document.to_string(), DOCUMENT_REF_TYPE.to_owned());
                    let version_timestamp = Some(versions[which.index(versions.len())]);
                    add(
                        &mut blocks,
                        author,
                        match *part {
                            None => Content::Reference { ref_id, ref_type, version_timestamp },
                            Some((selection_start, selection_end)) => Content::PartialReference {
                                ref_id,
                                ref_type,
                                version_timestamp,
                                selection_start,
                                selection_end,
                            },
                        },
                    );
                }
                BlockSpec::Named(name) if !is_reply => {
                    let ref_type = if name.len() % 2 == 0 { DOCUMENT_REF_TYPE.to_owned() } else { "page".to_owned() };
                    // The reference names a document that was deleted permanently, or something else.
                    let ref_id =
                        if ref_type == DOCUMENT_REF_TYPE { next_id::<DocumentId>().to_string() } else { name.clone() };
                    add(&mut blocks, author, Content::Reference { ref_id, ref_type, version_timestamp: None });
                }
                BlockSpec::Thinking(text, signature, title, duration_ms) if is_reply => {
                    let content = Content::Thinking {
                        thinking: text.clone(),
                        signature: signature.clone(),
                        redacted: signature.clone().filter(|_| title.is_none()),
                        title: title.clone(),
                        duration_ms: *duration_ms,
                    };
                    add(&mut blocks, author, content);
                }
                BlockSpec::Signature(words) if is_reply => {
                    let attaches_to = blocks.last().map(|block| block.id);
                    add(&mut blocks, author, Content::ThinkingSignature { signature: words.clone(), attaches_to });
                }
                BlockSpec::Tool { arguments, raw, result: brought, call_end, metadata } if is_reply => {
                    use ToolStatus::{Cancelled, Denied, Done, Failed, Interrupted};
                    let tool = Content::ToolUse {
                        tool_use_id: format!("call {}", blocks.len()),
                        tool_name: "look_up".into(),
                        arguments: arguments.clone(),
                        arguments_raw: raw.clone(),
                        status: [Done, Failed, Cancelled, Denied, Interrupted][*call_end],
                        duration_ms: (*call_end > 1).then_some(4),
                    };
                    // A result names the blobs that its tool produced.
                    let metadata = match raw {
                        Some(words) => {
                            let bytes = [PNG, b"clean", words.as_bytes()].concat();
                            let blob = self.plant_blob(&bytes, "image/png", None).await;
                            &json!({"images": [{"blob": blob, "mime": "image/png", "alt": ""}]})
                        }
                        None => metadata,
                    };
                    let answer = result(&tool, brought.clone(), metadata);
                    add(&mut blocks, author, tool);
                    let call = blocks.last().unwrap().id;
                    add(&mut blocks, Author::Tool, answer);
                    blocks.last_mut().unwrap().parent_block_id = Some(call);
                }
                _ => {}
            }
        }
        if is_reply && node.is_handed_over {
            let tool = Content::ToolUse {
                tool_use_id: "handed".into(),
                tool_name: "of_the_client".into(),
                arguments: json!({"z": 1, "a": [0.1]}),
                arguments_raw: None,
                status: ToolStatus::HandedOver,
                duration_ms: None,
            };
            add(&mut blocks, author, tool);
        }
        if is_reply {
            add(&mut blocks, author, Content::text("There is something to see."));
        }
        blocks
    }

    async fn finish(&mut self) {
        if self.branches.is_empty() {
            // Nobody has written in this chat yet.
            let first = branch(self.chat.id);
            branches::insert(&mut self.tx, &first, &frozen_settings()).await.unwrap();
            self.branches.push(first);
        }
        if let Some(from) = self.tree.empty_branch.filter(|_| !self.turns.is_empty()) {
            let from = &self.turns[from.index(self.turns.len())];
            let (parent_branch_id, fork_turn_id) = (Some(from.branch_id), Some(from.id));
            let empty = Branch { parent_branch_id, fork_turn_id, ..branch(self.chat.id) };
            branches::insert(&mut self.tx, &empty, &frozen_settings()).await.unwrap();
            self.branches.push(empty);
        }
        if let Some(nodes) = self.tree.nodes.first().filter(|node| node.thinking.0) {
            // The chat was imported from another program before.
            let differences =
                vec![ImportDifference::new(ImportDifferenceKind::Lost, "a › b".into(), nodes.word.clone())];
            let (format, file) = ("chatgpt".to_owned(), "conversations.json".to_owned());
            let source = ImportOrigin { format, file, imported_at: next_time(), differences };
            chat_sources::put(&mut self.tx, self.owner, self.chat.id, &source).await.unwrap();
        }
        if let Some((is_on, parameters)) = &self.tree.tools {
            let spec = tool::ToolSpec {
                name: "of_the_client".into(),
                description: "Looks. 看".into(),
                // The database refuses NUL in the parameters.
                parameters: json!({"type": "object", "z": 1, "default": parameters.to_string().replace('\\', "/")}),
            };
            let on = if *is_on { vec!["calculator".to_owned(), "provider/web_search".into()] } else { Vec::new() };
            let choice = tool::ToolChoice { on, client: vec![spec] };
            chat_tools::put(&mut self.tx, self.owner, self.chat.id, &choice).await.unwrap();
        }
        let default = &self.branches[self.tree.default_branch.index(self.branches.len())];
        chats::set_default_branch(&mut self.tx, self.chat.id, default.id).await.unwrap();
        if let Some(viewed) = self.tree.viewed.filter(|_| !self.turns.is_empty()) {
            let turn = self.turns[viewed.index(self.turns.len())].id;
            chats::set_last_viewed(&mut self.tx, self.owner, self.chat.id, turn).await.unwrap();
        }
    }
}

fn is_handed_over(block: &Block) -> bool {
    matches!(block.content, Content::ToolUse { status: ToolStatus::HandedOver, .. })
}

/// Returns the result block of a call.
fn result(call: &Content, result: Value, metadata: &Value) -> Content {
    let Content::ToolUse { tool_use_id, tool_name, status, .. } = call else { panic!("{call:?}") };
    let (success, is_error) = (*status == ToolStatus::Done, *status == ToolStatus::Failed);
    let (tool_use_id, tool_name) = (tool_use_id.clone(), tool_name.clone());
    Content::ToolResult { tool_use_id, tool_name, result, success, is_error, metadata: metadata.clone() }
}

/// Plants the tree in each source, and imports its export from each source into each target.
async fn assert_round_trip(
    sources: &[TestServer],
    targets: &[TestServer],
    tree: &TreeSpec,
) -> Result<(), TestCaseError> {
    for source in sources {
        let chat = plant_tree(source, tree).await;
        let archive = export_archive(source, ExportScope::Chat(chat)).await;
        let all = turns::list_of_chat(&source.db, source.owner, chat, 0, 1_000).await.unwrap();
        let over = all.iter().filter(|turn| turn.status.is_terminal()).count();
        let written: Value = serde_json::from_slice(&archive).unwrap();
        let written = &written["chats"][0]["turns"];
        prop_assert_eq!((written.as_array().map(Vec::len), all.len() - over), (Some(over), tree.running.len()));
        prop_assert!(!written.to_string().contains(RUNNING));
        for target in targets {
            let report = import_file(target, "tree.json", &archive, false).await;
            prop_assert_eq!((report.imported, &report.stopped), (1, &None), "{:?}", report.findings);
            prop_assert_eq!(&report.findings, &Vec::new());
            let again = export_archive(target, ExportScope::Chat(report.chats[0].id.unwrap())).await;
            prop_assert_eq!(without_ids(&again), without_ids(&archive));
        }
    }
    Ok(())
}

#[test]
fn every_tree_round_trips_between_all_databases() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let instances = || async {
        let instances =
            TestServer::on_every_database(|| ScriptedProvider::new("scripted", Vec::new())).await.into_iter();
        let reading = |mut instance: TestServer| {
            instance.service = instance.service.clone().with_reader(Arc::new(FakeFileReader));
            instance
        };
        instances.map(reading).collect::<Vec<TestServer>>()
    };
    let (sources, targets) = runtime.block_on(async { (instances().await, instances().await) });
    let config = Config { cases: TREES, max_shrink_iters: 400, failure_persistence: None, ..Config::default() };
    let ran = TestRunner::new(config)
        .run(&tree_strategy(), |tree| runtime.block_on(assert_round_trip(&sources, &targets, &tree)));
    if let Err(error) = ran {
        panic!("{error}");
    }
    runtime.block_on(async {
        // All chats are copied at once, and every invariant holds on both sides.
        let archive = export_archive(&sources[0], ExportScope::Everything).await;
        let empty = instances().await;
        let report = import_file(&empty[0], "all.json", &archive, false).await;
        assert_eq!((report.imported, report.findings.as_slice()), (report.conversations, [].as_slice()));
        assert_eq!(without_ids(&export_archive(&empty[0], ExportScope::Everything).await), without_ids(&archive));
        for instance in sources.into_iter().chain(targets).chain(empty) {
            instance.check_invariants().await;
            instance.close().await;
        }
    });
}
