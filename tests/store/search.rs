//! Search: results follow one rule on both databases, and the index follows every write, deletion, restore and purge.

use std::collections::BTreeSet;

use turnleaf::domain::id::DocumentId;
use turnleaf::domain::*;
use turnleaf_store::accounts::users;
use turnleaf_store::deletions::{self, DeletionOutcome, DeletionRoot, NewDeletion, RestoreOutcome, purge};
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::search::{
    MatchPage, MatchedItem, SearchCursor, SearchFilter, SearchKind, TextQuery, backfill, find_items, queue,
};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, Tx, branches, chats};

use crate::databases;
use crate::domain_fixtures::{block, branch, chat, exchange, frozen_settings, next_id, next_time, turn};

/// A chat with a branch to which turns are added.
struct WrittenChat {
    owner: UserId,
    chat: Chat,
    branch: Branch,
    last: Option<Turn>,
}

impl WrittenChat {
    async fn create_chat(db: &Db, title: &str) -> Self {
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        let chat = Chat { title: title.into(), ..chat(owner) };
        let branch = branch(chat.id);
        chats::insert(&mut tx, &chat).await.unwrap();
        branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
        tx.commit().await.unwrap();
        Self { owner, chat, branch, last: None }
    }

    async fn add_turn_in(&mut self, tx: &mut Tx, role: Role, text: &str) -> TurnId {
        let ord = chats::allocate_ord(tx, self.owner, self.chat.id, next_time()).await.unwrap().unwrap();
        let mut new_turn = turn(&self.branch, next_id(), self.last.as_ref(), ord, role);
        let exchange = exchange(&self.branch, new_turn.id, None);
        new_turn.exchange_id = exchange.id;
        if role == Role::Assistant {
            new_turn.status = TurnStatus::Complete;
            new_turn.completed_at = Some(new_turn.created_at);
        }
        new_turn.blocks = vec![block(&new_turn, 0, Author::User, BlockState::Done, Content::text(text))];
        exchanges::insert(tx, self.owner, &exchange, None).await.unwrap();
        turns::insert(tx, &new_turn).await.unwrap();
        let id = new_turn.id;
        self.last = Some(new_turn);
        id
    }

    async fn add_turn(&mut self, db: &Db, text: &str) -> TurnId {
        let mut tx = db.begin().await.unwrap();
        let id = self.add_turn_in(&mut tx, Role::User, text).await;
        tx.commit().await.unwrap();
        id
    }

    async fn add_turns(&mut self, db: &Db, texts: &[String]) -> Vec<TurnId> {
        let mut tx = db.begin().await.unwrap();
        let mut ids = Vec::new();
        for text in texts {
            ids.push(self.add_turn_in(&mut tx, Role::User, text).await);
        }
        tx.commit().await.unwrap();
        ids
    }
}

async fn page(
    db: &Db,
    owner: UserId,
    query: &str,
    kinds: &[SearchKind],
    from: Option<SearchCursor>,
    limit: u32,
) -> MatchPage {
    let query = TextQuery::new(query).unwrap();
    find_items(db, owner, (&query, &SearchFilter::default(), kinds), from, limit).await.unwrap().unwrap()
}

fn ids(page: &MatchPage) -> Vec<TurnId> {
    page.hits.iter().map(|hit| if let MatchedItem::Turn(hit) = hit { hit.turn_id } else { panic!("{hit:?}") }).collect()
}

async fn found_turns(db: &Db, owner: UserId, query: &str) -> BTreeSet<TurnId> {
    let mut all = BTreeSet::new();
    let mut from = None;
    loop {
        let page = page(db, owner, query, &[SearchKind::Turn], from, 200).await;
        assert!(page.is_whole && page.is_indexed);
        for id in ids(&page) {
            assert!(all.insert(id), "twice: {query}");
        }
        from = page.next;
        if from.is_none() {
            return all;
        }
    }
}

