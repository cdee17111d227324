//! Searching finds what its one rule says, on both databases alike, and the index follows what is written, deleted,
//! brought back and purged.

use std::collections::BTreeSet;

use turnleaf::domain::id::DocumentId;
use turnleaf::domain::*;
use turnleaf_store::deletions::{self, Marked, NewDeletion, Root, Unmarked, purge};
use turnleaf_store::fsck::{self, While};
use turnleaf_store::search::{Cursor, Filter, Hit, Kind, Page, Query, catch_up, index, look};
use turnleaf_store::{Db, Tx, branches, chats, exchanges, turns, users};

use crate::actors::{block, branch, chat, exchange, frozen, id, now, turn};
use crate::databases;

/// A chat with a branch, to which turns are added.
struct Written {
    owner: UserId,
    chat: Chat,
    branch: Branch,
    last: Option<Turn>,
}

impl Written {
    async fn begin(db: &Db, title: &str) -> Self {
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, id(), now()).await.unwrap();
        let chat = Chat { title: title.into(), ..chat(owner) };
        let branch = branch(chat.id);
        chats::insert(&mut tx, &chat).await.unwrap();
        branches::insert(&mut tx, &branch, &frozen()).await.unwrap();
        tx.commit().await.unwrap();
        Self { owner, chat, branch, last: None }
    }

    async fn say_in(&mut self, tx: &mut Tx, role: Role, text: &str) -> TurnId {
        let ord = chats::take_ord(tx, self.owner, self.chat.id, now()).await.unwrap().unwrap();
        let mut said = turn(&self.branch, id(), self.last.as_ref(), ord, role);
        let exchange = exchange(&self.branch, said.id, None);
        said.exchange_id = exchange.id;
        if role == Role::Assistant {
            said.status = TurnStatus::Complete;
            said.completed_at = Some(said.created_at);
        }
        said.blocks = vec![block(&said, 0, Author::User, BlockState::Done, Content::text(text))];
        exchanges::insert(tx, self.owner, &exchange, None).await.unwrap();
        turns::insert(tx, &said).await.unwrap();
        let id = said.id;
        self.last = Some(said);
        id
    }

    async fn say(&mut self, db: &Db, text: &str) -> TurnId {
        let mut tx = db.begin().await.unwrap();
        let id = self.say_in(&mut tx, Role::User, text).await;
        tx.commit().await.unwrap();
        id
    }

    async fn say_all(&mut self, db: &Db, texts: &[String]) -> Vec<TurnId> {
        let mut tx = db.begin().await.unwrap();
        let mut ids = Vec::new();
        for text in texts {
            ids.push(self.say_in(&mut tx, Role::User, text).await);
        }
        tx.commit().await.unwrap();
        ids
    }
}

async fn page(db: &Db, owner: UserId, query: &str, kinds: &[Kind], from: Option<Cursor>, limit: u32) -> Page {
    let query = Query::new(query).unwrap();
    look(db, owner, (&query, &Filter::default(), kinds), from, limit).await.unwrap().unwrap()
}

fn ids(page: &Page) -> Vec<TurnId> {
    page.hits.iter().map(|hit| if let Hit::Turn(hit) = hit { hit.turn_id } else { panic!("{hit:?}") }).collect()
}

async fn found(db: &Db, owner: UserId, query: &str) -> BTreeSet<TurnId> {
    let mut all = BTreeSet::new();
    let mut from = None;
    loop {
        let page = page(db, owner, query, &[Kind::Turn], from, 200).await;
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

async fn is_true(db: &Db) {
    let findings = fsck::check(db, While::Stopped).await.unwrap();
    let of_search: Vec<_> = findings.iter().filter(|finding| finding.invariant == "search").collect();
    assert!(of_search.is_empty(), "{of_search:#?}");
}

#[tokio::test]
async fn every_query_means_itself() {
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
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut written = Written::begin(db, "").await;
        let said = written.say_all(db, &texts).await;
        for (at, sign) in signs.iter().enumerate() {
            let hit = found(db, written.owner, sign).await;
            assert_eq!(hit, BTreeSet::from([said[at]]), "{sign} on {}", fresh.url);
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
            assert_eq!(found(db, written.owner, query).await, BTreeSet::from([said[at]]), "{query} on {}", fresh.url);
        }
        for nothing in ["%%", "a%b", "' OR 2=2--", "NEAR((", "你坏", "oo_bar", "ser/local", "C+++", "b-a"] {
            assert_eq!(found(db, written.owner, nothing).await, BTreeSet::new(), "{nothing} on {}", fresh.url);
        }
        for few in ["%", "_", "\"", "-"] {
            let hit = found(db, written.owner, few).await;
            let has: BTreeSet<TurnId> =
                texts.iter().zip(&said).filter(|(text, _)| text.contains(few)).map(|(_, id)| *id).collect();
            assert_eq!(hit, has, "{few} on {}", fresh.url);
        }
        is_true(db).await;
        fresh.close().await;
    }
}

/// Numbers that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn text(&mut self, letters: &[char], longest: usize) -> String {
        (0..=self.below(longest)).map(|_| letters[self.below(letters.len())]).collect()
    }
}

