//! What a page that is open asks again and again: in which of one's chats replies run, and which of them wait.

use std::sync::Arc;

use turnleaf::domain::{ChatId, UserId};
use turnleaf::server::outbound::scripted::{Answer, Scripted};
use turnleaf::server::pages::Pages;
use turnleaf::server::platform::ids;

use crate::house::{House, text};
use crate::tool_calls::{asks, calls};
use crate::toolbox::{Does, Lab};

#[tokio::test]
async fn running_chats_are_told_to_their_owner_alone() {
    let lab = Lab::default().asking("write", Does::Echo);
    let provider = || Scripted::new("scripted", [calls([text("I write.")], &[("lab__write", "{}")]), Answer::Silence]);
    for house in House::everywhere_with(provider, || Arc::new(lab.clone())).await {
        let pages = Pages::new(house.service.clone());
        let told = async |viewer: UserId| -> Vec<(ChatId, bool)> { pages.running_chats(viewer).await.unwrap() };
        assert_eq!(told(house.owner).await, []);
        let asking = house.chat_with(&lab.offer()).await;
        let waits = house.send_to(asking, "go").await.assistant_turn.id;
        house.until(waits, asks).await;
        let running = house.send("on and on").await;
        let mut expected = vec![(asking, true), (running.chat.id, false)];
        expected.sort_unstable();
        assert_eq!(told(house.owner).await, expected);
        let stranger = ids::mint();
        assert_eq!(told(stranger).await, [], "not those of somebody else");
        let there = house.service.chats_there(house.owner, [asking, ids::mint()]).await.unwrap();
        assert_eq!(there.into_iter().collect::<Vec<_>>(), [asking]);
        assert!(house.service.chats_there(stranger, [asking]).await.unwrap().is_empty());
        house.service.stop_turn(house.owner, waits).await.unwrap();
        house.service.stop_turn(house.owner, running.assistant_turn.id).await.unwrap();
        assert_eq!(told(house.owner).await, []);
        house.close().await;
    }
}

#[tokio::test]
async fn the_number_of_a_branchs_tools_is_what_it_offers() {
    let lab = Lab::default().with("look", Does::Echo).with("write", Does::Echo);
    for house in House::everywhere(|| Scripted::new("scripted", [])).await {
        for (offer, expected) in [(lab.offer(), 3), (Vec::new(), 0)] {
            let chat = house.chat_with(&offer).await;
            let branch = house.service.branches(house.owner, chat).await.unwrap()[0].id;
            assert_eq!(house.service.tools_on(house.owner, branch).await.unwrap(), Some(expected));
            assert_eq!(house.service.tools_on(ids::mint(), branch).await.unwrap(), None);
        }
        // A branch of before there were tools says nothing.
        house.sql("UPDATE branches SET tools = NULL").await;
        let chat = house.service.list_chats(house.owner, 1).await.unwrap()[0].id;
        let branch = house.service.branches(house.owner, chat).await.unwrap()[0].id;
        assert_eq!(house.service.tools_on(house.owner, branch).await.unwrap(), None);
        house.close().await;
    }
}