async fn run(db: &Db, text: &'static str) -> u64 {
    match db {
        Db::Sqlite { writer, .. } => sqlx::query(text).execute(writer).await.unwrap().rows_affected(),
        Db::Postgres { writer, .. } => sqlx::query(text).execute(writer).await.unwrap().rows_affected(),
    }
}

async fn count(db: &Db, text: &'static str) -> i64 {
    match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(text).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(text).fetch_one(writer).await.unwrap(),
    }
}

async fn assert_index_matches(db: &Db) {
    let findings = fsck::check(db, CheckMode::Stopped).await.unwrap();
    let of_search: Vec<_> = findings.iter().filter(|finding| finding.invariant == "search").collect();
    assert!(of_search.is_empty(), "{of_search:#?}");
}

#[tokio::test]
async fn every_query_is_matched_literally() {
    let signs = [
        "100%",
        "a_b",
        "foo\"bar",
        "AND",
        "*",
        "NEAR(",
        "a-b",
        "C++",
        "zz:hello",
        "(((",
        "' OR 1=1--",
        "/usr/local/bin",
        "std::mem::swap",
        "\\d+",
        "foo_bar",
        "x->y",
        "$HOME",
        "#[test]",
        "naïve",
        "😀",
        "👍🏽",
        "１２３",
    ];
    let mut texts: Vec<String> = signs.iter().map(|sign| format!("before {sign} after")).collect();
    texts.extend(
        ["你好世界 再见", "Über dem Fluß", "axb 1000 C foobar", "nul \0 in it", "用GPT模型的人"].map(str::to_owned),
    );
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut written = WrittenChat::create_chat(db, "").await;
        let ids = written.add_turns(db, &texts).await;
        for (at, sign) in signs.iter().enumerate() {
            let hit = found_turns(db, written.owner, sign).await;
            assert_eq!(hit, BTreeSet::from([ids[at]]), "{sign} on {}", fresh.url);
        }
        let more = signs.len();
        for (query, at) in [
            ("你好", more),
            ("世", more),
            ("再见 你好", more),
            ("uber FLUSS", more + 1),
            ("ÜBER flu", more + 1),
            ("nul \0 in", more + 3),
            ("模型 gpt", more + 4),
            ("gpt模", more + 4),
            ("naive", 18),
            ("NAÏVE", 18),
            ("123", 21),
        ] {
            assert_eq!(
                found_turns(db, written.owner, query).await,
                BTreeSet::from([ids[at]]),
                "{query} on {}",
                fresh.url
            );
        }
        for nothing in ["%%", "a%b", "' OR 2=2--", "NEAR((", "你坏", "oo_bar", "ser/local", "C+++", "b-a"] {
            assert_eq!(found_turns(db, written.owner, nothing).await, BTreeSet::new(), "{nothing} on {}", fresh.url);
        }
        for few in ["%", "_", "\"", "-"] {
            let hit = found_turns(db, written.owner, few).await;
            let has: BTreeSet<TurnId> =
                texts.iter().zip(&ids).filter(|(text, _)| text.contains(few)).map(|(_, id)| *id).collect();
            assert_eq!(hit, has, "{few} on {}", fresh.url);
        }
        assert_index_matches(db).await;
        fresh.close().await;
    }
}

/// A pseudo-random generator with a fixed seed.
struct TextRng(u64);

impl TextRng {
    fn next_below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn next_text(&mut self, letters: &[char], longest: usize) -> String {
        (0..=self.next_below(longest)).map(|_| letters[self.next_below(letters.len())]).collect()
    }
}

/// A second implementation of the search rule: every word of the query is in the text and starts at a word boundary;
/// only the last word may be a prefix of a longer one.
fn contains_query(text: &str, query: &str) -> bool {
    let letters: Vec<char> = text.to_lowercase().chars().collect();
    let is_word = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_alphanumeric);
    let words: Vec<Vec<char>> = query.to_lowercase().split_whitespace().map(|word| word.chars().collect()).collect();
    words.iter().enumerate().all(|(n, word)| {
        let tail = word.iter().rev().take_while(|letter| letter.is_ascii_alphanumeric()).count();
        let may_go_on = n + 1 == words.len() && tail >= 3;
        (0..letters.len()).any(|at| {
            let end = at + word.len();
            letters.get(at..end) == Some(word.as_slice())
                && !(is_word(Some(at)) && is_word(at.checked_sub(1)))
                && (may_go_on || !(is_word(Some(end - 1)) && is_word(Some(end))))
        })
    })
}

