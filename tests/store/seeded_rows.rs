//! Seed rows for the tests of damage: a value for nearly every column, beyond what the walkthrough creates.

use bytes::Bytes;
use turnleaf::domain::tools::approval::ToolApprovalPolicy;
use turnleaf::domain::{ModelLock, Thinking, UserId};
use turnleaf_service::Service;
use turnleaf_service::chats::ChatChange;
use turnleaf_service::documents::change::{DocumentTextSource, NewDocumentRequest};
use turnleaf_service::projects::NewProject;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_store::Db;
use turnleaf_store::chats::drafts::Draft;
use turnleaf_store::providers::{self, ProviderSettings, StoredProvider};
use turnleaf_store::search::queue;
use turnleaf_store::tools::server_policies::{self, ServerPolicy};
use turnleaf_store::tools::tool_servers;
use turnleaf_store::tools::tool_sign_ins::{self, StoredSignIn};
use turnleaf_store::tools::trusted_tools::{self, TrustedTool};
use uuid::Uuid;

use crate::damage::{send_and_wait, sql, wait_until_ended};
use crate::domain_fixtures::{next_id, next_time};

fn document(title: &str, source: DocumentTextSource) -> NewDocumentRequest {
    NewDocumentRequest {
        title: Some(title.into()),
        kind: Some("text/markdown".into()),
        source,
        client_request_id: None,
    }
}

