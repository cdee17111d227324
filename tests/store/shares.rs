//! Shares, on both databases: one chapter of the walkthrough.

use bytes::Bytes;
use chrono::TimeDelta;
use turnleaf::domain::*;
use turnleaf_store::Db;
use turnleaf_store::documents::blobs;
use turnleaf_store::documents::uploads::{self, NewUpload, UploadKind};
use turnleaf_store::shares::snapshots::{self, ListedShare, NewStoredShare};
use turnleaf_store::usage::storage;

use crate::domain_fixtures::{next_id, next_time};
use crate::reruns::StoryState;

const HASH: &[u8] = &[7; 32];
const OF_SIGNED_IN: &[u8] = &[9; 32];
const UNKNOWN: &[u8] = &[8; 32];
/// The hashes of `abc` and of nothing.
const IMAGE: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const STRAY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn shared_turns() -> SharedTurns {
    SharedTurns { title: "A path".into(), system_prompt: "Be brief.".into(), turns: Vec::new() }
}

fn new_share(state: &StoryState<'_>, hash: &[u8], audience: ShareAudience) -> NewStoredShare {
    let now = next_time();
    let share = Share {
        id: next_id(),
        chat_id: state.chat,
        leaf_id: state.reply.id,
        audience,
        parts: SharedParts { tools: true, ..SharedParts::default() },
        created_at: now,
        expires_at: now + TimeDelta::days(36_500),
        revoked_at: None,
        last_access_at: None,
    };
    let turns = serde_json::to_vec(&shared_turns()).unwrap();
    NewStoredShare {
        share,
        hash: hash.to_vec(),
        snapshot: Bytes::from_static(b"<p>a page</p>"),
        turns: Some(turns.into()),
    }
}

