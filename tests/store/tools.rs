//! Tools in the store: servers, offered tools, approval policies, the tool choice of a chat, and the bytes of
//! results. The owner reads back what was written, and other users cannot.

use serde_json::json;
use turnleaf::domain::tools::approval::ToolApprovalPolicy;
use turnleaf::domain::tools::tool::{OfferedTool, ToolChoice, ToolSpec};
use turnleaf::domain::tools::view_call::{ViewCall, ViewCallEnd, ViewCallOutcome};
use turnleaf::domain::*;
use turnleaf_store::accounts::users;
use turnleaf_store::chats::{self, chat_tools};
use turnleaf_store::documents::blobs;
use turnleaf_store::tools::listings::{self, ListedTool};
use turnleaf_store::tools::server_policies::{self, ServerPolicy};
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};
use turnleaf_store::tools::tool_servers::{self, StoredToolServer, ToolServerSettings};
use turnleaf_store::tools::tool_sign_ins::{self, StoredSignIn, StoredTokens};
use turnleaf_store::tools::view_calls::{self, NewViewCall};
use turnleaf_store::turns::{self, blocks, exchanges};
use turnleaf_store::{Db, StoreError, branches};
use uuid::Uuid;

use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use crate::{damage, databases};

/// Creates the local owner and another account.
async fn two_owners(db: &Db) -> (UserId, UserId) {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    (owner, next_id())
}

fn server(owner: UserId, slug: &str) -> StoredToolServer {
    StoredToolServer {
        id: next_id(),
        owner_id: owner,
        slug: slug.into(),
        name: "Files".into(),
        url: "https://files.example/mcp".into(),
        sealed_headers: Some("sealed".into()),
        settings: ToolServerSettings {
            header_names: vec!["authorization".into()],
            local_network: true,
            ..ToolServerSettings::default()
        },
        is_enabled: true,
        created_at: next_time(),
        updated_at: next_time(),
    }
}

