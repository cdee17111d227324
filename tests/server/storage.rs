//! Storage bounds through the service and the API: free disk space that shrinks and grows, and a quota that counts
//! everything that a user stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::TurnStatus;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;
use turnleaf_service::documents::{DocumentTextSource, NewDocumentRequest};
use turnleaf_service::transfer::imports::ImportJobs;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::usage::storage::{FreeSpace, FreeSpaceProbe, StorageLimits, StorageRefusal};
use turnleaf_store::usage::storage;

use crate::http_api::TestApi;
use crate::interchange::import_file;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

const MIB: u64 = 1 << 20;

/// Free space that a test sets, with its bound at 256 MiB.
struct FakeDisk(Arc<AtomicU64>);

impl FakeDisk {
    fn with_free_space(free: u64) -> Self {
        Self(Arc::new(AtomicU64::new(free)))
    }

    fn set_free_space(&self, free: u64) {
        self.0.store(free, Ordering::SeqCst);
    }

    fn limits(&self, quota: u64) -> StorageLimits {
        let free = self.0.clone();
        StorageLimits::new(probe(move || free.load(Ordering::SeqCst)), 256 * MIB, quota)
    }
}

/// Returns a probe that reports these free bytes.
fn probe(bytes: impl Fn() -> u64 + Send + Sync + 'static) -> FreeSpaceProbe {
    Arc::new(move || {
        let free = FreeSpace { bytes: bytes(), directory: "data".into() };
        Box::pin(async move { Ok(free) })
    })
}

fn scripted(answers: usize) -> ScriptedProvider {
    let answers: Vec<ScriptedAnswer> =
        (0..answers).map(|_| streamed_answer([text_step("a reply of some words")])).collect();
    ScriptedProvider::new("scripted", answers)
}

/// Returns servers on every database with these limits.
async fn servers_with_limits(answers: usize, limits: impl Fn() -> StorageLimits) -> Vec<TestServer> {
    let instances = TestServer::on_every_database(|| scripted(answers)).await;
    let bound = |mut instance: TestServer| {
        instance.service = instance.service.clone().with_storage(limits());
        instance
    };
    instances.into_iter().map(bound).collect()
}

fn document(title: &str, words: &str) -> NewDocumentRequest {
    let source = DocumentTextSource::Text(words.to_owned());
    NewDocumentRequest { title: Some(title.to_owned()), kind: None, source, client_request_id: None }
}

