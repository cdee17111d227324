//! Find in chat: the words of a query are found on a path as they were written, equally on both databases.

use turnleaf::domain::*;
use turnleaf_store::accounts::users;
use turnleaf_store::turns::text_search::{TurnMatches, find_on_path};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, branches, chats};

use crate::databases;
use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};

/// Creates a path of messages with these texts. Returns its owner and its turns, root first.
async fn path_of(db: &Db, texts: &[&str]) -> (UserId, Vec<TurnId>) {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    let chat = chat(owner);
    let branch = branch(chat.id);
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    let mut path: Vec<Turn> = Vec::new();
    for text in texts {
        let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
        let mut new_turn = turn(&branch, next_id(), path.last(), ord, Role::User);
        let exchange = exchange(&branch, new_turn.id, None);
        new_turn.exchange_id = exchange.id;
        new_turn.blocks = vec![block(&new_turn, 0, Author::User, BlockState::Done, Content::text(*text))];
        exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
        turns::insert(&mut tx, &new_turn).await.unwrap();
        path.push(new_turn);
    }
    tx.commit().await.unwrap();
    (owner, path.iter().map(|turn| turn.id).collect())
}

async fn find(db: &Db, owner: UserId, leaf: TurnId, query: &str, limit: u32) -> TurnMatches {
    find_on_path(db, owner, leaf, &TextMatcher::new(query).unwrap(), limit).await.unwrap()
}

fn ids(found: &TurnMatches) -> Vec<TurnId> {
    found.hits.iter().map(|hit| hit.turn_id).collect()
}

#[tokio::test]
async fn find_is_case_insensitive() {
    let texts = ["Η ΟΔΟΣ ΜΟΥ", "η οδός, ο σοφος", "at 300 \u{212a} or so", "in İstanbul", "KIWI and ikon"];
    for fresh in databases::test_databases().await {
        let (db, (owner, path)) = (&fresh.db, path_of(&fresh.db, &texts).await);
        let leaf = *path.last().unwrap();
        for (query, at) in [
            ("οδος μου", 0),
            ("ΣΟΦΟΣ", 1),
            ("300 k or", 2),
            ("300 K", 2),
            ("İstanbul", 3),
            ("in i", 3),
            ("kiwi", 4),
            ("IKON", 4),
        ] {
            assert_eq!(ids(&find(db, owner, leaf, query, 200).await), [path[at]], "{query} on {}", fresh.url);
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn every_query_is_matched_literally() {
    let signs = ["100%", "a_b", "foo\"bar", "AND", "*", "NEAR(", "a-b", "C++", "zz:hello", "(((", "' OR 1=1--", "!x"];
    let texts: Vec<String> = signs.iter().map(|sign| format!("before {sign} after")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts.extend(["你好世界 再见", "Über dem Fluß", "axb 1000 C", "nul \0 in it"]);
    for fresh in databases::test_databases().await {
        let (db, (owner, path)) = (&fresh.db, path_of(&fresh.db, &texts).await);
        let leaf = *path.last().unwrap();
        for (at, sign) in signs.iter().enumerate() {
            let found = find(db, owner, leaf, sign, 200).await;
            assert_eq!(ids(&found), [path[at]], "{sign} on {}", fresh.url);
        }
        for (query, at) in [
            ("你好", signs.len()),
            ("ÜBER DEM", signs.len() + 1),
            ("1000 c", signs.len() + 2),
            ("l \0 i", signs.len() + 3),
        ] {
            let found = find(db, owner, leaf, query, 200).await;
            assert_eq!((ids(&found), found.total, found.is_whole), (vec![path[at]], 1, true), "{query}");
        }
        assert_eq!(ids(&find(db, owner, leaf, "%", 200).await), [path[0]]);
        assert_eq!(ids(&find(db, owner, leaf, "_", 200).await), [path[1]]);
        assert_eq!(find(db, owner, leaf, "你坏", 200).await.total, 0);
        fresh.close().await;
    }
}

#[tokio::test]
async fn newest_hits_of_path_are_returned_and_all_counted() {
    for fresh in databases::test_databases().await {
        let (db, (owner, path)) = (&fresh.db, path_of(&fresh.db, &["Tree", "x", "a tree", "TREES", "leaf"]).await);
        let found = find(db, owner, path[4], "tree", 2).await;
        assert_eq!((ids(&found), found.total), (vec![path[2], path[3]], 3));
        assert_eq!((found.hits[0].depth, found.hits[0].role), (2, Role::User));
        assert_eq!(found.hits[1].excerpt, ["", "TREE", "S"]);
        assert_eq!(
            ids(&find(db, owner, path[2], "tree", 200).await),
            [path[0], path[2]],
            "below the leaf is another path"
        );
        assert_eq!(find(db, next_id(), path[4], "tree", 200).await.total, 0, "nobody else's");
        assert_eq!(find(db, owner, next_id(), "tree", 200).await.total, 0);
        fresh.close().await;
    }
}