#[tokio::test]
async fn server_is_stored_changed_and_removed_by_its_owner() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let mut files = server(owner, "files");
        let mut tx = db.begin().await.unwrap();
        tool_servers::insert(&mut tx, &files).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = db.begin().await.unwrap();
        let twice = tool_servers::insert(&mut tx, &server(owner, "files")).await;
        assert!(matches!(twice, Err(StoreError::NotUnique)), "{twice:?}");
        tx.rollback().await.unwrap();
        assert_eq!(tool_servers::list(db, owner).await.unwrap(), [files.clone()]);
        assert_eq!(tool_servers::find(db, owner, "files").await.unwrap(), Some(files.clone()));
        assert_eq!(tool_servers::find(db, other, "files").await.unwrap(), None);
        assert_eq!(tool_servers::list(db, other).await.unwrap(), []);

        files.name = "More files".into();
        files.sealed_headers = None;
        files.settings = ToolServerSettings::default();
        files.is_enabled = false;
        let foreign = StoredToolServer { owner_id: other, ..files.clone() };
        let mut tx = db.begin().await.unwrap();
        assert!(!tool_servers::update(&mut tx, &foreign).await.unwrap());
        assert!(tool_servers::update(&mut tx, &files).await.unwrap());
        assert!(!tool_servers::delete(&mut tx, other, files.id).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(tool_servers::find(db, owner, "files").await.unwrap(), Some(files.clone()));
        let mut tx = db.begin().await.unwrap();
        assert!(tool_servers::delete(&mut tx, owner, files.id).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(tool_servers::list(db, owner).await.unwrap(), []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn offered_tools_are_stored_verbatim() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let tool = |name: &str| ListedTool {
            tool: name.into(),
            title: "Löschen 削除".into(),
            description: "</script>\u{202e}".into(),
            schema: json!({ "z": 1.0, "a": [1e3, null], "type": "object" }),
            hints: vec!["read only".into()],
            icon: None,
            view: None,
            is_closed_to_views: false,
            is_closed_to_models: false,
        };
        let mut tx = db.begin().await.unwrap();
        listings::put(&mut tx, owner, "files", (&[tool("old")], "Read first."), next_time()).await.unwrap();
        listings::put(&mut tx, owner, "files", (&[tool("read"), tool("../x")], "Read \"first\"."), next_time())
            .await
            .unwrap();
        listings::put(&mut tx, owner, "a", (&[], ""), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let all = listings::list(db, owner).await.unwrap();
        assert_eq!(all.iter().map(|listing| listing.server.as_str()).collect::<Vec<_>>(), ["a", "files"]);
        assert_eq!(all[1].tools, [tool("read"), tool("../x")]);
        assert_eq!(all[1].tools[0].schema.to_string(), tool("read").schema.to_string());
        assert_eq!(listings::list(db, other).await.unwrap(), []);
        assert_eq!((all[1].instructions.as_str(), all[1].offers_instructions), ("Read \"first\".", true));
        let mut tx = db.begin().await.unwrap();
        listings::set_offers_instructions(&mut tx, owner, "files", false).await.unwrap();
        listings::set_offers_instructions(&mut tx, owner, "new", false).await.unwrap();
        listings::put(&mut tx, owner, "files", (&all[1].tools, "Read."), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let switched = listings::list(db, owner).await.unwrap();
        let offers = |listing: &listings::ToolListing| (listing.instructions.clone(), listing.offers_instructions);
        assert_eq!(offers(&switched[1]), ("Read.".to_owned(), false), "a new listing keeps the switch");
        assert_eq!(switched[1].listed_at, all[1].listed_at, "the same tools are not a new listing");
        assert_eq!((offers(&switched[2]), switched[2].tools.len()), ((String::new(), false), 0));
        assert_eq!(switched[2].listed_at, chrono::DateTime::UNIX_EPOCH, "it has listed nothing");
        let mut tx = db.begin().await.unwrap();
        listings::clear(&mut tx, owner, "files").await.unwrap();
        tx.commit().await.unwrap();
        let cleared = listings::list(db, owner).await.unwrap();
        assert_eq!((offers(&cleared[1]), cleared[1].tools.len()), ((String::new(), false), 0), "the switch stays");
        let mut tx = db.begin().await.unwrap();
        listings::delete(&mut tx, owner, "new").await.unwrap();
        listings::put(&mut tx, owner, "files", (&all[1].tools, "Read \"first\"."), all[1].listed_at).await.unwrap();
        listings::set_offers_instructions(&mut tx, owner, "files", true).await.unwrap();
        listings::delete(&mut tx, other, "files").await.unwrap();
        listings::delete(&mut tx, owner, "a").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(listings::list(db, owner).await.unwrap(), all[1..]);
        fresh.close().await;
    }
}

/// Creates a chat with its first branch.
async fn create_chat(db: &Db, owner: UserId) -> (Chat, Branch) {
    let (chat, mut tx) = (chat(owner), db.begin().await.unwrap());
    let branch = branch(chat.id);
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    chats::set_default_branch(&mut tx, chat.id, branch.id).await.unwrap();
    tx.commit().await.unwrap();
    (chat, branch)
}

#[tokio::test]
async fn new_policy_replaces_previous_one() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let ((one, _), (two, _)) = (create_chat(db, owner).await, create_chat(db, owner).await);
        let (one, two) = (one.id, two.id);
        let mut tx = db.begin().await.unwrap();
        for (chat, tool, policy, hash) in [
            (None, "read", ToolApprovalPolicy::Allow, Some("h1")),
            (None, "read", ToolApprovalPolicy::Never, None),
            (Some(one), "read", ToolApprovalPolicy::Allow, Some("h1")),
            (Some(one), "read", ToolApprovalPolicy::Allow, Some("h2")),
            (Some(two), "read", ToolApprovalPolicy::Allow, None),
            (None, "write", ToolApprovalPolicy::Ask, None),
        ] {
            let schema_hash = hash.map(str::to_owned);
            let (server, tool) = ("files".to_owned(), tool.to_owned());
            let stored = StoredPolicy { chat, server, tool, host: None, policy, schema_hash };
            tool_policies::put(&mut tx, owner, &stored, next_time()).await.unwrap();
        }
        tx.commit().await.unwrap();
        let list_policies = |chat| async move {
            let policies = tool_policies::list_for_tool(db, owner, chat, "files", "read").await.unwrap();
            policies
                .into_iter()
                .map(|policies| (policies.chat, policies.policy, policies.schema_hash))
                .collect::<Vec<_>>()
        };
        let of_one =
            [(None, ToolApprovalPolicy::Never, None), (Some(one), ToolApprovalPolicy::Allow, Some("h2".to_owned()))];
        assert_eq!(list_policies(one).await, of_one);
        assert_eq!(
            list_policies(two).await,
            [(None, ToolApprovalPolicy::Never, None), (Some(two), ToolApprovalPolicy::Allow, None)]
        );
        assert_eq!(tool_policies::list_for_tool(db, other, one, "files", "read").await.unwrap(), []);
        assert_eq!(tool_policies::list_for_tool(db, owner, one, "", "read").await.unwrap(), []);
        assert_eq!(tool_policies::list(db, owner).await.unwrap().len(), 4);
        assert_eq!(tool_policies::list(db, other).await.unwrap(), []);

        let mut tx = db.begin().await.unwrap();
        tool_policies::delete_grants(&mut tx, other, "files", "read").await.unwrap();
        tool_policies::delete_of_server(&mut tx, other, "files").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(tool_policies::list(db, owner).await.unwrap().len(), 4);
        let mut tx = db.begin().await.unwrap();
        tool_policies::delete_grants(&mut tx, owner, "files", "read").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(list_policies(one).await, of_one[..1]);
        let mut tx = db.begin().await.unwrap();
        tool_policies::delete_of_tool(&mut tx, other, "files", "read").await.unwrap();
        tool_policies::delete_of_tool(&mut tx, owner, "files", "gone").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(list_policies(one).await, of_one[..1]);
        let mut tx = db.begin().await.unwrap();
        tool_policies::delete_of_tool(&mut tx, owner, "files", "read").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(list_policies(one).await, []);
        let mut tx = db.begin().await.unwrap();
        tool_policies::delete_of_server(&mut tx, owner, "files").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(tool_policies::list(db, owner).await.unwrap(), []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn server_policy_is_replaced_deleted_and_private_to_its_owner() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let policy = |server: &str, policy, seen: &[(&str, &str)]| ServerPolicy {
            server: server.into(),
            policy,
            seen: seen.iter().map(|(tool, hash)| ((*tool).to_owned(), (*hash).to_owned())).collect(),
        };
        let allow = policy("files", ToolApprovalPolicy::Allow, &[("read", "h1"), ("../x", "h2")]);
        let never = policy("web", ToolApprovalPolicy::Never, &[]);
        let mut tx = db.begin().await.unwrap();
        for stored in [&policy("files", ToolApprovalPolicy::Ask, &[]), &allow, &never] {
            server_policies::put(&mut tx, owner, stored, next_time()).await.unwrap();
        }
        server_policies::delete(&mut tx, other, "web").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(server_policies::list(db, owner).await.unwrap(), [allow.clone(), never.clone()]);
        assert_eq!(server_policies::list(db, other).await.unwrap(), []);
        assert!(allow.allows("read", "h1") && !allow.allows("read", "h2") && !allow.allows("new", "h1"));
        let mut tx = db.begin().await.unwrap();
        server_policies::delete(&mut tx, owner, "files").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(server_policies::list(db, owner).await.unwrap(), [never]);
        fresh.close().await;
    }
}

/// A row that cannot be read refuses (fail closed), and allows nothing.
#[tokio::test]
async fn unreadable_server_policy_refuses() {
    let fresh = databases::empty_sqlite().await;
    fresh.db.migrate(None, databases::noon()).await.unwrap();
    let db = &fresh.db;
    let (owner, _) = two_owners(db).await;
    let seen = [("read".to_owned(), "h".to_owned())].into();
    let allow = ServerPolicy { server: "files".into(), policy: ToolApprovalPolicy::Allow, seen };
    for (column, expected) in [("policy", ToolApprovalPolicy::Never), ("seen", ToolApprovalPolicy::Allow)] {
        let mut tx = db.begin().await.unwrap();
        server_policies::put(&mut tx, owner, &allow, next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let text = format!(
            "PRAGMA ignore_check_constraints = ON; UPDATE server_policies SET {column} = CAST(X'ff00fe' AS TEXT); \
             PRAGMA ignore_check_constraints = OFF"
        );
        damage::sql(db, text).await;
        let stored = server_policies::list(db, owner).await.unwrap();
        assert_eq!((stored[0].policy, stored[0].allows("read", "h")), (expected, false), "{column}");
    }
    fresh.close().await;
}

#[tokio::test]
async fn chat_keeps_its_choice_and_branch_gets_other_tools() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let (chat, branch) = create_chat(db, owner).await;
        let spec = ToolSpec {
            name: "look_up".into(),
            description: "Looks up.".into(),
            parameters: json!({ "type": "object", "b": 1, "a": 2 }),
        };
        let choice = ToolChoice { on: vec!["files/*".into()], client: vec![spec.clone()] };
        assert_eq!(chat_tools::find(db, owner, chat.id).await.unwrap(), None);
        let mut tx = db.begin().await.unwrap();
        assert!(!chat_tools::put(&mut tx, other, chat.id, &choice).await.unwrap());
        assert!(chat_tools::put(&mut tx, owner, chat.id, &ToolChoice::default()).await.unwrap());
        assert!(chat_tools::put(&mut tx, owner, chat.id, &choice).await.unwrap());
        let empty = branches::list_empty(&mut tx, chat.id).await.unwrap();
        assert_eq!(empty, [(branch.id, branch.lock.clone())]);
        let tools = [OfferedTool::from_provider(spec)];
        assert!(branches::set_tools(&mut tx, branch.id, &tools).await.unwrap());
        tx.commit().await.unwrap();
        let stored = chat_tools::find(db, owner, chat.id).await.unwrap().unwrap();
        assert_eq!(stored.client[0].parameters.to_string(), choice.client[0].parameters.to_string());
        assert_eq!(stored, choice);
        assert_eq!(chat_tools::find(db, other, chat.id).await.unwrap(), None);
        assert_eq!(branches::frozen(db, branch.id).await.unwrap().unwrap().tools.unwrap(), tools);
        fresh.close().await;
    }
}

/// Creates a message with this text, and optionally a tool result.
async fn create_message(db: &Db, (chat, branch): (&Chat, &Branch), text: &str, call: Option<BlockId>) -> Turn {
    let mut turn = turn(branch, next_id(), None, 1, Role::User);
    turn.blocks = vec![block(&turn, 0, Author::User, BlockState::Done, Content::text(text))];
    if let Some(call) = call {
        let content = Content::ToolResult {
            tool_use_id: "c".into(),
            tool_name: "f".into(),
            result: json!("done"),
            success: true,
            is_error: false,
            metadata: json!(null),
        };
        let result = block(&turn, 1, Author::User, BlockState::Done, content);
        turn.blocks.push(Block { parent_block_id: Some(call), ..result });
    }
    let exchange = Exchange { id: turn.exchange_id, ..exchange(branch, turn.id, None) };
    let mut tx = db.begin().await.unwrap();
    turn.ord = chats::allocate_ord(&mut tx, chat.owner_id, chat.id, next_time()).await.unwrap().unwrap();
    for (at, block) in turn.blocks.iter_mut().enumerate() {
        block.chat_seq = turnleaf::domain::blocks::block::chat_seq(turn.ord, at as u32);
    }
    exchanges::insert(&mut tx, chat.owner_id, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &turn).await.unwrap();
    tx.commit().await.unwrap();
    turn
}

#[tokio::test]
async fn bytes_are_readable_by_readers_of_referencing_block() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let (chat, branch) = create_chat(db, owner).await;
        let message = create_message(db, (&chat, &branch), "see", None).await;
        let hash = "a".repeat(64);
        let block = message.blocks[0].id.uuid();
        put_blob(db, block, &hash).await;
        let blob = blobs::find(db, owner, &hash).await.unwrap().unwrap();
        assert_eq!((blob.mime.as_str(), &blob.bytes[..]), ("image/png", &b"bytes"[..]));
        assert_eq!(blobs::find(db, other, &hash).await.unwrap(), None);
        assert_eq!(blobs::find(db, owner, &"b".repeat(64)).await.unwrap(), None);

        let mut tx = db.begin().await.unwrap();
        assert_eq!(blocks::count_results(&mut tx, message.blocks[0].id).await.unwrap(), 0);
        tx.rollback().await.unwrap();
        create_message(db, (&chat, &branch), "answer", Some(message.blocks[0].id)).await;
        let mut tx = db.begin().await.unwrap();
        assert_eq!(blocks::count_results(&mut tx, message.blocks[0].id).await.unwrap(), 1);
        tx.rollback().await.unwrap();
        fresh.close().await;
    }
}

