//! Documents and uploads in the store: increasing versions, ownership, references in messages, and expiry.

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};
use turnleaf::domain::documents::attachment::{Attachment, AttachmentCard};
use turnleaf::domain::*;
use turnleaf_run::purge::{purge_expired, purge_scheduled};
use turnleaf_store::accounts::users;
use turnleaf_store::chats::drafts::{self, Draft};
use turnleaf_store::chats::{self};
use turnleaf_store::documents::blobs::{self, ImageForm, ImageFormKind};
use turnleaf_store::documents::purge::{DocumentPurgeTarget, delete_one};
use turnleaf_store::documents::uploads::{self, NewUpload, UploadKind};
use turnleaf_store::documents::write::{self, NewDocument, NewDocumentVersion};
use turnleaf_store::documents::{self};
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, StoreError, branches};
use uuid::Uuid;

use crate::databases;
use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn two_owners(db: &Db) -> (UserId, UserId) {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    let other: UserId = next_id();
    const OTHER: &str = "INSERT INTO users (id, name, created_at) VALUES ($1, 'other', $2)";
    match db {
        Db::Sqlite { writer, .. } => {
            sqlx::query(OTHER).bind(other.uuid()).bind(next_time()).execute(writer).await.unwrap();
        }
        Db::Postgres { writer, .. } => {
            sqlx::query(OTHER).bind(other.uuid()).bind(next_time()).execute(writer).await.unwrap();
        }
    }
    (owner, other)
}

fn new_text_version(content: &str) -> NewDocumentVersion<'_> {
    NewDocumentVersion { content, origin: None, mime: "text/markdown", notes: &[] }
}

async fn create_document(db: &Db, owner_id: UserId, content: &str, at: DateTime<Utc>) -> DocumentId {
    create_titled_document(db, owner_id, "Plan", content, at).await
}

async fn create_titled_document(
    db: &Db,
    owner_id: UserId,
    title: &str,
    content: &str,
    at: DateTime<Utc>,
) -> DocumentId {
    let document = NewDocument { id: next_id(), owner_id, title, kind: "text/markdown" };
    let mut tx = db.begin().await.unwrap();
    write::insert(&mut tx, &document, &new_text_version(content), at).await.unwrap();
    tx.commit().await.unwrap();
    document.id
}

async fn create_upload(db: &Db, owner_id: UserId, name: &str, bytes: &[u8], at: DateTime<Utc>) -> String {
    let sha256 = hash(bytes);
    let mut tx = db.begin().await.unwrap();
    blobs::insert_unreferenced(&mut tx, &sha256, "image/png", bytes, at).await.unwrap();
    let upload =
        NewUpload { id: next_id(), owner_id, sha256: &sha256, name, kind: UploadKind::Image, size: Some((3, 2)) };
    uploads::put(&mut tx, &upload, at).await.unwrap();
    tx.commit().await.unwrap();
    sha256
}

/// Creates a chat with one message of these blocks.
async fn create_message(db: &Db, owner: UserId, contents: Vec<Content>) -> Turn {
    let mut tx = db.begin().await.unwrap();
    let chat = chat(owner);
    let on = branch(chat.id);
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &on, &frozen_settings()).await.unwrap();
    chats::set_default_branch(&mut tx, chat.id, on.id).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
    let mut message = turn(&on, next_id(), None, ord, Role::User);
    let exchange = exchange(&on, message.id, None);
    message.exchange_id = exchange.id;
    message.blocks = contents
        .into_iter()
        .zip(0..)
        .map(|(content, seq)| block(&message, seq, Author::User, BlockState::Done, content))
        .collect();
    exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &message).await.unwrap();
    assert!(branches::set_head(&mut tx, on.id, None, message.id).await.unwrap());
    tx.commit().await.unwrap();
    message
}

fn reference(document: DocumentId, version: DateTime<Utc>) -> Content {
    Content::Reference { ref_id: document.to_string(), ref_type: "document".into(), version_timestamp: Some(version) }
}

fn image(sha256: &str) -> Content {
    Content::Image { blob: sha256.into(), mime: "image/png".into(), alt: "A".into() }
}

async fn assert_fsck_clean(db: &Db) {
    let findings = fsck::check(db, CheckMode::Serving).await.unwrap();
    assert!(findings.is_empty(), "{findings:#?}");
}