#[tokio::test]
async fn search_finds_exactly_turns_with_query_words() {
    let letters: Vec<char> = "aaaabbcA  +-.%(你好你 ".chars().collect();
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut chance = TextRng(0x5eed_cafe_f00d);
        let mut written = WrittenChat::create_chat(db, "").await;
        let texts: Vec<String> = (0..150).map(|_| chance.next_text(&letters, 24)).collect();
        let ids = written.add_turns(db, &texts).await;
        // A search gives the index two seconds, which may not be enough on a slow machine.
        assert!(queue::index_all(db, u32::MAX).await.unwrap());
        let mut hits = 0;
        for _ in 0..200 {
            // Half of the queries are substrings of texts.
            let text: Vec<char> = texts[chance.next_below(texts.len())].chars().collect();
            let from = chance.next_below(text.len());
            let piece: String = text[from..(from + 1 + chance.next_below(6)).min(text.len())].iter().collect();
            let query = if chance.next_below(2) == 0 { piece } else { chance.next_text(&letters, 6) };
            if query.trim().is_empty() {
                continue;
            }
            let right: BTreeSet<TurnId> =
                texts.iter().zip(&ids).filter(|(text, _)| contains_query(text, &query)).map(|(_, id)| *id).collect();
            hits += right.len();
            assert_eq!(found_turns(db, written.owner, &query).await, right, "{query:?} on {}", fresh.url);
        }
        assert!(hits > 500, "{hits}");
        assert_index_matches(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn long_text_is_found_by_every_word_of_it() {
    let parts: Vec<String> = (0..12_000).map(|n| format!("w{n}x")).collect();
    let text = parts.join(" ");
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut written = WrittenChat::create_chat(db, "").await;
        let other = written.add_turn(db, "w7000x alone").await;
        let long = written.add_turn(db, &text).await;
        for n in (0..12_000).step_by(499).chain([11_999]) {
            let hit = found_turns(db, written.owner, &format!("w{n}x")).await;
            assert!(hit.contains(&long), "w{n}x on {}", fresh.url);
        }
        assert_eq!(found_turns(db, written.owner, "w7000x").await, BTreeSet::from([other, long]));
        // No false word boundary appears where the indexed parts meet.
        for n in (0..12_000).step_by(211) {
            assert_eq!(
                found_turns(db, written.owner, &format!("{n}x")).await,
                BTreeSet::new(),
                "{n}x on {}",
                fresh.url
            );
        }
        let near = page(db, written.owner, "w7000x w7001x", &[SearchKind::Turn], None, 20).await;
        let Some(MatchedItem::Turn(hit)) = near.hits.first() else { panic!("{near:?}") };
        let marked: Vec<String> =
            hit.excerpt.pieces().into_iter().filter(|(_, is)| *is).map(|(text, _)| text).collect();
        assert_eq!(marked, ["w7000x", "w7001x"]);
        assert_index_matches(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn pages_show_every_hit_once_despite_concurrent_changes() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut written = WrittenChat::create_chat(db, "").await;
        // There are more texts than one read of the index takes.
        let texts: Vec<String> = (0..620).map(|n| format!("tree {} {n}", "green ".repeat(n % 3))).collect();
        let turn_ids = written.add_turns(db, &texts).await;
        let mut gone = WrittenChat::create_chat(db, "").await;
        gone.add_turns(db, &vec!["a tree that goes".to_owned(); 450]).await;
        let owner = written.owner;
        // A search gives the index two seconds; on a slow machine it would begin before older texts are in it.
        assert!(queue::index_all(db, u32::MAX).await.unwrap());
        let (mut seen, mut from) = (Vec::new(), None);
        loop {
            let page = page(db, owner, "tree", &[SearchKind::Turn], from, 40).await;
            seen.extend(ids(&page));
            from = page.next.map(|cursor| SearchCursor::parse(&cursor.encode()).unwrap());
            match seen.len() {
                40 => drop(written.add_turns(db, &vec!["tree".to_owned(); 100]).await),
                120 => {
                    let new = NewDeletion {
                        id: next_id(),
                        owner_id: owner,
                        chat_id: gone.chat.id,
                        root: DeletionRoot::Chat,
                        at: next_time(),
                    };
                    let mut tx = db.begin().await.unwrap();
                    assert!(matches!(
                        deletions::soft_delete(&mut tx, &new).await.unwrap(),
                        DeletionOutcome::Done { .. }
                    ));
                    tx.commit().await.unwrap();
                }
                _ => {}
            }
            if from.is_none() {
                break;
            }
        }
        let all: BTreeSet<TurnId> = seen.iter().copied().collect();
        assert_eq!(all.len(), seen.len(), "nothing twice on {}", fresh.url);
        let lost: Vec<&TurnId> = turn_ids.iter().filter(|id| !all.contains(id)).collect();
        assert!(lost.is_empty(), "{lost:?} on {}", fresh.url);
        fresh.close().await;
    }
}

#[tokio::test]
async fn deleted_turns_are_not_found_until_restored_and_purged_turns_leave_index() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut kept = WrittenChat::create_chat(db, "Kept").await;
        let stays = kept.add_turn(db, "a walnut tree").await;
        let mut written = WrittenChat::create_chat(db, "Walnut").await;
        let turn_ids = [written.add_turn(db, "walnut one").await, written.add_turn(db, "walnut two").await];
        let owner = written.owner;
        let titles = async || page(db, owner, "walnut", &[SearchKind::Chat], None, 20).await.hits.len();
        assert_eq!((found_turns(db, owner, "walnut").await.len(), titles().await), (3, 1));

        let delete = async |root: DeletionRoot| {
            let new = NewDeletion { id: next_id(), owner_id: owner, chat_id: written.chat.id, root, at: next_time() };
            let mut tx = db.begin().await.unwrap();
            assert!(matches!(deletions::soft_delete(&mut tx, &new).await.unwrap(), DeletionOutcome::Done { .. }));
            tx.commit().await.unwrap();
            new.id
        };
        let restore = async |deletion: DeletionId| {
            let mut tx = db.begin().await.unwrap();
            assert!(matches!(deletions::restore(&mut tx, owner, deletion).await.unwrap(), RestoreOutcome::Done { .. }));
            tx.commit().await.unwrap();
        };
        let last = delete(DeletionRoot::Turn(turn_ids[1])).await;
        assert_eq!(found_turns(db, owner, "walnut").await, BTreeSet::from([stays, turn_ids[0]]));
        restore(last).await;
        assert_eq!(found_turns(db, owner, "walnut").await.len(), 3);
        let whole = delete(DeletionRoot::Chat).await;
        assert_eq!((found_turns(db, owner, "walnut").await, titles().await), (BTreeSet::from([stays]), 0));
        restore(whole).await;
        assert_eq!((found_turns(db, owner, "walnut").await.len(), titles().await), (3, 1));

        let whole = delete(DeletionRoot::Chat).await;
        let mut tx = db.begin().await.unwrap();
        assert!(purge::schedule_purge(&mut tx, owner, whole, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        let entries = "SELECT COUNT(*) FROM search_entries";
        let rows = "SELECT COUNT(*) FROM search_words";
        assert_eq!((count(db, entries).await, count(db, rows).await), (5, 5));
        for of in purge::list_due(db, next_time()).await.unwrap() {
            let ids = purge::turns_to_delete(db, of).await.unwrap();
            // A rolled back deletion does not count.
            let mut tx = db.begin().await.unwrap();
            purge::delete_turns(&mut tx, of, &ids).await.unwrap();
            tx.rollback().await.unwrap();
            assert_eq!((count(db, entries).await, count(db, rows).await), (5, 5));
            let mut tx = db.begin().await.unwrap();
            purge::delete_turns(&mut tx, of, &ids).await.unwrap();
            purge::finish(&mut tx, of).await.unwrap();
            tx.commit().await.unwrap();
        }
        assert_eq!((count(db, entries).await, count(db, rows).await), (2, 2));
        assert_eq!(found_turns(db, owner, "walnut").await, BTreeSet::from([stays]));
        assert_index_matches(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn text_and_index_are_written_together_or_not_at_all() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut written = WrittenChat::create_chat(db, "Trees").await;
        let owner = written.owner;
        let mut tx = db.begin().await.unwrap();
        written.add_turn_in(&mut tx, Role::User, "an elm").await;
        tx.rollback().await.unwrap();
        written.last = None;
        assert_eq!(found_turns(db, owner, "elm").await, BTreeSet::new());
        // A reply is indexed when it has ended, with its final text.
        let mut tx = db.begin().await.unwrap();
        let ord = chats::allocate_ord(&mut tx, owner, written.chat.id, next_time()).await.unwrap().unwrap();
        let mut reply = turn(&written.branch, next_id(), None, ord, Role::Assistant);
        let exchange = exchange(&written.branch, reply.id, None);
        reply.exchange_id = exchange.id;
        (reply.status, reply.completed_at) = (TurnStatus::Pending, None);
        reply.blocks = Vec::new();
        exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
        turns::insert(&mut tx, &reply).await.unwrap();
        tx.commit().await.unwrap();
        reply.blocks = vec![block(&reply, 0, Author::Assistant, BlockState::Done, Content::text("an elm"))];
        (reply.status, reply.completed_at) = (TurnStatus::Complete, Some(next_time()));
        let mut tx = db.begin().await.unwrap();
        assert!(turns::finish(&mut tx, &reply).await.unwrap());
        tx.rollback().await.unwrap();
        assert_eq!(found_turns(db, owner, "elm").await, BTreeSet::new());
        let mut tx = db.begin().await.unwrap();
        assert!(turns::finish(&mut tx, &reply).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(found_turns(db, owner, "elm").await, BTreeSet::from([reply.id]));
        // The new title is found, the old one is not.
        let mut tx = db.begin().await.unwrap();
        assert!(chats::rename(&mut tx, owner, written.chat.id, "Elms and oaks", true).await.unwrap());
        tx.commit().await.unwrap();
        for (query, hits) in [("trees", 0), ("oaks", 1), ("elm", 1)] {
            assert_eq!(page(db, owner, query, &[SearchKind::Chat], None, 20).await.hits.len(), hits, "{query}");
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn text_that_is_indexed_during_its_deletion_leaves_no_entry() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut written = WrittenChat::create_chat(db, "Willow").await;
        let turn = written.add_turn(db, "a willow").await;
        let (owner, chat_id) = (written.owner, written.chat.id);
        let new = NewDeletion { id: next_id(), owner_id: owner, chat_id, root: DeletionRoot::Chat, at: next_time() };
        let mut tx = db.begin().await.unwrap();
        assert!(matches!(deletions::soft_delete(&mut tx, &new).await.unwrap(), DeletionOutcome::Done { .. }));
        assert!(purge::schedule_purge(&mut tx, owner, new.id, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        let of = purge::list_due(db, next_time()).await.unwrap().remove(0);
        let ids = purge::turns_to_delete(db, of).await.unwrap();
        for (is_committed, entries) in [(false, 2), (true, 0)] {
            run(db, "DELETE FROM search_entries").await;
            let mut tx = db.begin().await.unwrap();
            queue::put_turn(&mut tx, turn).await.unwrap();
            queue::put_chat_title(&mut tx, chat_id).await.unwrap();
            tx.commit().await.unwrap();
            let mut deletion = db.begin().await.unwrap();
            purge::delete_turns(&mut deletion, of, &ids).await.unwrap();
            purge::finish(&mut deletion, of).await.unwrap();
            // SQLite has one writer: there the index waits for the end of the deletion.
            if matches!(db, Db::Postgres { .. }) {
                assert!(!queue::index_all(db, 8).await.unwrap(), "both wait for the end of the deletion");
            }
            if is_committed {
                deletion.commit().await.unwrap();
            } else {
                deletion.rollback().await.unwrap();
            }
            assert!(queue::index_all(db, 8).await.unwrap());
            assert_eq!(count(db, "SELECT COUNT(*) FROM search_entries").await, entries, "on {}", fresh.url);
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn turns_older_than_index_are_indexed_in_steps() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut written = WrittenChat::create_chat(db, "Old chat").await;
        let texts: Vec<String> = (0..410).map(|n| format!("oak {n}")).collect();
        let ids = written.add_turns(db, &texts).await;
        let owner = written.owner;
        backfill::reset(db).await.unwrap();
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_words").await, 0);
        let before = page(db, owner, "oak", &[SearchKind::Turn], None, 20).await;
        assert_eq!((before.hits.len(), before.is_indexed), (0, false));
        assert!(backfill::index_batch(db).await.unwrap());
        // A turn that is added meanwhile is the newest result when the backfill is done.
        let new = written.add_turn(db, "oak 450").await;
        assert!(queue::index_all(db, 1).await.unwrap());
        let mut steps = 0;
        while backfill::index_batch(db).await.unwrap() {
            steps += 1;
        }
        assert!(steps >= 3, "{steps}");
        let found = found_turns(db, owner, "oak").await;
        assert_eq!(found.len(), 411);
        assert!(ids.iter().chain([&new]).all(|id| found.contains(id)));
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_entries WHERE id <= 4294967296").await, 411);
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_entries WHERE id > 4294967296").await, 1);
        assert_index_matches(db).await;
        // A change of the index rules indexes everything again.
        run(db, "UPDATE search_progress SET rules = 0").await;
        assert!(!page(db, owner, "oak", &[SearchKind::Turn], None, 20).await.is_indexed);
        while backfill::index_batch(db).await.unwrap() {}
        assert!(page(db, owner, "oak", &[SearchKind::Turn], None, 20).await.is_indexed);
        assert_index_matches(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn search_is_narrowed_and_others_are_not_searched() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut one = WrittenChat::create_chat(db, "Pines").await;
        let mut two = WrittenChat::create_chat(db, "").await;
        let mut tx = db.begin().await.unwrap();
        let question = one.add_turn_in(&mut tx, Role::User, "which pine?").await;
        let reply = one.add_turn_in(&mut tx, Role::Assistant, "a pine, pine, pine").await;
        let elsewhere = two.add_turn_in(&mut tx, Role::User, "pine").await;
        tx.commit().await.unwrap();
        let (owner, query) = (one.owner, TextQuery::new("pine").unwrap());
        let narrowed = async |filter: SearchFilter| {
            let page = find_items(db, owner, (&query, &filter, &[SearchKind::Turn]), None, 20).await.unwrap().unwrap();
            ids(&page).into_iter().collect::<BTreeSet<_>>()
        };
        let f = SearchFilter::default;
        let moment = one.last.as_ref().unwrap().created_at;
        for (filter, right) in [
            (f(), vec![question, reply, elsewhere]),
            (SearchFilter { chat: Some(one.chat.id), ..f() }, vec![question, reply]),
            (SearchFilter { not_chat: Some(one.chat.id), ..f() }, vec![elsewhere]),
            (SearchFilter { project: Some(next_id()), ..f() }, vec![]),
            (SearchFilter { role: Some(Role::Assistant), ..f() }, vec![reply]),
            (SearchFilter { branch: Some(two.branch.id), ..f() }, vec![elsewhere]),
            (SearchFilter { model: Some("scripted".into()), ..f() }, vec![question, reply, elsewhere]),
            (SearchFilter { model: Some("other".into()), ..f() }, vec![]),
            (SearchFilter { since: Some(moment), ..f() }, vec![reply, elsewhere]),
            (SearchFilter { until: Some(moment), ..f() }, vec![question]),
        ] {
            assert_eq!(narrowed(filter.clone()).await, right.into_iter().collect(), "{filter:?} on {}", fresh.url);
        }
        let stranger: UserId = next_id();
        assert_eq!(found_turns(db, stranger, "pine").await, BTreeSet::new());
        let all = page(db, owner, "pine", &SearchKind::ALL, None, 20).await;
        assert!(matches!(all.hits.first(), Some(MatchedItem::Chat { .. })), "{all:?}");
        assert_eq!(all.hits.len(), 4);
        // A cursor of another search is refused.
        let first = page(db, owner, "pine", &[SearchKind::Turn], None, 1).await;
        let other = TextQuery::new("oak").unwrap();
        let refused = find_items(db, owner, (&other, &f(), &[SearchKind::Turn]), first.next, 1).await.unwrap();
        assert_eq!(refused.unwrap_err().field, "cursor");
        fresh.close().await;
    }
}

/// The palette searches each kind in a request of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn concurrent_searches_each_see_an_empty_queue() {
    const DOCUMENTS: usize = 12;
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        for round in 0..4 {
            let mut tx = db.begin().await.unwrap();
            for _ in 0..DOCUMENTS {
                queue::put_document(&mut tx, next_id()).await.unwrap();
            }
            tx.commit().await.unwrap();
            let at_most = DOCUMENTS as u32 + 1;
            let ends = tokio::try_join!(
                queue::index_all(db, at_most),
                queue::index_all(db, at_most),
                queue::index_all(db, at_most)
            );
            assert_eq!(ends.unwrap(), (true, true, true), "round {round} on {}", fresh.url);
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn documents_are_found_by_their_titles_and_their_newest_text() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        let document: DocumentId = next_id();
        const INSERT: &str = "INSERT INTO documents (id, owner_id, title, kind, created_at, updated_at) \
            VALUES ($1, $2, 'Annual report', 'markdown', $3, $3)";
        const VERSION: &str =
            "INSERT INTO document_versions (document_id, version_timestamp, content) VALUES ($1, $2, $3)";
        macro_rules! write {
            ($text:expr, $($value:expr),*) => {
                match &mut tx {
                    Tx::Sqlite(tx) => drop(sqlx::query($text)$(.bind($value))*.execute(&mut **tx).await.unwrap()),
                    Tx::Postgres(tx) => drop(sqlx::query($text)$(.bind($value))*.execute(&mut **tx).await.unwrap()),
                }
            };
        }
        write!(INSERT, document.uuid(), owner.uuid(), next_time());
        for text in ["old figures", "revenue of 2025: 100%"] {
            write!(VERSION, document.uuid(), next_time(), text);
            queue::put_document(&mut tx, document).await.unwrap();
        }
        tx.commit().await.unwrap();
        for (query, hits) in [("report", 1), ("revenue", 1), ("annual 100%", 1), ("old", 0)] {
            let page = page(db, owner, query, &SearchKind::ALL, None, 20).await;
            assert_eq!(page.hits.len(), hits, "{query} on {}", fresh.url);
        }
        let found = page(db, owner, "report revenue", &[SearchKind::Document], None, 20).await;
        let [MatchedItem::Document { title, excerpt, document_id, .. }] = found.hits.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(
            (*document_id, title.marks.as_slice(), excerpt.marks.as_slice()),
            (document, &[[7, 13]][..], &[[0, 7]][..])
        );
        assert_index_matches(db).await;
        run(db, "DELETE FROM documents").await;
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_words").await, 0);
        fresh.close().await;
    }
}
