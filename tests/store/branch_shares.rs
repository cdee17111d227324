//! Live shares, on both databases: one chapter of the walkthrough. It leaves a share that an account and a group read, for
//! the tests of damage.

use turnleaf::domain::*;
use turnleaf_store::accounts::access_rules::NewGrant;
use turnleaf_store::accounts::identities::{self, IdentityKey};
use turnleaf_store::accounts::{groups, identity_groups, users};
use turnleaf_store::shares::branch_shares::{self, OpenBranchShare};
use turnleaf_store::{Db, branches};

use crate::domain_fixtures::{next_id, next_time};
use crate::reruns::StoryState;

/// An image that the owner has stored, and that no message has.
const STRAY: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

async fn set_readers(db: &Db, owner: UserId, share: BranchShareId, readers: &[NewGrant]) {
    let mut tx = db.begin().await.unwrap();
    assert!(branch_shares::set_readers(&mut tx, owner, share, readers).await.unwrap());
    tx.commit().await.unwrap();
}

/// Comes after the chapter of accounts, which leaves an account Bob in one group with a mapping.
pub async fn check_branch_shares(db: &Db, state: &StoryState<'_>) {
    let (owner, stranger): (UserId, UserId) = (state.owner, next_id());
    let bob = users::find_by_name(db, "bob").await.unwrap().unwrap();
    let group = groups::list(db, 1).await.unwrap().remove(0);
    let (id, now): (BranchShareId, _) = (next_id(), next_time());
    let parts = LiveParts { tools: true, ..LiveParts::default() };
    let by_name = [NewGrant::Account(next_id(), bob.id)];
    let mut tx = db.begin().await.unwrap();
    assert!(!branch_shares::insert(&mut tx, stranger, (id, state.branch), parts, now).await.unwrap());
    assert!(!branch_shares::insert(&mut tx, owner, (id, next_id()), parts, now).await.unwrap());
    assert!(branch_shares::insert(&mut tx, owner, (id, state.branch), parts, now).await.unwrap());
    assert!(!branch_shares::set_readers(&mut tx, stranger, id, &by_name).await.unwrap());
    assert!(branch_shares::set_readers(&mut tx, owner, id, &by_name).await.unwrap());
    assert_eq!(branch_shares::count(&mut tx, owner).await.unwrap(), 1);
    assert_eq!(branch_shares::count(&mut tx, stranger).await.unwrap(), 0);
    tx.commit().await.unwrap();

    let open = async |reader: UserId| branch_shares::open(db, reader, id).await.unwrap();
    let received = async |reader: UserId| branch_shares::received(db, reader, 9).await.unwrap();
    let head = branches::find(db, owner, state.branch).await.unwrap().unwrap().head_turn_id.unwrap();
    let opened = OpenBranchShare { owner, chat_id: state.chat, head, parts };
    assert_eq!(open(bob.id).await, Some(opened.clone()));
    assert_eq!(open(owner).await, Some(opened), "an owner sees what readers see");
    assert_eq!(open(stranger).await, None);
    assert_eq!(branch_shares::open(db, bob.id, next_id()).await.unwrap(), None);
    let seen = received(bob.id).await;
    assert_eq!((seen.len(), seen[0].id, seen[0].owner_name.as_str(), seen[0].created_at), (1, id, "Ann", now));
    assert!(received(owner).await.is_empty() && received(stranger).await.is_empty());
    let listed = branch_shares::list(db, owner, None, 9).await.unwrap();
    let readers = BranchReaders { accounts: vec![bob.name.clone()], groups: Vec::new() };
    assert_eq!((listed.len(), listed[0].id, &listed[0].readers), (1, id, &readers));
    assert_eq!((listed[0].chat_id, listed[0].branch_id, listed[0].parts), (state.chat, state.branch, parts));
    assert_eq!(branch_shares::list(db, owner, Some(id), 1).await.unwrap(), listed);
    assert_eq!(branch_shares::list(db, owner, Some(next_id()), 1).await.unwrap(), []);
    assert_eq!(branch_shares::list(db, stranger, None, 9).await.unwrap(), []);
    for (reader, has_tools) in [(owner, true), (stranger, false)] {
        let image = branch_shares::path_image(db, reader, head, STRAY, has_tools).await.unwrap();
        assert_eq!(image, None, "it is not on the path");
    }

    // A member of a group reads until they leave it.
    set_readers(db, owner, id, &[NewGrant::Group(next_id(), group.id)]).await;
    assert!(open(bob.id).await.is_some() && received(bob.id).await.len() == 1);
    let mut tx = db.begin().await.unwrap();
    assert!(groups::remove_member(&mut tx, group.id, bob.id).await.unwrap());
    tx.commit().await.unwrap();
    assert!(open(bob.id).await.is_none() && received(bob.id).await.is_empty());
    // So does one by a mapping.
    let identity: IdentityId = next_id();
    let mut tx = db.begin().await.unwrap();
    let key = IdentityKey { issuer: "https://id.example", subject: "0043" };
    assert!(identities::insert(&mut tx, bob.id, (identity, key), now).await.unwrap());
    let groups = ["staff".to_owned()];
    assert!(identity_groups::replace(&mut tx, bob.id, identity, ("https://id.example/", &groups)).await.unwrap());
    tx.commit().await.unwrap();
    assert!(open(bob.id).await.is_some() && received(bob.id).await.len() == 1);
    let mut tx = db.begin().await.unwrap();
    assert!(identities::delete(&mut tx, bob.id, identity).await.unwrap().is_some());
    tx.commit().await.unwrap();
    assert!(open(bob.id).await.is_none() && received(bob.id).await.is_empty());
    let mut tx = db.begin().await.unwrap();
    assert!(groups::add_member(&mut tx, group.id, bob.id).await.unwrap());
    let ended: BranchShareId = next_id();
    assert!(branch_shares::insert(&mut tx, owner, (ended, state.branch), parts, now).await.unwrap());
    assert!(!branch_shares::delete(&mut tx, stranger, ended).await.unwrap());
    assert!(branch_shares::delete(&mut tx, owner, ended).await.unwrap());
    assert!(!branch_shares::delete(&mut tx, owner, ended).await.unwrap());
    tx.commit().await.unwrap();

    set_readers(db, owner, id, &[by_name[0], NewGrant::Group(next_id(), group.id)]).await;
    let listed = branch_shares::list(db, owner, None, 9).await.unwrap();
    let readers = BranchReaders { accounts: vec![bob.name], groups: vec![group.name] };
    assert_eq!((listed.len(), &listed[0].readers), (1, &readers));
    assert_eq!(received(bob.id).await.len(), 1, "it is one share, whoever names its reader");
}