#[tokio::test]
async fn versions_rise_strictly_and_belong_to_their_owner() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let at = next_time();
        let plan = create_document(db, owner, "你好😀\nworld\n", at).await;
        let found = documents::read::find(db, owner, plan).await.unwrap().unwrap();
        assert_eq!((found.title.as_str(), found.rev, found.used_in), ("Plan", 1, 0));
        let newest = &found.version;
        assert_eq!((newest.version_timestamp, newest.char_count, newest.line_count), (at, 10, 2));
        assert_eq!(newest.byte_count, "你好😀\nworld\n".len() as u64);
        assert_eq!(documents::read::find(db, other, plan).await.unwrap(), None);
        assert_eq!(documents::read::content(db, other, plan, at).await.unwrap(), None);
        assert_eq!(documents::read::version(db, other, plan, at).await.unwrap(), None);
        assert_eq!(documents::read::versions(db, other, plan, 9).await.unwrap(), []);

        // With an equal clock, and with a clock that went back, each version still gets a time later than the one
        // before.
        for (content, clock) in [("two", at), ("three", at - TimeDelta::hours(1))] {
            let mut tx = db.begin().await.unwrap();
            assert!(write::lock_for_update(&mut tx, other, plan, None, clock).await.unwrap().is_none());
            assert!(write::lock_for_update(&mut tx, owner, plan, Some(99), clock).await.unwrap().is_none());
            write::lock_for_update(&mut tx, owner, plan, None, clock).await.unwrap().unwrap();
            let (newest, _) = write::newest_version(&mut tx, plan).await.unwrap().unwrap();
            write::add_version(&mut tx, plan, &new_text_version(content), Some(newest), clock).await.unwrap();
            tx.commit().await.unwrap();
        }
        let versions = documents::read::versions(db, owner, plan, 9).await.unwrap();
        let times: Vec<i64> =
            versions.iter().map(|version| (version.version_timestamp - at).num_microseconds().unwrap()).collect();
        assert_eq!(times, [2, 1, 0]);
        assert_eq!(documents::read::content(db, owner, plan, at).await.unwrap().unwrap(), "你好😀\nworld\n");
        let mut tx = db.begin().await.unwrap();
        assert_eq!(write::count_versions(&mut tx, plan).await.unwrap(), 3);
        let nul = write::add_version(&mut tx, plan, &new_text_version("a\0b"), None, next_time()).await;
        assert!(matches!(nul, Err(StoreError::Nul(_))), "{nul:?}");
        write::set_title_and_kind(&mut tx, plan, "Другое", "text/plain").await.unwrap();
        tx.commit().await.unwrap();
        let found = documents::read::find(db, owner, plan).await.unwrap().unwrap();
        assert_eq!((found.title.as_str(), found.kind.as_str(), found.rev), ("Другое", "text/plain", 3));
        assert_fsck_clean(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn list_pagination_continues_where_it_ended() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        // Whole seconds, fractions of one, and two versions at the same time.
        let start: DateTime<Utc> = "2026-05-01T00:00:00Z".parse().unwrap();
        let steps = [0, 0, 500_000, 999_999, 1_000_000];
        let mut made = Vec::new();
        for step in steps {
            made.push(create_document(db, owner, "x", start + TimeDelta::microseconds(step)).await);
        }
        made.reverse();
        let (mut seen, mut behind) = (Vec::new(), None);
        loop {
            let page = documents::read::list(db, owner, behind, None, 2).await.unwrap();
            let Some(last) = page.last() else { break };
            behind = Some((last.updated_at, last.id));
            seen.extend(page.iter().map(|document| document.id));
        }
        assert_eq!(seen, made);
        assert_eq!(documents::read::list(db, other, None, None, 9).await.unwrap(), []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn titles_are_found_despite_many_newer_candidates() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let mut made = Vec::new();
        for second in 0..3 {
            made.push(create_titled_document(db, owner, "ПЛАН", "x", next_time() + TimeDelta::seconds(second)).await);
        }
        create_titled_document(db, other, "ПЛАН", "x", next_time()).await;
        // A LIKE pattern matches all of these titles, because letters whose case a database may not fold are
        // wildcards in it.
        for second in 3..=i64::from(limits::PAGE_MAX) + 3 {
            create_titled_document(db, owner, "ДРУГ", "x", next_time() + TimeDelta::seconds(second)).await;
        }
        let needle = TextMatcher::new("план").unwrap();
        let (mut seen, mut behind) = (Vec::new(), None);
        loop {
            let page = documents::read::list(db, owner, behind, Some(&needle), 2).await.unwrap();
            let Some(last) = page.last() else { break };
            behind = Some((last.updated_at, last.id));
            seen.extend(page.iter().map(|document| document.id));
        }
        made.reverse();
        assert_eq!(seen, made);
        fresh.close().await;
    }
}