#[tokio::test]
async fn calls_of_views_are_stored_before_their_end_and_up_to_limit() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let (chat, branch) = create_chat(db, owner).await;
        let block = create_message(db, (&chat, &branch), "see", None).await.blocks[0].id;
        let call = |block| NewViewCall {
            id: next_id(),
            block,
            tool: "refresh",
            arguments: "{\"day\":1}",
            began_at: next_time(),
        };
        let (first, second) = (call(block), call(block));
        let mut tx = db.begin().await.unwrap();
        assert!(view_calls::begin(&mut tx, owner, first, 2).await.unwrap());
        assert!(!view_calls::begin(&mut tx, other, call(block), 2).await.unwrap());
        assert!(!view_calls::begin(&mut tx, owner, call(next_id()), 2).await.unwrap());
        assert!(view_calls::begin(&mut tx, owner, second, 2).await.unwrap());
        assert!(!view_calls::begin(&mut tx, owner, call(block), 2).await.unwrap());
        let done = ViewCallEnd { outcome: ViewCallOutcome::Done, result: "rain".into(), at: next_time() };
        let failed = ViewCallEnd { outcome: ViewCallOutcome::Failed, result: "a\0".into(), at: next_time() };
        view_calls::end(&mut tx, other, second.id, &failed).await.unwrap();
        view_calls::end(&mut tx, owner, first.id, &done).await.unwrap();
        view_calls::end(&mut tx, owner, first.id, &failed).await.unwrap();
        tx.commit().await.unwrap();
        let stored = |call: NewViewCall<'_>, end| ViewCall {
            id: call.id,
            tool: call.tool.into(),
            arguments: call.arguments.into(),
            began_at: call.began_at,
            end,
        };
        let list = async |owner, block| view_calls::list_of_block(db, owner, block).await.unwrap();
        assert_eq!(list(owner, block).await, [stored(first, Some(done)), stored(second, None)]);
        assert_eq!(list(other, block).await, []);
        let mut tx = db.begin().await.unwrap();
        view_calls::end(&mut tx, owner, second.id, &failed).await.unwrap();
        tx.commit().await.unwrap();
        let result = list(owner, block).await[1].end.clone().unwrap().result;
        assert_eq!(result, "a\u{2400}");
        fresh.close().await;
    }
}

