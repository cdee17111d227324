//! Reads of path ranges: on any tree they return the same turns as a walk from the leaf to the root.

use crate::databases::{noon, test_databases};
use crate::domain_fixtures::next_id;
use crate::tree_fixtures::{self, TreeFixture, pseudo_random_parent};
use turnleaf::domain::*;
use turnleaf_run::path_cache::PathCache;
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::turns::generations::raw::{self, RawChunk};
use turnleaf_store::turns::generations::requests::StoredRequest;
use turnleaf_store::turns::generations::{self, NewGeneration, RawKind};
use turnleaf_store::turns::{self, blocks};
use turnleaf_store::{Db, StoreError};

async fn plant_tree(db: &Db, length: usize, hangs_on: impl Fn(usize) -> Option<usize>) -> TreeFixture {
    tree_fixtures::plant_tree(db, ModelLock::new("demo", "scripted"), length, hangs_on).await
}

async fn run(db: &Db, text: &'static str) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
    }
}

#[tokio::test]
async fn path_window_matches_walk_from_leaf() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, 70, pseudo_random_parent).await;
        let stranger: UserId = next_id();
        for leaf in &bush.turns {
            let walked = bush.walk_to_root(leaf);
            let end = turns::find_position(db, bush.owner, leaf.id).await.unwrap().unwrap();
            assert_eq!((end.chat_id, end.branch_id, end.depth), (bush.chat, leaf.branch_id, leaf.depth));
            assert_eq!(turns::find_position_by_ord(db, bush.owner, bush.chat, leaf.ord).await.unwrap(), Some(end));
            let depth = leaf.depth;
            for (first, last) in [(0, depth), (depth / 2, depth), (depth / 3, depth / 2), (depth, depth), (0, 0)] {
                let part = &walked[first as usize..=last as usize];
                let read = turns::turns_between(db, bush.owner, &end, first, last).await.unwrap();
                assert_eq!(read, part);
                let nodes = turns::nodes_between(db, bush.owner, &end, first, last).await.unwrap();
                assert!(nodes.iter().map(|node| (node.id, node.prev, node.ord)).eq(part.iter().map(|turn| (
                    turn.id,
                    turn.prev_turn_id,
                    turn.ord
                ))));
                let extent =
                    turns::path_fingerprint::path_fingerprint(db, bush.owner, leaf.id, first, last).await.unwrap();
                let events = part.iter().map(|turn| turn.last_event_seq as i64).sum::<i64>();
                assert_eq!((extent.turns, extent.events), (part.len() as i64, events));
                let mut seen = db.snapshot().await.unwrap();
                let spans = turns::path_spans(&mut seen, bush.owner, leaf.id, first, last).await.unwrap();
                for turn in &walked {
                    let spot = turns::find_position(db, bush.owner, turn.id).await.unwrap().unwrap();
                    assert_eq!(spans.iter().any(|span| span.contains(&spot)), (first..=last).contains(&turn.depth));
                }
                let blocks: Vec<(TurnId, Block)> =
                    part.iter().flat_map(|turn| turn.blocks.iter().map(|block| (turn.id, block.clone()))).collect();
                let counted = blocks::count_on_path(&mut seen, bush.owner, &spans).await.unwrap();
                assert_eq!(counted as usize, blocks.len());
                let bytes = blocks::bytes_on_path(&mut seen, bush.owner, &spans).await.unwrap();
                let held = |turn: &Turn| {
                    turn.blocks
                        .iter()
                        .map(|block| serde_json::to_string(&block.content).unwrap().len() as u64)
                        .sum::<u64>()
                };
                assert!(part.iter().all(|turn| bytes.get(&turn.depth).copied().unwrap_or(0) == held(turn)));
                let slice = blocks::slice_on_path(&mut seen, bush.owner, &spans, 1, 3).await.unwrap();
                assert!(slice.iter().eq(blocks.iter().skip(1).take(3)));
                assert!(turns::path_spans(&mut seen, stranger, leaf.id, first, last).await.unwrap().is_empty());
                seen.commit().await.unwrap();
                assert!(turns::turns_between(db, stranger, &end, first, last).await.unwrap().is_empty());
            }
            assert!(turns::turns_between(db, bush.owner, &end, 1, 0).await.unwrap().is_empty());
            assert_eq!(turns::find_position(db, stranger, leaf.id).await.unwrap(), None);
            assert_eq!(turns::find_position_by_ord(db, stranger, bush.chat, leaf.ord).await.unwrap(), None);
        }
        assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
        fresh.close().await;
    }
}

#[tokio::test]
async fn tree_shape_has_all_turns_and_one_revision() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, 40, pseudo_random_parent).await;
        let (rev, shape) = turns::tree_shape(db, bush.owner, bush.chat).await.unwrap().unwrap();
        assert_eq!(rev, 40);
        let of = |turn: &Turn| turns::ShapeTurn { id: turn.id, prev: turn.prev_turn_id, ord: turn.ord };
        assert_eq!(shape, bush.turns.iter().map(of).collect::<Vec<_>>());
        assert_eq!(turns::tree_shape(db, next_id(), bush.chat).await.unwrap(), None);
        run(db, "UPDATE turns SET deleted_at = created_at, deletion_id = id").await;
        assert_eq!(turns::tree_shape(db, bush.owner, bush.chat).await.unwrap(), Some((40, Vec::new())));
        fresh.close().await;
    }
}

