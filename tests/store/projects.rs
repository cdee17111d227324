//! Projects, on both databases: one chapter of the walkthrough.

use turnleaf::domain::*;
use turnleaf_store::chats::{self, BrowseFilter, browse};
use turnleaf_store::projects::{self, ProjectUpdate};
use turnleaf_store::usage::storage;
use turnleaf_store::{Db, StoreError};

use crate::domain_fixtures::{next_id, next_time};
use crate::reruns::StoryState;

fn project(owner: UserId, name: &str) -> Project {
    Project {
        id: next_id(),
        owner_id: owner,
        name: name.into(),
        color: ProjectColor::Teal,
        instructions: "Be brief.".into(),
        default_model: Some(ModelLock::new("demo", "tour")),
        version: 1,
        created_at: next_time(),
        updated_at: next_time(),
    }
}

async fn chats_in(db: &Db, owner: UserId, project: ProjectId) -> Vec<ChatId> {
    let which = BrowseFilter { project: Some(project), ..BrowseFilter::default() };
    browse(db, owner, &which, 9).await.unwrap().into_iter().map(|chat| chat.id).collect()
}

pub async fn check_projects(db: &Db, state: &StoryState<'_>) {
    let (owner, stranger, chat): (UserId, UserId, ChatId) = (state.owner, next_id(), state.chat);
    let before = storage::measure(db, owner).await.unwrap();
    let (boat, house) = (project(owner, "boat"), project(owner, "House"));
    let mut tx = db.begin().await.unwrap();
    projects::insert(&mut tx, &house).await.unwrap();
    projects::insert(&mut tx, &boat).await.unwrap();
    let nul = Project { id: next_id(), name: "a\0".into(), ..boat.clone() };
    assert!(matches!(projects::insert(&mut tx, &nul).await, Err(StoreError::Nul(_))));
    assert_eq!(projects::count(&mut tx, owner).await.unwrap(), 2);
    assert_eq!(projects::count(&mut tx, stranger).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(storage::measure(db, owner).await.unwrap().chats, before.chats + 2 * "Be brief.".len() as u64);
    let listed: Vec<Project> =
        projects::list(db, owner, 9).await.unwrap().into_iter().map(|listed| listed.project).collect();
    assert_eq!(listed, [boat.clone(), house.clone()], "by name, whatever its case");
    assert_eq!(projects::list(db, stranger, 9).await.unwrap(), []);
    let recent: Vec<ProjectId> =
        projects::list_recent(db, owner, 9).await.unwrap().into_iter().map(|project| project.id).collect();
    assert_eq!(recent, [house.id, boat.id], "without chats by their last change");
    assert_eq!(projects::list_recent(db, owner, 1).await.unwrap()[0].name, "House");
    assert_eq!(projects::list_recent(db, stranger, 9).await.unwrap(), []);
    assert_eq!(projects::find(db, stranger, boat.id).await.unwrap(), None);

    // Only other instructions are another version.
    let mut tx = db.begin().await.unwrap();
    let named = ProjectUpdate { name: Some("Boat".into()), ..ProjectUpdate::default() };
    assert!(!projects::update(&mut tx, stranger, boat.id, &named, next_time()).await.unwrap());
    assert!(projects::update(&mut tx, owner, boat.id, &named, next_time()).await.unwrap());
    let same = ProjectUpdate { instructions: Some("Be brief.".into()), ..ProjectUpdate::default() };
    assert!(projects::update(&mut tx, owner, boat.id, &same, next_time()).await.unwrap());
    tx.commit().await.unwrap();
    let found = projects::find(db, owner, boat.id).await.unwrap().unwrap().project;
    assert_eq!((found.name.as_str(), found.version, &found.default_model), ("Boat", 1, &boat.default_model));
    let mut tx = db.begin().await.unwrap();
    let other = ProjectUpdate {
        instructions: Some("Be long.".into()),
        default_model: Some(None),
        color: Some(ProjectColor::Red),
        name: None,
    };
    assert!(projects::update(&mut tx, owner, boat.id, &other, next_time()).await.unwrap());
    tx.commit().await.unwrap();
    let found = projects::find(db, owner, boat.id).await.unwrap().unwrap().project;
    assert_eq!((found.color, found.version, found.default_model), (ProjectColor::Red, 2, None));

    check_moves(db, state, (boat.id, house.id)).await;
    let mut tx = db.begin().await.unwrap();
    assert!(!projects::delete(&mut tx, stranger, boat.id).await.unwrap());
    assert!(projects::delete(&mut tx, owner, boat.id).await.unwrap());
    assert!(!projects::delete(&mut tx, owner, boat.id).await.unwrap());
    assert_eq!(projects::delete_all(&mut tx, stranger).await.unwrap(), 0);
    assert_eq!(projects::delete_all(&mut tx, owner).await.unwrap(), 1);
    tx.commit().await.unwrap();
    let kept = chats::find(db, owner, chat).await.unwrap().unwrap();
    assert_eq!((kept.project_id, kept.project_version), (None, None), "the chat of a deleted project stays");
}

/// The chat is moved between projects of its owner, and ends in the first.
async fn check_moves(db: &Db, state: &StoryState<'_>, (boat, house): (ProjectId, ProjectId)) {
    let (owner, stranger, chat): (UserId, UserId, ChatId) = (state.owner, next_id(), state.chat);
    let mut tx = db.begin().await.unwrap();
    assert!(!projects::move_chat(&mut tx, stranger, chat, Some(boat)).await.unwrap());
    assert!(!projects::move_chat(&mut tx, owner, chat, Some(next_id())).await.unwrap());
    assert!(projects::move_chat(&mut tx, owner, chat, Some(house)).await.unwrap());
    assert!(!projects::set_chat_version(&mut tx, stranger, chat, 7).await.unwrap());
    assert!(projects::set_chat_version(&mut tx, owner, chat, 7).await.unwrap());
    assert!(projects::move_chat(&mut tx, owner, chat, Some(house)).await.unwrap());
    tx.commit().await.unwrap();
    let stayed = chats::find(db, owner, chat).await.unwrap().unwrap();
    assert_eq!((stayed.project_id, stayed.project_version), (Some(house), Some(7)));
    let mut tx = db.begin().await.unwrap();
    assert!(projects::move_chat(&mut tx, owner, chat, Some(boat)).await.unwrap());
    tx.commit().await.unwrap();
    let moved = chats::find(db, owner, chat).await.unwrap().unwrap();
    assert_eq!((moved.project_id, moved.project_version), (Some(boat), None));
    assert_eq!((chats_in(db, owner, boat).await, chats_in(db, owner, house).await), (vec![chat], vec![]));
    assert_eq!(chats_in(db, stranger, boat).await, []);
    assert_eq!(projects::list_chats(db, owner, boat, 9).await.unwrap(), [chat]);
    assert_eq!(projects::list_chats(db, stranger, boat, 9).await.unwrap(), []);
    assert_eq!(projects::find_unused_chat(db, owner, boat).await.unwrap(), None, "it has messages");
    let listed = projects::find(db, owner, boat).await.unwrap().unwrap();
    assert_eq!((listed.chats, listed.archived_chats), (1, 0));
}