/// Stores a blob with a reference from a block.
async fn put_blob(db: &Db, block: Uuid, sha256: &str) {
    const BLOB: &str =
        "INSERT INTO blobs (sha256, mime, byte_count, bytes, created_at) VALUES ($1, 'image/png', 5, $2, $3)";
    const NAMED: &str = "INSERT INTO block_blobs (block_id, sha256) VALUES ($1, $2)";
    match db {
        Db::Sqlite { writer, .. } => {
            sqlx::query(BLOB).bind(sha256).bind(&b"bytes"[..]).bind(next_time()).execute(writer).await.unwrap();
            sqlx::query(NAMED).bind(block).bind(sha256).execute(writer).await.unwrap();
        }
        Db::Postgres { writer, .. } => {
            sqlx::query(BLOB).bind(sha256).bind(&b"bytes"[..]).bind(next_time()).execute(writer).await.unwrap();
            sqlx::query(NAMED).bind(block).bind(sha256).execute(writer).await.unwrap();
        }
    }
}

#[tokio::test]
async fn tokens_are_replaced_only_in_the_version_that_was_read() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let files = server(owner, "files");
        let mut tx = db.begin().await.unwrap();
        tool_servers::insert(&mut tx, &files).await.unwrap();
        assert_eq!(tool_sign_ins::put_tokens(&mut tx, owner, files.id, "one", next_time()).await.unwrap(), 1);
        tx.commit().await.unwrap();
        let stored = |sealed: &str, version| StoredTokens { server: files.id, sealed: sealed.into(), version };
        let find = async |owner| tool_sign_ins::find_tokens(db, owner, files.id).await.unwrap();
        assert_eq!((find(owner).await, find(other).await), (Some(stored("one", 1)), None));
        assert_eq!(tool_sign_ins::list_signed_in(db, owner).await.unwrap(), [files.id]);
        assert_eq!(tool_sign_ins::list_signed_in(db, other).await.unwrap(), []);

        let mut tx = db.begin().await.unwrap();
        let renewed = stored("two", 1);
        assert!(!tool_sign_ins::renew_tokens(&mut tx, other, &renewed, next_time()).await.unwrap());
        assert!(tool_sign_ins::renew_tokens(&mut tx, owner, &renewed, next_time()).await.unwrap());
        assert!(!tool_sign_ins::renew_tokens(&mut tx, owner, &stored("late", 1), next_time()).await.unwrap());
        assert!(!tool_sign_ins::delete_tokens_of_version(&mut tx, owner, files.id, 1).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(find(owner).await, Some(stored("two", 2)));

        let mut tx = db.begin().await.unwrap();
        assert_eq!(tool_sign_ins::put_tokens(&mut tx, owner, files.id, "again", next_time()).await.unwrap(), 3);
        assert!(!tool_sign_ins::delete_tokens_of_version(&mut tx, other, files.id, 3).await.unwrap());
        assert!(tool_sign_ins::delete_tokens_of_version(&mut tx, owner, files.id, 3).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(find(owner).await, None);
        fresh.close().await;
    }
}