#[tokio::test]
async fn descending_takes_newest_child_and_bounded_steps() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        // 0 - 1 - 2 - 3, and the branch 4 - 5 below 1.
        let hangs_on = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];
        let bush = plant_tree(db, 6, |n| hangs_on[n]).await;
        let id_of = |n: usize| Some(bush.turns[n].id);
        for (from, steps, to) in [(0, 0, 0), (0, 1, 1), (0, 2, 4), (0, 99, 5), (2, 99, 3), (3, 99, 3)] {
            let below = turns::newest_below(db, bush.owner, bush.turns[from].id, steps).await.unwrap();
            assert_eq!(below, id_of(to), "{steps} steps below {from}");
        }
        assert_eq!(turns::newest_below(db, next_id(), bush.turns[0].id, 9).await.unwrap(), None);
        run(db, "UPDATE turns SET deleted_at = created_at, deletion_id = id WHERE ord = 6").await;
        assert_eq!(turns::newest_below(db, bush.owner, bush.turns[0].id, 9).await.unwrap(), id_of(4));
        fresh.close().await;
    }
}

#[tokio::test]
async fn hundreds_of_forks_on_one_path_are_read_completely() {
    for fresh in test_databases().await {
        check_many_forks(&fresh.db).await;
        fresh.close().await;
    }
}

pub async fn check_many_forks(db: &Db) {
    // Every other turn has an earlier sibling, so the path changes its branch all the time.
    let bush = plant_tree(db, 451, |n| n.checked_sub(if n % 3 == 2 { 2 } else { 1 })).await;
    let leaf = bush.turns.last().unwrap();
    let walked = bush.walk_to_root(leaf);
    let end = turns::find_position(db, bush.owner, leaf.id).await.unwrap().unwrap();
    let mut seen = db.snapshot().await.unwrap();
    let spans = turns::path_spans(&mut seen, bush.owner, leaf.id, 0, end.depth).await.unwrap();
    assert!(spans.len() > 128, "{}", spans.len());
    assert_eq!(turns::path(db, bush.owner, leaf.id, 1_000).await.unwrap(), (walked.clone(), false));
    let blocks: Vec<Block> = walked.iter().flat_map(|turn| turn.blocks.clone()).collect();
    assert_eq!(blocks::count_on_path(&mut seen, bush.owner, &spans).await.unwrap() as usize, blocks.len());
    for (skip, limit) in [(0, 10), (90, 20), (150, 500), (blocks.len(), 5)] {
        let slice = blocks::slice_on_path(&mut seen, bush.owner, &spans, skip as i64, limit).await.unwrap();
        assert!(slice.iter().map(|(_, block)| block).eq(blocks.iter().skip(skip).take(limit as usize)));
    }
    seen.commit().await.unwrap();
}

#[tokio::test]
async fn path_is_read_from_consistent_snapshot() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, 9, |n| n.checked_sub(1)).await;
        let end = turns::find_position(db, bush.owner, bush.turns[8].id).await.unwrap().unwrap();
        let deleting = async {
            for _ in 0..60 {
                run(db, "UPDATE turns SET deleted_at = created_at, deletion_id = id WHERE ord > 3").await;
                run(db, "UPDATE turns SET deleted_at = NULL, deletion_id = NULL").await;
            }
        };
        let (stop, mut stopped) = tokio::sync::oneshot::channel::<()>();
        let reading = async {
            while stopped.try_recv().is_err() {
                let read = turns::turns_between(db, bush.owner, &end, 0, 8).await.unwrap();
                assert!(read.is_empty() || read == bush.turns, "all of it with its blocks, or nothing");
            }
        };
        let deleting = async {
            deleting.await;
            stop.send(()).unwrap();
        };
        tokio::join!(deleting, reading);
        fresh.close().await;
    }
}

#[tokio::test]
async fn externally_written_cycle_is_error() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, 9, |n| n.checked_sub(1)).await;
        let leaf = &bush.turns[8];
        let end = turns::find_position(db, bush.owner, leaf.id).await.unwrap().unwrap();
        run(db, "UPDATE turns SET prev_turn_id = (SELECT t.id FROM turns t WHERE t.ord = 7) WHERE ord = 4").await;
        let error = turns::turns_between(db, bush.owner, &end, 0, 8).await.unwrap_err();
        assert!(matches!(error, StoreError::BrokenPath(turn) if turn == leaf.id), "{error}");
        let rest = turns::turns_between(db, bush.owner, &end, 5, 8).await.unwrap();
        assert_eq!(
            rest.iter().map(|turn| turn.id).collect::<Vec<_>>(),
            bush.turns[5..].iter().map(|t| t.id).collect::<Vec<_>>()
        );
        assert!(turns::leaf_below(db, bush.owner, bush.turns[3].id).await.unwrap().is_some(), "it comes to an end");
        fresh.close().await;
    }
}