/// The rule of the search in other words: every word of the query is in the text, not within a longer word.
fn has(text: &str, query: &str) -> bool {
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
async fn what_is_found_is_what_has_the_words() {
    let letters: Vec<char> = "aaaabbcA  +-.%(你好你 ".chars().collect();
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut chance = Chance(0x5eed_cafe_f00d);
        let mut written = Written::begin(db, "").await;
        let texts: Vec<String> = (0..150).map(|_| chance.text(&letters, 24)).collect();
        let said = written.say_all(db, &texts).await;
        let mut hits = 0;
        for _ in 0..200 {
            // Half of the queries are pieces of texts.
            let text: Vec<char> = texts[chance.below(texts.len())].chars().collect();
            let from = chance.below(text.len());
            let piece: String = text[from..(from + 1 + chance.below(6)).min(text.len())].iter().collect();
            let query = if chance.below(2) == 0 { piece } else { chance.text(&letters, 6) };
            if query.trim().is_empty() {
                continue;
            }
            let right: BTreeSet<TurnId> =
                texts.iter().zip(&said).filter(|(text, _)| has(text, &query)).map(|(_, id)| *id).collect();
            hits += right.len();
            assert_eq!(found(db, written.owner, &query).await, right, "{query:?} on {}", fresh.url);
        }
        assert!(hits > 500, "{hits}");
        is_true(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn a_long_text_is_found_by_every_word_of_it() {
    let parts: Vec<String> = (0..12_000).map(|n| format!("w{n}x")).collect();
    let text = parts.join(" ");
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut written = Written::begin(db, "").await;
        let other = written.say(db, "w7000x alone").await;
        let long = written.say(db, &text).await;
        for n in (0..12_000).step_by(499).chain([11_999]) {
            let hit = found(db, written.owner, &format!("w{n}x")).await;
            assert!(hit.contains(&long), "w{n}x on {}", fresh.url);
        }
        assert_eq!(found(db, written.owner, "w7000x").await, BTreeSet::from([other, long]));
        // Where the parts meet, no word begins in the middle of another.
        for n in (0..12_000).step_by(211) {
            assert_eq!(found(db, written.owner, &format!("{n}x")).await, BTreeSet::new(), "{n}x on {}", fresh.url);
        }
        let near = page(db, written.owner, "w7000x w7001x", &[Kind::Turn], None, 20).await;
        let Some(Hit::Turn(hit)) = near.hits.first() else { panic!("{near:?}") };
        let marked: Vec<String> =
            hit.excerpt.pieces().into_iter().filter(|(_, is)| *is).map(|(text, _)| text).collect();
        assert_eq!(marked, ["w7000x", "w7001x"]);
        is_true(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn pages_show_everything_once_whatever_is_written_and_deleted_between() {
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut written = Written::begin(db, "").await;
        // More than one look at the index takes.
        let texts: Vec<String> = (0..620).map(|n| format!("tree {} {n}", "green ".repeat(n % 3))).collect();
        let said = written.say_all(db, &texts).await;
        let mut gone = Written::begin(db, "").await;
        gone.say_all(db, &vec!["a tree that goes".to_owned(); 450]).await;
        let owner = written.owner;
        let (mut seen, mut from) = (Vec::new(), None);
        loop {
            let page = page(db, owner, "tree", &[Kind::Turn], from, 40).await;
            seen.extend(ids(&page));
            from = page.next.map(|cursor| Cursor::parse(&cursor.write()).unwrap());
            match seen.len() {
                40 => drop(written.say_all(db, &vec!["tree".to_owned(); 100]).await),
                120 => {
                    let new =
                        NewDeletion { id: id(), owner_id: owner, chat_id: gone.chat.id, root: Root::Chat, at: now() };
                    let mut tx = db.begin().await.unwrap();
                    assert!(matches!(deletions::mark(&mut tx, &new).await.unwrap(), Marked::Done { .. }));
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
        let lost: Vec<&TurnId> = said.iter().filter(|id| !all.contains(id)).collect();
        assert!(lost.is_empty(), "{lost:?} on {}", fresh.url);
        fresh.close().await;
    }
}

#[tokio::test]
async fn what_is_deleted_is_not_found_until_it_comes_back_and_what_is_purged_leaves_the_index() {
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut kept = Written::begin(db, "Kept").await;
        let stays = kept.say(db, "a walnut tree").await;
        let mut written = Written::begin(db, "Walnut").await;
        let said = [written.say(db, "walnut one").await, written.say(db, "walnut two").await];
        let owner = written.owner;
        let titles = async || page(db, owner, "walnut", &[Kind::Chat], None, 20).await.hits.len();
        assert_eq!((found(db, owner, "walnut").await.len(), titles().await), (3, 1));

        let delete = async |root: Root| {
            let new = NewDeletion { id: id(), owner_id: owner, chat_id: written.chat.id, root, at: now() };
            let mut tx = db.begin().await.unwrap();
            assert!(matches!(deletions::mark(&mut tx, &new).await.unwrap(), Marked::Done { .. }));
            tx.commit().await.unwrap();
            new.id
        };
        let restore = async |deletion: DeletionId| {
            let mut tx = db.begin().await.unwrap();
            assert!(matches!(deletions::restore(&mut tx, owner, deletion).await.unwrap(), Unmarked::Done { .. }));
            tx.commit().await.unwrap();
        };
        let last = delete(Root::Turn(said[1])).await;
        assert_eq!(found(db, owner, "walnut").await, BTreeSet::from([stays, said[0]]));
        restore(last).await;
        assert_eq!(found(db, owner, "walnut").await.len(), 3);
        let whole = delete(Root::Chat).await;
        assert_eq!((found(db, owner, "walnut").await, titles().await), (BTreeSet::from([stays]), 0));
        restore(whole).await;
        assert_eq!((found(db, owner, "walnut").await.len(), titles().await), (3, 1));

        let whole = delete(Root::Chat).await;
        let mut tx = db.begin().await.unwrap();
        assert!(purge::doom(&mut tx, owner, whole, now()).await.unwrap());
        tx.commit().await.unwrap();
        let entries = "SELECT COUNT(*) FROM search_entries";
        let rows = "SELECT COUNT(*) FROM search_words";
        assert_eq!((count(db, entries).await, count(db, rows).await), (5, 5));
        for of in purge::doomed(db, now()).await.unwrap() {
            let ids = purge::turns_of(db, of).await.unwrap();
            // Not when it is undone.
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
        assert_eq!(found(db, owner, "walnut").await, BTreeSet::from([stays]));
        is_true(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn text_and_index_are_written_together_or_not_at_all() {
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut written = Written::begin(db, "Trees").await;
        let owner = written.owner;
        let mut tx = db.begin().await.unwrap();
        written.say_in(&mut tx, Role::User, "an elm").await;
        tx.rollback().await.unwrap();
        written.last = None;
        assert_eq!(found(db, owner, "elm").await, BTreeSet::new());
        // A reply is found when it is over, by what it says then.
        let mut tx = db.begin().await.unwrap();
        let ord = chats::take_ord(&mut tx, owner, written.chat.id, now()).await.unwrap().unwrap();
        let mut reply = turn(&written.branch, id(), None, ord, Role::Assistant);
        let exchange = exchange(&written.branch, reply.id, None);
        reply.exchange_id = exchange.id;
        (reply.status, reply.completed_at) = (TurnStatus::Pending, None);
        reply.blocks = Vec::new();
        exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
        turns::insert(&mut tx, &reply).await.unwrap();
        tx.commit().await.unwrap();
        reply.blocks = vec![block(&reply, 0, Author::Assistant, BlockState::Done, Content::text("an elm"))];
        (reply.status, reply.completed_at) = (TurnStatus::Complete, Some(now()));
        let mut tx = db.begin().await.unwrap();
        assert!(turns::finish(&mut tx, &reply).await.unwrap());
        tx.rollback().await.unwrap();
        assert_eq!(found(db, owner, "elm").await, BTreeSet::new());
        let mut tx = db.begin().await.unwrap();
        assert!(turns::finish(&mut tx, &reply).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(found(db, owner, "elm").await, BTreeSet::from([reply.id]));
        // A new title is found, the old one is not.
        let mut tx = db.begin().await.unwrap();
        assert!(chats::rename(&mut tx, owner, written.chat.id, "Elms and oaks", true).await.unwrap());
        tx.commit().await.unwrap();
        for (query, hits) in [("trees", 0), ("oaks", 1), ("elm", 1)] {
            assert_eq!(page(db, owner, query, &[Kind::Chat], None, 20).await.hits.len(), hits, "{query}");
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn what_is_older_than_the_index_is_indexed_in_steps() {
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut written = Written::begin(db, "Old chat").await;
        let texts: Vec<String> = (0..410).map(|n| format!("oak {n}")).collect();
        let said = written.say_all(db, &texts).await;
        let owner = written.owner;
        catch_up::begin_again(db).await.unwrap();
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_words").await, 0);
        let before = page(db, owner, "oak", &[Kind::Turn], None, 20).await;
        assert_eq!((before.hits.len(), before.is_indexed), (0, false));
        assert!(catch_up::step(db).await.unwrap());
        // Meanwhile something new is said: it is the newest when all is done.
        let new = written.say(db, "oak 450").await;
        let mut steps = 0;
        while catch_up::step(db).await.unwrap() {
            steps += 1;
        }
        assert!(steps >= 3, "{steps}");
        let found = found(db, owner, "oak").await;
        assert_eq!(found.len(), 411);
        assert!(said.iter().chain([&new]).all(|id| found.contains(id)));
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_entries WHERE id <= 4294967296").await, 411);
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_entries WHERE id > 4294967296").await, 1);
        is_true(db).await;
        // Other rules: all of it once more.
        run(db, "UPDATE search_progress SET rules = 0").await;
        assert!(!page(db, owner, "oak", &[Kind::Turn], None, 20).await.is_indexed);
        while catch_up::step(db).await.unwrap() {}
        assert!(page(db, owner, "oak", &[Kind::Turn], None, 20).await.is_indexed);
        is_true(db).await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn a_search_is_narrowed_and_others_are_not_searched() {
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut one = Written::begin(db, "Pines").await;
        let mut two = Written::begin(db, "").await;
        let mut tx = db.begin().await.unwrap();
        let question = one.say_in(&mut tx, Role::User, "which pine?").await;
        let reply = one.say_in(&mut tx, Role::Assistant, "a pine, pine, pine").await;
        let elsewhere = two.say_in(&mut tx, Role::User, "pine").await;
        tx.commit().await.unwrap();
        let (owner, query) = (one.owner, Query::new("pine").unwrap());
        let narrowed = async |filter: Filter| {
            let page = look(db, owner, (&query, &filter, &[Kind::Turn]), None, 20).await.unwrap().unwrap();
            ids(&page).into_iter().collect::<BTreeSet<_>>()
        };
        let f = Filter::default;
        let moment = one.last.as_ref().unwrap().created_at;
        for (filter, right) in [
            (f(), vec![question, reply, elsewhere]),
            (Filter { chat: Some(one.chat.id), ..f() }, vec![question, reply]),
            (Filter { not_chat: Some(one.chat.id), ..f() }, vec![elsewhere]),
            (Filter { role: Some(Role::Assistant), ..f() }, vec![reply]),
            (Filter { branch: Some(two.branch.id), ..f() }, vec![elsewhere]),
            (Filter { model: Some("scripted".into()), ..f() }, vec![question, reply, elsewhere]),
            (Filter { model: Some("other".into()), ..f() }, vec![]),
            (Filter { since: Some(moment), ..f() }, vec![reply, elsewhere]),
            (Filter { until: Some(moment), ..f() }, vec![question]),
        ] {
            assert_eq!(narrowed(filter.clone()).await, right.into_iter().collect(), "{filter:?} on {}", fresh.url);
        }
        let stranger: UserId = id();
        assert_eq!(found(db, stranger, "pine").await, BTreeSet::new());
        let all = page(db, owner, "pine", &Kind::ALL, None, 20).await;
        assert!(matches!(all.hits.first(), Some(Hit::Chat { .. })), "{all:?}");
        assert_eq!(all.hits.len(), 4);
        // A cursor of another search leads nowhere.
        let first = page(db, owner, "pine", &[Kind::Turn], None, 1).await;
        let other = Query::new("oak").unwrap();
        let refused = look(db, owner, (&other, &f(), &[Kind::Turn]), first.next, 1).await.unwrap();
        assert_eq!(refused.unwrap_err().field, "cursor");
        fresh.close().await;
    }
}

#[tokio::test]
async fn documents_are_found_by_their_titles_and_their_newest_text() {
    for fresh in databases::fresh().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, id(), now()).await.unwrap();
        let document: DocumentId = id();
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
        write!(INSERT, document.uuid(), owner.uuid(), now());
        for text in ["old figures", "revenue of 2025: 100%"] {
            write!(VERSION, document.uuid(), now(), text);
            index::document(&mut tx, document).await.unwrap();
        }
        tx.commit().await.unwrap();
        for (query, hits) in [("report", 1), ("revenue", 1), ("annual 100%", 1), ("old", 0)] {
            let page = page(db, owner, query, &Kind::ALL, None, 20).await;
            assert_eq!(page.hits.len(), hits, "{query} on {}", fresh.url);
        }
        let found = page(db, owner, "report revenue", &[Kind::Document], None, 20).await;
        let [Hit::Document { title, excerpt, document_id, .. }] = found.hits.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (*document_id, title.marks.as_slice(), excerpt.marks.as_slice()),
            (document, &[[7, 13]][..], &[[0, 7]][..])
        );
        is_true(db).await;
        run(db, "DELETE FROM documents").await;
        assert_eq!(count(db, "SELECT COUNT(*) FROM search_words").await, 0);
        fresh.close().await;
    }
}