async fn refusal(instance: &TestServer, words: &str) -> Option<StorageRefusal> {
    match instance.service.start_turn(instance.owner, message_to_send(words)).await {
        Ok(_) => None,
        Err(ServiceError::Storage(refusal)) => Some(refusal),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn low_disk_refuses_new_work_lets_replies_end_and_accepts_again() {
    let disk = FakeDisk::with_free_space(1_000 * MIB);
    for instance in servers_with_limits(4, || disk.limits(0)).await {
        disk.set_free_space(1_000 * MIB);
        let (service, owner) = (&instance.service, instance.owner);
        let started = instance.send("first").await;
        disk.set_free_space(255 * MIB);
        assert_eq!(refusal(&instance, "second").await, Some(StorageRefusal::DiskLow));
        let low = |done: Result<(), ServiceError>| matches!(done, Err(ServiceError::Storage(StorageRefusal::DiskLow)));
        assert!(low(service.upload_file(owner, "a.txt", Bytes::from_static(b"words")).await.map(drop)));
        let document = || document("Notes", "words");
        assert!(low(service.create_document(owner, document()).await.map(drop)));
        // A running reply still completes.
        let ended = instance.wait_until_ended(started.assistant_turn.id).await;
        assert_eq!((ended.status, ended.content_text()), (TurnStatus::Complete, "a reply of some words".to_owned()));
        let retry =
            service.retry_turn(owner, ended.id, Default::default(), Default::default(), Some("again".into())).await;
        assert!(low(retry.map(drop)));

        disk.set_free_space(256 * MIB);
        assert_eq!(refusal(&instance, "second").await, None);
        disk.set_free_space(256 * MIB + 5);
        service.upload_file(owner, "a.txt", Bytes::from_static(b"words")).await.unwrap();
        service.create_document(owner, document()).await.unwrap();
        // A file that would take the free space below the bound is refused, although a smaller one is accepted.
        disk.set_free_space(256 * MIB + 2);
        assert!(low(service.upload_file(owner, "b.txt", Bytes::from_static(b"other words")).await.map(drop)));
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn repeated_request_is_answered_while_disk_is_low() {
    let disk = FakeDisk::with_free_space(1_000 * MIB);
    for instance in servers_with_limits(1, || disk.limits(0)).await {
        disk.set_free_space(1_000 * MIB);
        let named = || TurnRequest { client_request_id: Some("k".into()), ..message_to_send("once") };
        let first = instance.service.start_turn(instance.owner, named()).await.unwrap();
        disk.set_free_space(0);
        let again = instance.service.start_turn(instance.owner, named()).await.unwrap();
        assert_eq!((again.is_new, again.assistant_turn.id), (false, first.assistant_turn.id));
        instance.wait_until_ended(first.assistant_turn.id).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn quota_counts_stored_bytes_and_purge_frees_them() {
    for instance in servers_with_limits(8, || FakeDisk::with_free_space(u64::MAX).limits(0)).await {
        let (service, owner) = (&instance.service, instance.owner);
        let empty = service.storage_use(owner).await.unwrap();
        assert_eq!((empty.used_bytes, empty.quota_bytes), (0, None));
        let started = instance.send(&"w".repeat(10_000)).await;
        instance.wait_until_ended(started.assistant_turn.id).await;
        let streamed = service.storage_use(owner).await.unwrap();
        // The chat's bytes are the message in its block and in its turn's text, the request that was sent, and the
        // reply.
        assert!((30_000..60_000).contains(&streamed.chats_bytes), "{streamed:?}");

        // The maintenance stores the count, which equals the sum that was computed before.
        service.supervisor().run_maintenance().await.unwrap();
        assert!(!storage::count_pending_turns(&instance.db).await.unwrap(), "nothing is left to count");
        assert_eq!(service.storage_use(owner).await.unwrap(), streamed);
        instance.check_invariants().await;

        service.upload_file(owner, "a.txt", Bytes::from(vec![b'x'; 5_000])).await.unwrap();
        service.upload_file(owner, "the same.txt", Bytes::from(vec![b'x'; 5_000])).await.unwrap();
        service.create_document(owner, document("T", &"d".repeat(700))).await.unwrap();
        let all = service.storage_use(owner).await.unwrap();
        assert_eq!((all.files_bytes, all.documents_bytes), (5_000, 700), "a file counts once");
        assert_eq!(all.used_bytes, all.chats_bytes + all.files_bytes + all.documents_bytes);

        service.storage().set(0, all.used_bytes);
        let reached = Some(StorageRefusal::QuotaReached { quota_bytes: all.used_bytes });
        assert_eq!(refusal(&instance, "one more").await, reached);
        let refused = service.upload_file(owner, "b.txt", Bytes::from_static(b"more")).await.unwrap_err();
        assert!(refused.to_string().contains("quota of"), "{refused}");

        // A chat in Trash still counts; a purged one does not.
        let deleted = service.delete_chat(owner, started.chat.id).await.unwrap();
        assert_eq!(refusal(&instance, "one more").await, reached);
        service.purge_deletion(owner, deleted.deletion_id).await.unwrap();
        assert_eq!(refusal(&instance, "one more").await, None);
        assert!(service.storage_use(owner).await.unwrap().chats_bytes < 20_000);
        instance.check_invariants().await;
        instance.close().await;
    }
}

/// Returns a ChatGPT export with one chat of each size, in characters.
fn conversations(sizes: &[usize]) -> Vec<u8> {
    let conversation = |(n, size): (usize, &usize)| {
        json!({
            "id": format!("c{n}"), "title": format!("Chat {n}"), "create_time": 1_700_000_000.0, "current_node": "u",
            "mapping": {"u": {"id": "u", "parent": null, "children": [], "message": {
                "id": "u", "author": {"role": "user"}, "create_time": 1_700_000_000.0,
                "content": {"content_type": "text", "parts": ["x".repeat(*size)]}}}},
        })
    };
    let all: Vec<Value> = sizes.iter().enumerate().map(conversation).collect();
    json!(all).to_string().into_bytes()
}

#[tokio::test]
async fn import_keeps_complete_chats_that_fit_and_counts_skipped_ones() {
    for instance in servers_with_limits(0, || FakeDisk::with_free_space(u64::MAX).limits(1 << 20)).await {
        let file = conversations(&[1_000, 400_000, 400_000, 1_000]);
        let preview = import_file(&instance, "look.json", &file, true).await;
        assert_eq!((preview.imported, preview.did_not_fit), (3, 1), "{preview:?}");
        let report = import_file(&instance, "all.json", &file, false).await;
        assert_eq!((report.imported, report.left_out, report.did_not_fit), (3, 1, 1), "{report:?}");
        assert_eq!((report.conversations, &report.stopped), (4, &None));
        assert!(report.findings.iter().any(|one| one.text.contains("quota of 1 MiB")), "{report:?}");
        let used = instance.service.storage_use(instance.owner).await.unwrap();
        assert!((800_000..1 << 20).contains(&used.used_bytes), "{used:?}");
        // With a larger quota, the same file imports the chat that is missing.
        instance.service.storage().set(0, 0);
        let report = import_file(&instance, "all.json", &file, false).await;
        assert_eq!((report.imported, report.known, report.did_not_fit), (1, 3, 0), "{report:?}");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn import_ends_when_disk_gets_low_and_keeps_imported_chats() {
    for mut instance in TestServer::on_every_database(|| scripted(0)).await {
        // Each measurement reports less free space.
        let free = Arc::new(AtomicU64::new(256 * MIB + 4));
        let measured = free.clone();
        let probe = probe(move || measured.fetch_sub(1, Ordering::SeqCst));
        instance.service = instance.service.clone().with_storage(StorageLimits::new(probe, 256 * MIB, 0));
        let report = import_file(&instance, "all.json", &conversations(&[1; 8]), false).await;
        assert!(report.stopped.as_deref().is_some_and(|reason| reason.contains("disk is almost full")), "{report:?}");
        assert!(report.imported > 0 && report.conversations < 8, "{report:?}");
        let kept = instance.service.list_chats(instance.owner, 100).await.unwrap();
        assert_eq!(kept.len() as u64, report.imported);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn refusal_names_scarce_resource_and_usage() {
    let disk = FakeDisk::with_free_space(1_000 * MIB);
    let mut instance = TestServer::new(scripted(2)).await;
    let jobs = ImportJobs::in_folder(&instance.dir.path().join("imports")).unwrap();
    instance.service = instance.service.clone().with_imports(jobs).with_storage(disk.limits(100_000));
    let api = TestApi::with_server(instance);
    let chat = api.create_chat().await;
    let send = |words: String| {
        let (api, path) = (&api, format!("/api/chats/{chat}/turns"));
        async move { api.call("POST", &path, Some(json!({ "text": words }))).await }
    };
    let form = |words: &'static str, language: &'static str| {
        let (api, chat) = (&api, &chat);
        async move {
            let request = Request::post("/forms/send")
                .header("host", "127.0.0.1:3000")
                .header("accept", "text/html")
                .header("accept-language", language)
                .header("content-type", "application/x-www-form-urlencoded")
                .header("content-length", format!("chat_id={chat}&text={words}").len().to_string());
            let response = api.send(request.body(Body::from(format!("chat_id={chat}&text={words}"))).unwrap()).await;
            let status = response.status();
            let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, String::from_utf8(bytes.to_vec()).unwrap())
        }
    };
    let import = |length: usize| {
        let api = &api;
        async move {
            let request = Request::post("/api/imports?name=a.json").header("host", "127.0.0.1:3000");
            let response = api.send(request.body(Body::from(vec![b' '; length])).unwrap()).await;
            let status = response.status();
            let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, serde_json::from_slice::<Value>(&bytes).unwrap())
        }
    };
    disk.set_free_space(10);
    let (status, refused) = send("hi".into()).await;
    assert_eq!((status, &refused["code"]), (StatusCode::INSUFFICIENT_STORAGE, &json!("disk_space_low")));
    let (status, refused) = import(10).await;
    assert_eq!((status, &refused["code"]), (StatusCode::INSUFFICIENT_STORAGE, &json!("disk_space_low")));
    for (language, words) in [("en", "almost full"), ("zh", "磁盘空间即将用尽")] {
        let (status, page) = form("typed-words", language).await;
        assert_eq!(status, StatusCode::INSUFFICIENT_STORAGE);
        assert!(page.contains("typed-words") && page.contains(words), "{page}");
    }
    disk.set_free_space(1_000 * MIB);
    // An arriving file counts while it arrives, and is removed when it is refused.
    let (status, refused) = import(20 << 20).await;
    assert_eq!((status, &refused["code"]), (StatusCode::INSUFFICIENT_STORAGE, &json!("quota_reached")), "{refused}");
    let owner = api.instance.owner;
    assert_eq!(api.instance.service.storage_use(owner).await.unwrap().waiting_bytes, 0);

    let (status, started) = send("w".repeat(60_000)).await;
    assert_eq!(status, StatusCode::CREATED);
    api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    let (status, refused) = send("more".into()).await;
    assert_eq!((status, &refused["code"]), (StatusCode::INSUFFICIENT_STORAGE, &json!("quota_reached")));
    assert_eq!(refused["quota_bytes"], 100_000);
    for (language, words) in [("en", "storage quota of 98 KiB is used up"), ("zh", "存储配额（98 KiB）已用尽")]
    {
        let (_, page) = form("typed-words", language).await;
        assert!(page.contains("typed-words") && page.contains(words), "{page}");
    }
    let (_, usage) = api.call("GET", "/api/usage", None).await;
    let storage = &usage["storage"];
    assert!(storage["used_bytes"].as_u64().unwrap() > 100_000 && storage["quota_bytes"] == 100_000, "{usage}");
    let request = Request::get("/settings/data").header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    let page = axum::body::to_bytes(api.send(request).await.into_body(), usize::MAX).await.unwrap();
    let page = String::from_utf8(page.to_vec()).unwrap();
    assert!(page.contains("Storage used") && page.contains("of 98 KiB"), "{page}");
}

/// Returns an upload whose body arrives in counted pieces, then ends or hangs.
fn upload_of(pieces: usize, taken: &Arc<AtomicU64>, declared: Option<u64>, ends: bool) -> Request<Body> {
    let taken = taken.clone();
    let piece = move |_| {
        taken.fetch_add(1, Ordering::SeqCst);
        Ok::<_, std::io::Error>(Bytes::from(vec![b'a'; MIB as usize]))
    };
    let body = futures::stream::iter(0..pieces).map(piece);
    let body = if ends { Body::from_stream(body) } else { Body::from_stream(body.chain(futures::stream::pending())) };
    let request = Request::post("/api/blobs?name=a.txt").header("host", "127.0.0.1:3000");
    let request = match declared {
        Some(length) => request.header("content-length", length.to_string()),
        None => request,
    };
    request.body(body).unwrap()
}

async fn code_of(response: http::Response<Body>) -> (StatusCode, Value) {
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice::<Value>(&bytes).unwrap_or_default()["code"].clone())
}

#[tokio::test]
async fn upload_is_refused_before_first_byte_and_during_transfer() {
    for (free, quota, code) in [(1_000 * MIB, 4 * MIB, "quota_reached"), (260 * MIB, 0, "disk_space_low")] {
        let disk = FakeDisk::with_free_space(free);
        let mut instance = TestServer::new(scripted(1)).await;
        instance.service = instance.service.clone().with_storage(disk.limits(quota));
        let api = Arc::new(TestApi::with_server(instance));
        let taken = Arc::new(AtomicU64::new(0));
        let refused = code_of(api.send(upload_of(10, &taken, Some(10 * MIB), false)).await).await;
        assert_eq!(refused, (StatusCode::INSUFFICIENT_STORAGE, json!(code)));
        assert_eq!(taken.load(Ordering::SeqCst), 0, "nothing of it is read");
        // Declared lengths of other uploads are reserved before their bytes arrive.
        let (first, other) = (upload_of(1, &taken, Some(3 * MIB), false), api.clone());
        let arriving = tokio::spawn(async move { other.send(first).await });
        while taken.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let refused = code_of(api.send(upload_of(3, &taken, Some(3 * MIB), false)).await).await;
        assert_eq!(refused, (StatusCode::INSUFFICIENT_STORAGE, json!(code)));
        // An upload that is aborted releases its reservation.
        arriving.abort();
        arriving.await.unwrap_err();
        let made = code_of(api.send(upload_of(3, &taken, Some(3 * MIB), true)).await).await;
        assert_eq!(made.0, StatusCode::CREATED);
        if quota > 0 {
            // An upload without a declared length is checked while it arrives.
            let taken = Arc::new(AtomicU64::new(0));
            let refused = code_of(api.send(upload_of(32, &taken, None, false)).await).await;
            assert_eq!(refused, (StatusCode::INSUFFICIENT_STORAGE, json!(code)));
            assert!((8..12).contains(&taken.load(Ordering::SeqCst)), "{taken:?}");
        }
    }
}

#[tokio::test]
async fn concurrent_uploads_of_client_are_bounded() {
    let api = Arc::new(TestApi::with_server(TestServer::new(scripted(1)).await));
    let taken = Arc::new(AtomicU64::new(0));
    let begin = || {
        let (api, request) = (api.clone(), upload_of(1, &taken, None, false));
        tokio::spawn(async move { api.send(request).await })
    };
    let most = turnleaf::domain::limits::SPOOLS_PER_CLIENT;
    let arriving: Vec<_> = (0..most).map(|_| begin()).collect();
    while taken.load(Ordering::SeqCst) < most as u64 {
        tokio::task::yield_now().await;
    }
    let (status, _) = code_of(api.send(upload_of(1, &taken, None, false)).await).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    arriving[0].abort();
    for upload in arriving.into_iter().take(1) {
        upload.await.unwrap_err();
    }
    assert_eq!(code_of(api.send(upload_of(1, &taken, None, true)).await).await.0, StatusCode::CREATED);
}

#[tokio::test]
async fn edit_form_refused_for_storage_keeps_text_and_explains_in_readers_language() {
    for (free, quota) in [(1_000 * MIB, 1), (10, 0)] {
        let mut instance = TestServer::new(scripted(1)).await;
        let started = instance.send("before").await;
        instance.wait_until_ended(started.assistant_turn.id).await;
        let turn = started.user_turn.id;
        instance.service = instance.service.clone().with_storage(FakeDisk::with_free_space(free).limits(quota));
        let api = TestApi::with_server(instance);
        let field = |name: &str, value: &str| {
            format!("--X\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let multipart = format!("{}{}--X--\r\n", field("turn_id", &turn.to_string()), field("text", "typed-words"));
        let form = format!("turn_id={turn}&text=typed-words");
        for (kind, body) in
            [("multipart/form-data; boundary=X", multipart), ("application/x-www-form-urlencoded", form)]
        {
            let request = Request::post("/forms/edit")
                .header("host", "127.0.0.1:3000")
                .header("accept", "text/html")
                .header("accept-language", "zh")
                .header("content-type", kind)
                .header("content-length", body.len());
            let response = api.send(request.body(Body::from(body)).unwrap()).await;
            let status = response.status();
            let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let page = String::from_utf8(bytes.to_vec()).unwrap();
            assert_eq!(status, StatusCode::INSUFFICIENT_STORAGE, "{kind}: {page}");
            let reason = if quota > 0 { "配额" } else { "磁盘空间即将用尽" };
            assert!(page.contains("typed-words") && page.contains(reason), "{kind}: {page}");
            assert!(!page.contains("almost full") && !page.contains("quota of"), "{kind}: {page}");
        }
    }
}