#[tokio::test]
async fn references_are_counted_and_deleted_with_document() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let at = next_time();
        let plan = create_document(db, owner, "x", at).await;
        let message = create_message(db, owner, vec![reference(plan, at), Content::text("see")]).await;
        assert_eq!(documents::read::find(db, owner, plan).await.unwrap().unwrap().used_in, 1);
        let used = documents::read::list_referencing_chats(db, owner, plan, 9).await.unwrap();
        assert_eq!(used, [(message.chat_id, "Trees".to_owned())]);
        assert_fsck_clean(db).await;

        let day = next_time();
        let mut tx = db.begin().await.unwrap();
        assert!(!write::move_to_trash(&mut tx, other, plan, next_id(), day).await.unwrap());
        assert!(write::move_to_trash(&mut tx, owner, plan, next_id(), day).await.unwrap());
        assert!(!write::move_to_trash(&mut tx, owner, plan, next_id(), day).await.unwrap(), "it is there already");
        assert!(write::lock_for_update(&mut tx, owner, plan, None, day).await.unwrap().is_none());
        tx.commit().await.unwrap();
        assert_eq!(documents::read::content(db, owner, plan, at).await.unwrap(), None);
        assert_eq!(documents::read::list(db, owner, None, None, 9).await.unwrap(), []);
        assert_eq!(documents::read::list_deleted(db, owner, 9).await.unwrap()[0].id, plan);
        assert_eq!(documents::read::list_deleted(db, other, 9).await.unwrap(), []);
        let mut tx = db.begin().await.unwrap();
        assert!(!write::restore(&mut tx, other, plan).await.unwrap());
        assert!(write::restore(&mut tx, owner, plan).await.unwrap());
        assert!(!delete_one(&mut tx, DocumentPurgeTarget::One(owner, plan)).await.unwrap(), "it is not in Trash");
        write::move_to_trash(&mut tx, owner, plan, next_id(), day).await.unwrap();
        assert!(!delete_one(&mut tx, DocumentPurgeTarget::One(other, plan)).await.unwrap());
        assert!(!delete_one(&mut tx, DocumentPurgeTarget::OwnedBy(other)).await.unwrap());
        tx.commit().await.unwrap();

        purge_expired(db, day + limits::TRASH_KEPT - TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(documents::read::list_deleted(db, owner, 9).await.unwrap().len(), 1);
        purge_expired(db, day + limits::TRASH_KEPT + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(documents::read::find(db, owner, plan).await.unwrap(), None);
        let stored = turns::find(db, owner, message.id).await.unwrap().unwrap();
        assert_eq!(stored.blocks, message.blocks, "the message is unchanged");
        assert_fsck_clean(db).await;
        // The same reference can still be sent: no row is stored that would reference the missing document.
        create_message(db, owner, vec![reference(plan, at), Content::text("again")]).await;
        assert_fsck_clean(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn uploads_are_kept_while_referenced_and_for_one_day() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let at = next_time();
        let forgotten = create_upload(db, owner, "a.png", b"forgotten", at).await;
        let sent = create_upload(db, owner, "b.png", b"sent", at).await;
        let small = hash(b"small");
        let drafted = create_upload(db, owner, "c.png", b"drafted", at).await;
        let original = create_upload(db, owner, "d.pdf", b"original", at).await;
        let mut tx = db.begin().await.unwrap();
        blobs::insert_unreferenced(&mut tx, &small, "image/webp", b"small", at).await.unwrap();
        let form = ImageForm { kind: ImageFormKind::Thumbnail, sha256: small.clone(), size: (2, 1) };
        blobs::add_image_form(&mut tx, &sent, &form).await.unwrap();
        blobs::add_image_form(&mut tx, &sent, &form).await.unwrap();
        let document = NewDocument { id: next_id(), owner_id: owner, title: "D", kind: "application/pdf" };
        let notes = ["page 2 has no text".to_owned()];
        let version = NewDocumentVersion { origin: Some(&original), notes: &notes, ..new_text_version("D") };
        write::insert(&mut tx, &document, &version, at).await.unwrap();
        let card = AttachmentCard { title: "c.png".into(), ..AttachmentCard::default() };
        let attachments = Some(vec![Attachment { content: image(&drafted), card }]);
        let draft = Draft { text: "see".into(), attachments: attachments.clone(), ..Draft::default() };
        drafts::put(&mut tx, owner, None, &draft, at).await.unwrap().unwrap();
        // A change of the text keeps the attachments.
        let words_alone = Draft { text: "look".into(), rev: 1, ..Draft::default() };
        drafts::put(&mut tx, owner, None, &words_alone, at).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        let kept = drafts::find(db, owner, None).await.unwrap().unwrap();
        assert_eq!(drafts::rev(db, owner, None).await.unwrap(), kept.rev);
        assert_eq!(drafts::rev(db, UserId::from_uuid(Uuid::nil()), None).await.unwrap(), 0, "nobody else's");
        assert_eq!((kept.text.as_str(), kept.attachments), ("look", attachments));
        assert_eq!(blobs::image_forms(db, &sent).await.unwrap(), [form]);
        let found = uploads::find(db, owner, &sent).await.unwrap().unwrap();
        assert_eq!((found.name.as_str(), found.kind, found.size), ("b.png", UploadKind::Image, Some((3, 2))));
        assert_eq!(uploads::find(db, other, &sent).await.unwrap(), None);
        assert_eq!(documents::read::find(db, owner, document.id).await.unwrap().unwrap().version.notes, notes);
        // Each blob counts once, and so does the text of the document.
        let all = b"forgotten".len() + b"sent".len() + b"small".len() + b"drafted".len() + b"original".len() + 1;
        assert_eq!(uploads::used_bytes(db, owner).await.unwrap(), all as u64);
        assert_eq!(uploads::used_bytes(db, other).await.unwrap(), 0);
        // The owner has access by the upload, by the document made from it, and to a thumbnail of an owned image.
        for (sha256, bytes) in [(&sent, &b"sent"[..]), (&original, b"original"), (&small, b"small")] {
            assert_eq!(blobs::find(db, owner, sha256).await.unwrap().unwrap().bytes, bytes);
            assert_eq!(blobs::find(db, other, sha256).await.unwrap(), None);
            assert_eq!(blobs::find_type_and_size(db, other, sha256).await.unwrap(), None);
        }
        assert_eq!(blobs::find_type_and_size(db, owner, &small).await.unwrap(), Some(("image/webp".into(), 5)));
        create_message(db, owner, vec![image(&sent)]).await;
        let gone = Content::Image { blob: "f".repeat(64), mime: "image/png".into(), alt: String::new() };
        let message = turns_of_one(db, owner, gone).await;
        assert!(matches!(message, Err(StoreError::Gone(_))), "{message:?}");
        assert_fsck_clean(db).await;

        let day = at + limits::BLOB_KEPT;
        purge_scheduled(db, day).await.unwrap();
        assert!(blobs::find(db, owner, &forgotten).await.unwrap().is_some());
        purge_scheduled(db, day + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(blobs::find(db, owner, &forgotten).await.unwrap(), None);
        for sha256 in [&sent, &small, &drafted, &original] {
            assert!(blobs::find(db, owner, sha256).await.unwrap().is_some(), "{sha256}");
        }
        // The draft is sent without the upload and the document is deleted permanently: their bytes are deleted, too.
        let mut tx = db.begin().await.unwrap();
        drafts::clear(&mut tx, owner, None, next_time()).await.unwrap();
        write::move_to_trash(&mut tx, owner, document.id, next_id(), next_time()).await.unwrap();
        assert!(delete_one(&mut tx, DocumentPurgeTarget::OwnedBy(owner)).await.unwrap());
        tx.commit().await.unwrap();
        purge_scheduled(db, day + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(blobs::find(db, owner, &drafted).await.unwrap(), None);
        assert_eq!(blobs::find(db, owner, &original).await.unwrap(), None);
        // An image is deleted with its chat, and its thumbnail with it.
        match db {
            Db::Sqlite { writer, .. } => drop(sqlx::raw_sql("DELETE FROM chats").execute(writer).await.unwrap()),
            Db::Postgres { writer, .. } => drop(sqlx::raw_sql("DELETE FROM chats").execute(writer).await.unwrap()),
        }
        purge_scheduled(db, day + TimeDelta::seconds(1)).await.unwrap();
        assert_eq!(uploads::used_bytes(db, owner).await.unwrap(), 0);
        assert_eq!(count(db, "SELECT COUNT(*) FROM blobs").await, 0);
        assert_fsck_clean(db).await;
        fresh.close().await;
    }
}

/// A repeated upload of the same bytes is one upload, whose retention of one day starts again.
#[tokio::test]
async fn same_file_is_stored_once() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let (owner, other) = two_owners(db).await;
        let at = next_time();
        let sha256 = create_upload(db, owner, "a.png", b"same", at).await;
        create_upload(db, owner, "a.png", b"same", at + TimeDelta::hours(5)).await;
        create_upload(db, other, "b.png", b"same", at).await;
        assert_eq!(count(db, "SELECT COUNT(*) FROM blobs").await, 1);
        assert_eq!(count(db, "SELECT COUNT(*) FROM uploads").await, 2);
        purge_scheduled(db, at + limits::BLOB_KEPT + TimeDelta::hours(1)).await.unwrap();
        assert_eq!(uploads::find(db, owner, &sha256).await.unwrap().unwrap().name, "a.png");
        assert_eq!(uploads::find(db, other, &sha256).await.unwrap(), None);
        fresh.close().await;
    }
}

#[tokio::test]
async fn forgotten_uploads_free_their_disk_space() {
    let fresh = databases::empty_sqlite().await;
    fresh.db.migrate(None, databases::noon()).await.unwrap();
    let db = &fresh.db;
    let (owner, _) = two_owners(db).await;
    let before = count(db, "PRAGMA page_count").await;
    let at = next_time();
    let bytes: Vec<u8> = (0..4_u32 << 20).map(|n| (n % 251) as u8).collect();
    create_upload(db, owner, "large.png", &bytes, at).await;
    let plan = create_document(db, owner, &"a document ".repeat(100_000), at).await;
    let mut tx = db.begin().await.unwrap();
    write::move_to_trash(&mut tx, owner, plan, next_id(), at).await.unwrap();
    tx.commit().await.unwrap();
    assert!(count(db, "PRAGMA page_count").await > before + 1_000);
    purge_expired(db, at + limits::TRASH_KEPT + TimeDelta::seconds(1)).await.unwrap();
    let after = count(db, "PRAGMA page_count").await;
    assert!(after < before + 50, "{before} pages, then {after}");
    fresh.close().await;
}

/// `fsck` reports rows that the product never writes.
#[tokio::test]
async fn fsck_finds_broken_documents() {
    const PLANTED: &[(&str, &str, &str)] = &[
        ("C19", "document_versions", "UPDATE document_versions SET char_count = char_count + 1"),
        ("C19", "document_versions", "UPDATE document_versions SET content = 'other words'"),
        ("C19", "block_documents", "UPDATE block_documents SET version_timestamp = '2020-01-01T00:00:00+00:00'"),
        ("R15", "block_documents", "UPDATE documents SET owner_id = (SELECT id FROM users WHERE name = 'other')"),
        ("R10", "turn_blocks", "DELETE FROM block_documents"),
        ("R10", "turn_blocks", "DELETE FROM block_blobs"),
        (
            "R10",
            "blobs",
            "UPDATE blobs SET mime = 'image/png', bytes = (SELECT bytes FROM blobs WHERE mime = 'text/x')",
        ),
    ];
    for (invariant, table, plant) in PLANTED {
        for fresh in databases::test_databases().await {
            let db = &fresh.db;
            let (owner, _) = two_owners(db).await;
            let at = next_time();
            let plan = create_document(db, owner, "x", at).await;
            let sha256 = create_upload(db, owner, "a.png", b"picture", at).await;
            let mut tx = db.begin().await.unwrap();
            blobs::insert_unreferenced(&mut tx, &hash(b"other"), "text/x", b"other", at).await.unwrap();
            tx.commit().await.unwrap();
            create_message(db, owner, vec![reference(plan, at), image(&sha256)]).await;
            assert_fsck_clean(db).await;
            match db {
                Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(*plant).execute(writer).await.unwrap()),
                Db::Postgres { writer, .. } => drop(sqlx::raw_sql(*plant).execute(writer).await.unwrap()),
            }
            let findings = fsck::check(db, CheckMode::Serving).await.unwrap();
            let is_named = findings.iter().any(|found| found.invariant == *invariant && found.table == *table);
            assert!(is_named, "{plant}: {findings:#?}");
            fresh.close().await;
        }
    }
}

async fn count(db: &Db, text: &'static str) -> i64 {
    match db {
        Db::Sqlite { readers, .. } => sqlx::query_scalar(text).fetch_one(readers).await.unwrap(),
        Db::Postgres { readers, .. } => sqlx::query_scalar(text).fetch_one(readers).await.unwrap(),
    }
}

/// Tries to store a message of one block, then rolls back.
async fn turns_of_one(db: &Db, owner: UserId, content: Content) -> Result<(), StoreError> {
    let mut tx = db.begin().await.unwrap();
    let chat = chat(owner);
    let on = branch(chat.id);
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &on, &frozen_settings()).await.unwrap();
    let mut message = turn(&on, Uuid::nil().into(), None, 1, Role::User);
    let exchange = exchange(&on, message.id, None);
    message.exchange_id = exchange.id;
    message.blocks = vec![block(&message, 0, Author::User, BlockState::Done, content)];
    exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &message).await
}
