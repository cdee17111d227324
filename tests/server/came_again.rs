//! The same source once more: what it has changed of messages that are here is told and changes nothing here, and what is
//! told of a chat that is here is kept with it, on either database.

use serde_json::{Value, json};
use turnleaf::domain::{ChatId, Difference, DifferenceKind};
use turnleaf_interchange::grow::changed::CHANGED;
use turnleaf_service::transfer::exports::Which;
use turnleaf_service::transfer::imports::ImportReport;

use crate::bad_imports::{conversation, node};
use crate::house::House;
use crate::interchange::{exported, imported};
use crate::samples::{assert_same, houses, lines};

/// A question and the beginning of its answer.
fn begun(id: &str) -> Value {
    conversation(id, &[node("q", None, "user", "Tell me"), node("a", Some("q"), "assistant", "Once upon")])
}

fn bytes(all: &[Value]) -> Vec<u8> {
    serde_json::to_vec(all).unwrap()
}

/// Where something was changed.
fn changed(report: &ImportReport) -> Vec<&str> {
    report.findings.iter().filter(|finding| finding.text == CHANGED).map(|finding| finding.place.as_str()).collect()
}

async fn kept(house: &House, chat: ChatId) -> Vec<Difference> {
    house.service.imported_from(house.owner, chat).await.unwrap().unwrap().differences
}

#[tokio::test]
async fn a_reply_that_got_longer_at_its_source_is_told_and_stays_as_it_is_here() {
    let first = bytes(&[begun("longer"), begun("goes on"), begun("shorter"), begun("same")]);
    let mut longer = begun("longer");
    longer["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once upon a time");
    // A reply in more pieces, with a question behind it.
    let mut goes_on = begun("goes on");
    goes_on["mapping"]["b"] = node("b", Some("a"), "assistant", "a time");
    goes_on["mapping"]["r"] = node("r", Some("b"), "user", "And then?");
    let mut shorter = begun("shorter");
    shorter["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once");
    let second = bytes(&[longer, goes_on, shorter, begun("same")]);
    for house in houses().await {
        let came = imported(&house, "a.json", &first, false).await;
        let chats: Vec<ChatId> = came.chats.iter().filter_map(|chat| chat.id).collect();
        let shown = lines(&house, chats[0]).await;
        assert_eq!(
            (came.imported, came.lost, changed(&imported(&house, "a.json", &first, false).await)),
            (4, 0, vec![])
        );

        let looked = imported(&house, "b.json", &second, true).await;
        let report = imported(&house, "b.json", &second, false).await;
        assert_same(&looked, &report);
        assert_eq!((report.conversations, report.known, report.imported, report.left_out), (4, 4, 0, 0));
        assert_eq!((report.lost, report.turns), (3, 1), "{:#?}", report.findings);
        assert_eq!(changed(&report), ["longer › a", "goes on › a", "shorter › a"]);
        assert_eq!(lines(&house, chats[0]).await, shown);
        let grown = lines(&house, chats[1]).await;
        assert!(grown.len() == 3 && grown[2].contains("And then?"), "{grown:#?}");
        assert!(!grown.iter().any(|line| line.contains("a time")), "{grown:#?}");

        // It is a difference of the chat, once, and in its exports.
        imported(&house, "c.json", &second, false).await;
        let difference =
            |place: &str| Difference { kind: DifferenceKind::Lost, place: place.to_owned(), text: CHANGED.to_owned() };
        for (chat, place) in chats.iter().zip(["longer › a", "goes on › a", "shorter › a"]) {
            assert_eq!(kept(&house, *chat).await, [difference(place)]);
        }
        assert_eq!(kept(&house, chats[3]).await, []);
        let archive: Value = serde_json::from_slice(&exported(&house, Which::Chat(chats[0])).await).unwrap();
        assert_eq!(archive["chats"][0]["imported_from"]["differences"][0]["text"], CHANGED);
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn a_message_that_was_deleted_here_is_not_told_as_changed() {
    for house in houses().await {
        let chat = imported(&house, "a.json", &bytes(&[begun("gone")]), false).await.chats[0].id.unwrap();
        let reply = house.service.path(house.owner, chat, None, 9).await.unwrap().turns[1].id;
        house.service.delete_turn(house.owner, reply).await.unwrap();
        let mut longer = begun("gone");
        longer["mapping"]["a"]["message"]["content"]["parts"][0] = json!("Once upon a time");
        let report = imported(&house, "b.json", &bytes(&[longer]), false).await;
        assert_eq!((report.known, report.turns, report.findings.as_slice()), (1, 0, [].as_slice()));
        house.close().await;
    }
}

#[tokio::test]
async fn what_is_lost_of_messages_that_came_later_is_kept_with_the_chat() {
    for house in houses().await {
        let chat = imported(&house, "a.json", &bytes(&[begun("grows")]), false).await.chats[0].id.unwrap();
        assert_eq!(kept(&house, chat).await, []);
        let mut later = begun("grows");
        later["mapping"]["r"] = node("r", Some("a"), "user", "Look");
        later["mapping"]["r"]["message"]["metadata"]["attachments"] = json!([{"id": "file-Z", "name": "z.md"}]);
        let looked = imported(&house, "b.json", &bytes(&[later.clone()]), true).await;
        assert_eq!(kept(&house, chat).await, [], "a look stores nothing");
        let report = imported(&house, "b.json", &bytes(&[later.clone()]), false).await;
        assert_same(&looked, &report);
        assert_eq!(report.turns, 1);
        let lost: Vec<&Difference> =
            report.findings.iter().filter(|finding| finding.kind == DifferenceKind::Lost).collect();
        let of_chat = kept(&house, chat).await;
        assert!(!lost.is_empty() && lost.iter().all(|one| of_chat.contains(one)), "{lost:#?} {of_chat:#?}");
        // Where something of it was deleted and it went on below that, what stays behind is a difference, too.
        let last = house.service.path(house.owner, chat, None, 9).await.unwrap().turns[2].id;
        house.service.delete_turn(house.owner, last).await.unwrap();
        later["mapping"]["s"] = node("s", Some("r"), "assistant", "I see");
        for name in ["c.json", "d.json"] {
            let report = imported(&house, name, &bytes(&[later.clone()]), false).await;
            assert_eq!((report.known, report.turns), (1, 0));
        }
        let behind =
            |one: &&Difference| one.kind == DifferenceKind::LeftOut && one.text.contains("1 message that it has");
        assert_eq!(kept(&house, chat).await.iter().filter(behind).count(), 1);
        house.check().await;
        house.close().await;
    }
}

#[tokio::test]
async fn what_was_changed_anywhere_in_a_long_chat_is_told() {
    let names: Vec<String> = (0..450).map(|number| format!("m{number}")).collect();
    let long = |changed: &[usize]| {
        let nodes: Vec<Value> = (0..names.len())
            .map(|at| {
                let role = if at % 2 == 0 { "user" } else { "assistant" };
                let words = if changed.contains(&at) { "It was changed" } else { "As it was" };
                node(&names[at], at.checked_sub(1).map(|above| names[above].as_str()), role, words)
            })
            .collect();
        bytes(&[conversation("long", &nodes)])
    };
    for house in houses().await {
        assert_eq!(imported(&house, "a.json", &long(&[]), false).await.turns, 450);
        let report = imported(&house, "b.json", &long(&[0, 250, 449]), false).await;
        assert_eq!((report.known, report.turns), (1, 0));
        assert_eq!(changed(&report), ["long › m0", "long › m250", "long › m449"]);
        house.close().await;
    }
}
