//! The poll of an open page: in which chats of its user replies run, and which of them wait for the user.

use std::sync::Arc;

use turnleaf::domain::{ChatId, UserId, limits};
use turnleaf::server::page_data::PageService;
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::projects::NewProject;

use crate::test_server::{TestServer, text_step};
use crate::tool_call_support::{is_waiting_for_approval, tool_call_answer};
use crate::toolbox::{FakeToolbox, ToolBehavior};

#[tokio::test]
async fn running_chats_are_listed_only_to_their_owner() {
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    let provider = || {
        ScriptedProvider::new(
            "scripted",
            [tool_call_answer([text_step("I write.")], &[("lab__write", "{}")]), ScriptedAnswer::Silence],
        )
    };
    for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let pages = PageService::new(instance.service.clone());
        let listed = async |viewer: UserId| -> Vec<(ChatId, bool)> { pages.running_chats(viewer).await.unwrap() };
        assert_eq!(listed(instance.owner).await, []);
        let asking = instance.chat_with_tools(&lab.offered_tools()).await;
        let waits = instance.send_to(asking, "go").await.assistant_turn.id;
        instance.wait_until(waits, is_waiting_for_approval).await;
        let running = instance.send("on and on").await;
        let mut expected = vec![(asking, true), (running.chat.id, false)];
        expected.sort_unstable();
        assert_eq!(listed(instance.owner).await, expected);
        let stranger = ids::mint();
        assert_eq!(listed(stranger).await, [], "not those of somebody else");
        let existing = instance.service.existing_chats(instance.owner, [asking, ids::mint()]).await.unwrap();
        assert_eq!(existing.into_iter().collect::<Vec<_>>(), [asking]);
        assert!(instance.service.existing_chats(stranger, [asking]).await.unwrap().is_empty());
        instance.service.stop_turn(instance.owner, waits).await.unwrap();
        instance.service.stop_turn(instance.owner, running.assistant_turn.id).await.unwrap();
        assert_eq!(listed(instance.owner).await, []);
        instance.close().await;
    }
}

#[tokio::test]
async fn branch_tool_count_matches_offered_tools() {
    let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Echo).with_tool("write", ToolBehavior::Echo);
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        for (offer, expected) in [(lab.offered_tools(), 3), (Vec::new(), 0)] {
            let chat = instance.chat_with_tools(&offer).await;
            let branch = instance.service.branches(instance.owner, chat).await.unwrap()[0].id;
            assert_eq!(instance.service.offered_tool_count(instance.owner, branch).await.unwrap(), Some(expected));
            assert_eq!(instance.service.offered_tool_count(ids::mint(), branch).await.unwrap(), None);
        }
        // A branch from before tools existed reports no count.
        instance.sql("UPDATE branches SET tools = NULL").await;
        let chat = instance.service.list_chats(instance.owner, 1).await.unwrap()[0].id;
        let branch = instance.service.branches(instance.owner, chat).await.unwrap()[0].id;
        assert_eq!(instance.service.offered_tool_count(instance.owner, branch).await.unwrap(), None);
        instance.close().await;
    }
}

#[tokio::test]
async fn pinned_chats_come_first_and_archived_chats_are_omitted() {
    use turnleaf::domain::chats::chat::ChatListHeading;
    use turnleaf_service::chats::{BrowseFilter, ChatChange};
    for instance in TestServer::on_every_database(|| {
        ScriptedProvider::new("scripted", [ScriptedAnswer::Silence, ScriptedAnswer::Silence])
    })
    .await
    {
        let pages = PageService::new(instance.service.clone());
        let (one, two, three) = (
            instance.chat_with_tools(&[]).await,
            instance.chat_with_tools(&[]).await,
            instance.chat_with_tools(&[]).await,
        );
        let listed = async || -> Vec<(ChatId, ChatListHeading)> {
            let items = pages.list_chats(instance.owner, None, 0).await.unwrap();
            items.into_iter().map(|item| (item.id, item.heading)).collect()
        };
        let archive = async || -> Vec<ChatId> {
            let which = BrowseFilter { archived: true, ..BrowseFilter::default() };
            let chats = instance.service.browse_chats(instance.owner, &which, 9).await.unwrap();
            chats.into_iter().map(|chat| chat.id).collect()
        };
        let change = async |chat, pinned, archived| {
            let change = ChatChange { pinned, archived, ..ChatChange::default() };
            instance.service.change_chat(instance.owner, chat, change).await.unwrap()
        };
        change(one, Some(true), None).await;
        let mut all = listed().await;
        assert_eq!(all[0], (one, ChatListHeading::Pinned));
        all.sort_unstable_by_key(|(chat, _)| *chat);
        let mut expected =
            vec![(one, ChatListHeading::Pinned), (two, ChatListHeading::Today), (three, ChatListHeading::Today)];
        expected.sort_unstable_by_key(|(chat, _)| *chat);
        assert_eq!(all, expected, "each stands once");
        // Pinning again keeps the position; other users cannot pin it at all.
        let since = change(two, Some(true), None).await.pinned_at;
        assert_eq!(change(two, Some(true), None).await.pinned_at, since);
        let stranger = ChatChange { archived: Some(true), ..ChatChange::default() };
        assert!(instance.service.change_chat(ids::mint(), two, stranger).await.is_err());
        change(two, Some(false), None).await;

        change(one, None, Some(true)).await;
        change(three, None, Some(true)).await;
        assert_eq!(listed().await, [(two, ChatListHeading::Today)]);
        let mut archived = archive().await;
        archived.sort_unstable();
        let mut expected = vec![one, three];
        expected.sort_unstable();
        assert_eq!(archived, expected);
        assert_eq!(instance.service.list_chats(instance.owner, 9).await.unwrap().len(), 1);
        // A message unarchives a chat, which is still pinned.
        let turn = instance.send_to(one, "and now?").await.assistant_turn.id;
        assert_eq!(listed().await, [(one, ChatListHeading::Pinned), (two, ChatListHeading::Today)]);
        assert_eq!(archive().await, [three]);
        instance.service.stop_turn(instance.owner, turn).await.unwrap();
        change(three, None, Some(false)).await;
        assert_eq!(archive().await, []);
        instance.close().await;
    }
}