#[tokio::test]
async fn sent_path_is_reread_only_where_it_changed() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let bush = plant_tree(db, 90, |at| at.checked_sub(1)).await;
        let paths = PathCache::default();
        let leaf = |at: usize| bush.turns[at].id;
        let read_path = async |owner: UserId, at: usize, wants: fn(&Turn) -> bool| {
            let begun = paths.read_newest(db, owner, bush.chat, leaf(at)).await.unwrap();
            let (path, responses) = paths.read_rest(db, owner, begun, wants).await.unwrap();
            (path.iter().map(|turn| (**turn).clone()).collect::<Vec<Turn>>(), responses)
        };
        let read = async |at: usize| read_path(bush.owner, at, |_| true).await.0;
        let stored = async |at: usize| turns::path(db, bush.owner, leaf(at), 1_000).await.unwrap().0;
        store_finished_call(db, leaf(20)).await;
        store_finished_call(db, leaf(88)).await;
        for at in [60, 70, 89, 65, 10] {
            assert_eq!(read(at).await, stored(at).await, "to {at}");
        }
        let (path, responses) = read_path(next_id(), 89, |_| true).await;
        assert!(path.is_empty() && responses.is_empty(), "a stranger's");
        assert_eq!(read_path(next_id(), 10, |_| true).await.0, [], "a stranger's short one");

        // Responses come with the path, both from the cache and from the database.
        for (case, paths) in [("read", &PathCache::default()), ("known", &paths)] {
            for (wants, count) in [((|turn| turn.depth == 20) as fn(&Turn) -> bool, 1), (|turn| turn.depth < 20, 0)] {
                let begun = paths.read_newest(db, bush.owner, bush.chat, leaf(89)).await.unwrap();
                let (_, responses) = paths.read_rest(db, bush.owner, begun, wants).await.unwrap();
                assert_eq!(responses.values().flat_map(|steps| steps.iter()).count(), count, "{case}");
                assert!(
                    responses.values().flat_map(|steps| steps.iter()).all(|step| step.response.bytes() == "data: {}"),
                    "{case}"
                );
            }
        }

        // A response is read again only when its turn has changed: tried with a cached turn and with one of the
        // newest.
        let response_of = async |paths: &PathCache, at: usize| {
            let begun = paths.read_newest(db, bush.owner, bush.chat, leaf(89)).await.unwrap();
            let (_, responses) = paths.read_rest(db, bush.owner, begun, |_| true).await.unwrap();
            responses[&leaf(at)][0].response.bytes()
        };
        let paths = PathCache::default();
        assert_eq!([response_of(&paths, 20).await, response_of(&paths, 88).await], ["data: {}", "data: {}"]);
        let other = match db {
            Db::Sqlite { .. } => "UPDATE generation_chunks SET bytes = X'2121'",
            Db::Postgres { .. } => "UPDATE generation_chunks SET bytes = '\\x2121'",
        };
        run(db, other).await;
        assert_eq!([response_of(&paths, 20).await, response_of(&paths, 88).await], ["data: {}", "data: {}"]);
        run(db, "UPDATE turns SET last_event_seq = last_event_seq + 1 WHERE depth = 88").await;
        assert_eq!([response_of(&paths, 20).await, response_of(&paths, 88).await], ["data: {}", "!!"]);
        assert_eq!(response_of(&PathCache::default(), 20).await, "!!");

        // A direct edit, which no operation makes on an ended turn, shows that the cached turn was used.
        run(db, "UPDATE turn_blocks SET content = REPLACE(content, '20.0', 'other')").await;
        let (kept, changed) = (read(89).await, stored(89).await);
        assert_ne!(kept[20], changed[20]);
        assert_eq!((&kept[..20], &kept[21..]), (&changed[..20], &changed[21..]));
        run(db, "UPDATE chats SET epoch = id").await;
        assert_eq!(read(89).await, stored(89).await, "a chat that was taken in since");
        run(db, "UPDATE turn_blocks SET content = REPLACE(content, 'other', '20.0')").await;
        run(db, "UPDATE turns SET last_event_seq = last_event_seq + 1 WHERE depth = 20").await;
        assert_eq!(read(89).await, stored(89).await, "an event more");
    }
}

/// Stores a generation of this turn and its response.
async fn store_finished_call(db: &Db, turn: TurnId) {
    let id: GenerationId = next_id();
    let new = NewGeneration {
        id,
        turn_id: turn,
        step: 0,
        provider: "p".into(),
        api: "openai_chat".into(),
        model_requested: "m".into(),
        request: StoredRequest::from_whole(Default::default(), "\"none\"".into()),
        raw_kind: RawKind::SseEvents,
        started_at: noon(),
    };
    let mut tx = db.begin().await.unwrap();
    generations::insert(&mut tx, &new).await.unwrap();
    raw::append_chunks(&mut tx, &[RawChunk { generation_id: id, offset: 0, bytes: b"data: {}" }]).await.unwrap();
    tx.commit().await.unwrap();
}