#[tokio::test]
async fn begun_sign_in_is_taken_once_by_its_owner() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let files = server(owner, "files");
        let now = next_time();
        let begun = |state: &str, seconds| StoredSignIn {
            id: next_id(),
            server: files.id,
            state_hash: state.into(),
            sealed: "sealed".into(),
            expires_at: now + chrono::TimeDelta::seconds(seconds),
        };
        let (first, second) = (begun("first", 60), begun("second", 60));
        let mut tx = db.begin().await.unwrap();
        tool_servers::insert(&mut tx, &files).await.unwrap();
        tool_sign_ins::begin(&mut tx, owner, &first).await.unwrap();
        tool_sign_ins::begin(&mut tx, owner, &second).await.unwrap();
        tx.commit().await.unwrap();
        let find = async |owner, id, now| tool_sign_ins::find(db, owner, id, now).await.unwrap();
        assert_eq!(find(owner, first.id, now).await, None, "the later one replaces it");
        assert_eq!(find(owner, second.id, now).await, Some(second.clone()));
        assert_eq!(find(other, second.id, now).await, None);
        assert_eq!(find(owner, second.id, second.expires_at).await, None, "it has expired");
        assert!(tool_sign_ins::is_begun(db, owner, files.id).await.unwrap());
        assert!(!tool_sign_ins::is_begun(db, other, files.id).await.unwrap());

        let mut tx = db.begin().await.unwrap();
        assert_eq!(tool_sign_ins::take(&mut tx, owner, "first").await.unwrap(), None);
        assert_eq!(tool_sign_ins::take(&mut tx, other, "second").await.unwrap(), None);
        assert_eq!(tool_sign_ins::take(&mut tx, owner, "second").await.unwrap(), Some(second.clone()));
        assert_eq!(tool_sign_ins::take(&mut tx, owner, "second").await.unwrap(), None);
        tool_sign_ins::begin(&mut tx, owner, &second).await.unwrap();
        tool_sign_ins::delete_expired(&mut tx, now).await.unwrap();
        tx.commit().await.unwrap();
        assert!(tool_sign_ins::is_begun(db, owner, files.id).await.unwrap());
        let mut tx = db.begin().await.unwrap();
        tool_sign_ins::delete_expired(&mut tx, second.expires_at).await.unwrap();
        tx.commit().await.unwrap();
        assert!(!tool_sign_ins::is_begun(db, owner, files.id).await.unwrap());
        fresh.close().await;
    }
}