#[tokio::test]
async fn chats_are_filtered_by_title_part_and_paginated() {
    use turnleaf_service::chats::{BrowseFilter, ChatChange};
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        let mut named = Vec::new();
        for title in ["Trees", "Über Bäume", "100 % leaves", "More trees"] {
            let chat = instance.chat_with_tools(&[]).await;
            let change = ChatChange { title: Some(title.into()), ..ChatChange::default() };
            instance.service.change_chat(instance.owner, chat, change).await.unwrap();
            named.push(chat);
        }
        let found = async |part: &str| -> Vec<String> {
            let which = BrowseFilter { title_part: part.into(), ..BrowseFilter::default() };
            let chats = instance.service.browse_chats(instance.owner, &which, 9).await.unwrap();
            let mut titles: Vec<String> = chats.into_iter().map(|chat| chat.title).collect();
            titles.sort_unstable();
            titles
        };
        assert_eq!(found("TREE").await, ["More trees", "Trees"]);
        assert_eq!(found("über").await, ["Über Bäume"]);
        assert_eq!(found("%").await, ["100 % leaves"]);
        assert_eq!(found("stones").await, Vec::<String>::new());
        let mut seen = Vec::new();
        let mut which = BrowseFilter::default();
        loop {
            let some = instance.service.browse_chats(instance.owner, &which, 3).await.unwrap();
            seen.extend(some.iter().map(|chat| chat.id));
            which.after = some.last().map(|chat| chat.id);
            if some.len() < 3 {
                break;
            }
        }
        seen.sort_unstable();
        named.sort_unstable();
        assert_eq!(seen, named);
        assert!(instance.service.browse_chats(ids::mint(), &BrowseFilter::default(), 9).await.unwrap().is_empty());
        instance.close().await;
    }
}

#[tokio::test]
async fn list_begins_with_projects_that_have_newest_chats() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        let pages = PageService::new(instance.service.clone());
        let names = async |viewer: UserId| -> Vec<String> {
            let listed = pages.chat_list(viewer, 0).await.unwrap();
            listed.projects.into_iter().map(|project| project.name).collect()
        };
        let create = async |name: &str| {
            let new = NewProject { name: name.into(), ..NewProject::default() };
            instance.service.create_project(instance.owner, new).await.unwrap().value.project.id
        };
        assert!(names(instance.owner).await.is_empty());
        let boat = create("Boat").await;
        create("House").await;
        assert_eq!(names(instance.owner).await, ["House", "Boat"]);
        let chat = instance.service.begin_chat_in_project(instance.owner, boat).await.unwrap();
        assert_eq!(names(instance.owner).await, ["Boat", "House"]);
        let chats = pages.chat_list(instance.owner, 0).await.unwrap().chats;
        assert_eq!(chats.iter().map(|item| item.id).collect::<Vec<_>>(), [chat], "chats of projects stay in the list");
        for n in 0..limits::RECENT_PROJECTS {
            create(&n.to_string()).await;
        }
        assert_eq!(names(instance.owner).await.len(), limits::RECENT_PROJECTS as usize);
        assert!(names(ids::mint()).await.is_empty(), "not those of somebody else");
        instance.close().await;
    }
}