/// Adds a pinned chat, an upload, a draft, documents, a provider, a trusted tool, a failed reply, a running reply,
/// and values in rarely used columns.
pub async fn seed_all_rows(db: &Db, service: &Service, owner: UserId) {
    // Two exchanges: the request of the second is stored as a delta of the first.
    let pinned = send_and_wait(service, owner, "a chat that is pinned").await;
    for model in ["tour", "error"] {
        let content = vec![MessageBlock::Text { text: "and then?".into() }];
        let mut message = TurnRequest { chat_id: Some(pinned), content, ..TurnRequest::default() };
        message.place.model = Some(model.to_owned());
        message.place.may_branch = true;
        let started = service.start_turn(owner, message).await.unwrap();
        wait_until_ended(service, owner, started.assistant_turn.id).await;
    }
    let change = ChatChange { pinned: Some(true), archived: Some(true), ..ChatChange::default() };
    service.change_chat(owner, pinned, change).await.unwrap();
    let lock = ModelLock::new("demo", "tour");
    let project = NewProject {
        name: "Trees".into(),
        instructions: "Be brief.".into(),
        default_model: Some(lock),
        ..NewProject::default()
    };
    let project = service.create_project(owner, project).await.unwrap().value.project.id;
    let change = ChatChange { project_id: Some(Some(project)), ..ChatChange::default() };
    service.change_chat(owner, pinned, change).await.unwrap();
    service.use_project_instructions(owner, pinned).await.unwrap();
    let running = send_and_wait(service, owner, "a chat whose reply runs").await;
    let upload = service.upload_file(owner, "notes.md", Bytes::from_static(b"# Notes")).await.unwrap();
    let blob = DocumentTextSource::Blob { sha256: upload.sha256.clone(), encoding: None };
    service.create_document(owner, document("From a file", blob)).await.unwrap();
    let trashed = service
        .create_document(owner, document("For Trash", DocumentTextSource::Text("x".into())))
        .await
        .unwrap()
        .value;
    service.delete_document(owner, trashed.id).await.unwrap();
    let draft = Draft {
        text: "a draft".into(),
        lock: Some(ModelLock::new("demo", "tour")),
        thinking: Some(Thinking::High),
        attachments: Some(Vec::new()),
        rev: 0,
    };
    service.save_draft(owner, Some(pinned), draft).await.unwrap();
    let provider = StoredProvider {
        id: next_id(),
        owner_id: owner,
        slug: "box".into(),
        name: "Box".into(),
        kind: "openai_chat".into(),
        base_url: "http://127.0.0.1:9/v1".into(),
        sealed_key: Some("v1:0:1:2".into()),
        settings: ProviderSettings::default(),
        is_enabled: true,
        created_at: next_time(),
        updated_at: next_time(),
    };
    let tool = TrustedTool { server: "files".into(), tool: "read".into(), schema_hash: "00".into() };
    let mut tx = db.begin().await.unwrap();
    providers::insert(&mut tx, &provider).await.unwrap();
    trusted_tools::pin(&mut tx, owner, &tool).await.unwrap();
    let seen = [("read".to_owned(), "00".to_owned())].into();
    let policy = ServerPolicy { server: "files".into(), policy: ToolApprovalPolicy::Allow, seen };
    server_policies::put(&mut tx, owner, &policy, next_time()).await.unwrap();
    tx.commit().await.unwrap();

    let sealed = ("https://a.example", "v1:0:1:2");
    let mut tx = db.begin().await.unwrap();
    for server in tool_servers::list(db, owner).await.unwrap() {
        let begun = StoredSignIn {
            id: next_id(),
            server: server.id,
            state_hash: server.id.to_string(),
            sealed: sealed.1.into(),
            expires_at: next_time(),
        };
        tool_sign_ins::put_tokens(&mut tx, owner, server.id, sealed.1, next_time()).await.unwrap();
        tool_sign_ins::put_client(&mut tx, owner, server.id, sealed, next_time()).await.unwrap();
        tool_sign_ins::begin(&mut tx, owner, &begun).await.unwrap();
    }
    tx.commit().await.unwrap();

    let literal = |id: Uuid| if db.path().is_some() { format!("X'{}'", id.simple()) } else { format!("'{id}'") };
    let bytes = if db.path().is_some() { "X'00'" } else { "'\\x00'" };
    // Three bytes in a frame of zstd.
    let piece = if db.path().is_some() { "X'28B52FFD2003190000616263'" } else { "'\\x28B52FFD2003190000616263'" };
    assert!(queue::index_all(db, 10).await.unwrap());
    let (new, pinned, running, sha256) =
        (literal(next_id()), literal(pinned.uuid()), literal(running.uuid()), upload.sha256);
    let of_group = literal(next_id());
    let (of_pinned, of_running) =
        (format!("chat_id = {pinned}"), format!("chat_id = {running} AND role = 'assistant'"));
    for text in [
        format!(
            "UPDATE chats SET copied_from_turn_id = (SELECT id FROM turns ORDER BY id LIMIT 1) WHERE id = {pinned}"
        ),
        "UPDATE deletions SET last_viewed_turn_id = (SELECT id FROM turns ORDER BY id LIMIT 1)".into(),
        format!(
            "INSERT INTO blob_forms (sha256, form, is_in, width, height) VALUES ('{sha256}', 'model', '{sha256}', 1, 1)"
        ),
        "UPDATE uploads SET width = 1, height = 1".into(),
        format!(
            "INSERT INTO block_blobs (block_id, sha256) SELECT id, '{sha256}' FROM turn_blocks WHERE {of_pinned} \
             ORDER BY id LIMIT 1"
        ),
        format!(
            "INSERT INTO block_documents (block_id, document_id, version_timestamp) SELECT b.id, v.document_id, \
             v.version_timestamp FROM turn_blocks b, document_versions v WHERE b.{of_pinned} ORDER BY b.id LIMIT 1"
        ),
        format!(
            "INSERT INTO view_calls (id, owner_id, block_id, tool, arguments, began_at, outcome, result, ended_at) \
             SELECT {new}, c.owner_id, b.id, 'refresh', '{{}}', b.created_at, 'done', 'fresh', b.created_at \
             FROM turn_blocks b JOIN chats c ON c.id = b.chat_id WHERE b.{of_pinned} ORDER BY b.id LIMIT 1"
        ),
        format!(
            "INSERT INTO generation_chunks (generation_id, n, bytes, length) SELECT id, 0, {piece}, 3 FROM generations \
             ORDER BY id LIMIT 1"
        ),
        format!(
            "INSERT INTO search_queue (kind, item_id) SELECT 'turn', id FROM turns WHERE {of_pinned} ORDER BY id LIMIT 1"
        ),
        "UPDATE turns SET cache_read_tokens = 1, cache_write_tokens = 1, reasoning_tokens = 1 \
         WHERE role = 'assistant' AND completed_at IS NOT NULL"
            .into(),
        "UPDATE generations SET cache_read_tokens = 1, cache_write_tokens = 1, reasoning_tokens = 1 WHERE step = 0"
            .into(),
        format!("UPDATE turns SET stored_bytes = 1 WHERE {of_pinned}"),
        "UPDATE grafts SET status = 'paused', reason = 'internal', detail = 'why'".into(),
        format!(
            "INSERT INTO queued_messages (id, owner_id, chat_id, after_turn_id, ord, request, refusal, created_at, \
             updated_at) SELECT {new}, c.owner_id, c.id, t.id, 0, '{{\"content\":[]}}', \
             '{{\"code\":\"attached_gone\"}}', c.created_at, c.created_at \
             FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.{of_pinned} AND t.role = 'assistant' \
             ORDER BY t.id LIMIT 1"
        ),
        "UPDATE title_requests SET cache_read_tokens = 1, cache_write_tokens = 1, reasoning_tokens = 1, token_id = id"
            .into(),
        "UPDATE exchanges SET token_id = id".into(),
        "UPDATE ledger SET cache_read_tokens = 1, cache_write_tokens = 1, reasoning_tokens = 1, token_id = id".into(),
        format!(
            "INSERT INTO budgets (id, owner_id, kind, most) \
             SELECT {new}, owner_id, 'day_cost', 1000 FROM chats WHERE id = {pinned}"
        ),
        format!(
            "INSERT INTO budgets (id, group_id, kind, most) \
             SELECT {of_group}, id, 'month_requests', 1000 FROM account_groups ORDER BY id LIMIT 1"
        ),
        // The end is far away, so housekeeping keeps it.
        "UPDATE shares SET revoked_at = expires_at".into(),
        format!("UPDATE tool_policies SET chat_id = {pinned}, schema_hash = '00'"),
        format!("UPDATE tool_servers SET sealed_headers = {bytes}"),
        format!(
            "INSERT INTO quarantine (id, table_name, column_name, row_key, bytes, reason, owner_id, chat_id, turn_id, \
             document_id, created_at) SELECT {new}, 'turns', 'status', 'x', {bytes}, 'why', c.owner_id, c.id, t.id, \
             d.id, c.created_at FROM turns t JOIN chats c ON c.id = t.chat_id, documents d WHERE t.{of_pinned} \
             ORDER BY t.id LIMIT 1"
        ),
        format!(
            "INSERT INTO imports (id, owner_id, state, summary, started_at, reported_at, ended_at, undone_at) \
             SELECT {new}, owner_id, 'undone', '{{\"name\":\"chats.json\"}}', created_at, created_at, created_at, \
             created_at FROM chats WHERE id = {pinned}"
        ),
        format!("INSERT INTO import_reports (import_id, report) VALUES ({new}, '{{\"name\":\"chats.json\"}}')"),
        format!("INSERT INTO import_chats (import_id, chat_id, first_ord, last_ord) VALUES ({new}, {pinned}, 0, 1)"),
        format!(
            "INSERT INTO import_documents (import_id, document_id, versions, title, deletion_id) SELECT {new}, id, 1, title, {new} \
             FROM documents ORDER BY id LIMIT 1"
        ),
        format!(
            "INSERT INTO import_deletions (deletion_id, import_id) SELECT id, {new} FROM deletions ORDER BY id LIMIT 1"
        ),
        // The running reply looks as a kill leaves it.
        format!(
            "DELETE FROM turn_events WHERE turn_id IN (SELECT id FROM turns WHERE {of_running}) \
             AND event LIKE '{{\"type\":\"turn_end\"%'"
        ),
        format!(
            "UPDATE turns SET status = 'streaming', completed_at = NULL, lease_owner = {new}, lease_until = created_at \
             WHERE {of_running}"
        ),
    ] {
        sql(db, text).await;
    }
}