pub async fn check_shares(db: &Db, state: &StoryState<'_>) {
    let (owner, stranger): (UserId, UserId) = (state.owner, next_id());
    let before = storage::measure(db, owner).await.unwrap();
    let new = new_share(state, HASH, ShareAudience::Link);
    let id = new.share.id;
    let mut tx = db.begin().await.unwrap();
    assert!(!snapshots::insert(&mut tx, stranger, &new).await.unwrap());
    let elsewhere = Share { chat_id: next_id(), ..new.share.clone() };
    assert!(!snapshots::insert(&mut tx, owner, &NewStoredShare { share: elsewhere, ..new.clone() }).await.unwrap());
    assert!(snapshots::insert(&mut tx, owner, &new).await.unwrap());
    assert_eq!(snapshots::count(&mut tx, owner, next_time()).await.unwrap(), 1);
    assert_eq!(snapshots::count(&mut tx, owner, new.share.expires_at).await.unwrap(), 0, "it has ended");
    assert_eq!(snapshots::count(&mut tx, stranger, next_time()).await.unwrap(), 0);
    // Only an image that the owner has becomes one of the share.
    for (sha256, bytes) in [(IMAGE, &b"abc"[..]), (STRAY, b"")] {
        blobs::insert_unreferenced(&mut tx, sha256, "image/png", bytes, next_time()).await.unwrap();
    }
    let upload =
        NewUpload { id: next_id(), owner_id: owner, sha256: IMAGE, name: "a.png", kind: UploadKind::Image, size: None };
    uploads::put(&mut tx, &upload, next_time()).await.unwrap();
    for sha256 in [IMAGE, STRAY] {
        blobs::reference_by_share(&mut tx, stranger, id, sha256).await.unwrap();
        blobs::reference_by_share(&mut tx, owner, id, sha256).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert!(storage::measure(db, owner).await.unwrap().chats > before.chats);

    let title = turnleaf_store::chats::find(db, owner, state.chat).await.unwrap().unwrap().title;
    let stored = ListedShare { share: new.share.clone(), chat_title: title };
    assert_eq!(snapshots::find(db, owner, id).await.unwrap(), Some(stored.clone()));
    assert_eq!(snapshots::find(db, stranger, id).await.unwrap(), None);
    assert_eq!(snapshots::list(db, owner, next_time(), 9).await.unwrap(), [stored]);
    assert_eq!(snapshots::list(db, stranger, next_time(), 9).await.unwrap(), []);

    // A reader needs the hash and nothing else, until the share ends.
    let now = next_time();
    let open = async |hash: &[u8], now, is_signed_in| snapshots::open(db, hash, now, is_signed_in).await.unwrap();
    let image = async |sha256, now| snapshots::open_blob(db, (HASH, sha256), now, false).await.unwrap();
    let opened = open(HASH, now, false).await.unwrap();
    assert_eq!((opened.id, opened.snapshot, opened.last_access_at), (id, new.snapshot.to_vec(), None));
    assert!(opened.has_turns);
    let turns = async |hash: &[u8], now| snapshots::open_turns(db, hash, now).await.unwrap();
    let opened = turns(HASH, now).await.unwrap();
    assert_eq!((opened.owner, opened.leaf), (owner, new.share.leaf_id));
    assert_eq!((opened.turns, opened.bytes), (shared_turns(), new.turns.as_ref().unwrap().len() as u64));
    assert_eq!(turns(UNKNOWN, now).await, None);
    assert_eq!(turns(HASH, new.share.expires_at).await, None);
    // A block gets an image of the owner and no other.
    let mut tx = db.begin().await.unwrap();
    blobs::reference_owned(&mut tx, owner, state.reply.blocks[0].id, STRAY).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(blobs::find_type_and_size(db, owner, STRAY).await.unwrap(), None);
    assert_eq!(image(IMAGE, now).await, Some(Bytes::from_static(b"abc")));
    assert_eq!(image(STRAY, now).await, None);
    assert_eq!(snapshots::open_blob(db, (UNKNOWN, IMAGE), now, false).await.unwrap(), None);
    assert_eq!(open(UNKNOWN, now, true).await, None);
    assert_eq!(open(HASH, new.share.expires_at, true).await, None);
    assert_eq!(image(IMAGE, new.share.expires_at).await, None);
    let mut tx = db.begin().await.unwrap();
    snapshots::note_access(&mut tx, id, now).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(open(HASH, now, false).await.unwrap().last_access_at, Some(now));

    // One for signed-in readers is closed to strangers.
    let signed_in = new_share(state, OF_SIGNED_IN, ShareAudience::SignedIn);
    let mut tx = db.begin().await.unwrap();
    assert!(snapshots::insert(&mut tx, owner, &signed_in).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(open(OF_SIGNED_IN, next_time(), false).await, None);
    assert_eq!(open(OF_SIGNED_IN, next_time(), true).await.unwrap().id, signed_in.share.id);
    assert_eq!(
        snapshots::list(db, owner, next_time(), 1).await.unwrap()[0].share.id,
        signed_in.share.id,
        "newest first"
    );

    // A revoked one stays in the list for a while and keeps the time.
    let (at, later) = (next_time(), next_time());
    let mut tx = db.begin().await.unwrap();
    assert!(!snapshots::revoke(&mut tx, stranger, signed_in.share.id, at).await.unwrap());
    assert!(snapshots::revoke(&mut tx, owner, signed_in.share.id, at).await.unwrap());
    assert!(snapshots::revoke(&mut tx, owner, signed_in.share.id, later).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(open(OF_SIGNED_IN, later, true).await, None);
    let revoked = snapshots::find(db, owner, signed_in.share.id).await.unwrap().unwrap();
    assert_eq!(revoked.share.revoked_at, Some(at));
    assert_eq!(snapshots::list(db, owner, later, 1).await.unwrap()[0].share.id, id, "valid ones come first");
    let mut tx = db.begin().await.unwrap();
    assert_eq!(snapshots::count(&mut tx, owner, later).await.unwrap(), 1, "it does not count");
    assert_eq!(snapshots::delete_ended(&mut tx, at).await.unwrap(), 0);
    assert_eq!(snapshots::delete_ended(&mut tx, later).await.unwrap(), 1);
    tx.commit().await.unwrap();
    assert_eq!(snapshots::find(db, owner, signed_in.share.id).await.unwrap(), None);
    assert_eq!(snapshots::list(db, owner, later, 9).await.unwrap().len(), 1);
}