#[tokio::test]
async fn sign_in_ends_with_its_server_and_its_owner() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let (files, notes) = (server(owner, "files"), server(owner, "notes"));
        let issuer = "https://a.example";
        let store = async |server: ToolServerId| {
            let mut tx = db.begin().await.unwrap();
            tool_sign_ins::put_tokens(&mut tx, owner, server, "tokens", next_time()).await.unwrap();
            tool_sign_ins::put_client(&mut tx, owner, server, (issuer, "client"), next_time()).await.unwrap();
            tx.commit().await.unwrap();
        };
        let client = async |owner, server| tool_sign_ins::find_client(db, owner, server, issuer).await.unwrap();
        let mut tx = db.begin().await.unwrap();
        tool_servers::insert(&mut tx, &files).await.unwrap();
        tool_servers::insert(&mut tx, &notes).await.unwrap();
        tx.commit().await.unwrap();
        store(files.id).await;
        store(notes.id).await;
        assert_eq!(client(owner, files.id).await.as_deref(), Some("client"));
        assert_eq!(client(other, files.id).await, None);

        let mut tx = db.begin().await.unwrap();
        tool_sign_ins::delete_client(&mut tx, owner, files.id, issuer).await.unwrap();
        tool_sign_ins::delete_of_server(&mut tx, other, files.id).await.unwrap();
        tool_sign_ins::delete_of_owner(&mut tx, other).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(client(owner, files.id).await, None);
        assert_eq!(tool_sign_ins::list_signed_in(db, owner).await.unwrap().len(), 2);
        let mut tx = db.begin().await.unwrap();
        tool_sign_ins::delete_of_server(&mut tx, owner, files.id).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(tool_sign_ins::list_signed_in(db, owner).await.unwrap(), [notes.id]);
        let mut tx = db.begin().await.unwrap();
        assert!(tool_servers::delete(&mut tx, owner, notes.id).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(tool_sign_ins::list_signed_in(db, owner).await.unwrap(), []);
        assert_eq!(client(owner, notes.id).await, None, "rows go with their server");
        store(files.id).await;
        let mut tx = db.begin().await.unwrap();
        tool_sign_ins::delete_of_owner(&mut tx, owner).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(tool_sign_ins::list_signed_in(db, owner).await.unwrap(), []);
        assert_eq!(client(owner, files.id).await, None);
        fresh.close().await;
    }
}
