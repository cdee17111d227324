//! Tests of the change feed: order, continuing, forgetting, and the separation of accounts.

use std::time::Duration;

use super::*;
use turnleaf_domain::ChatId;
use turnleaf_platform::clock::SettableClock;
use turnleaf_platform::ids;

/// The fingerprint of the models of every account.
const MODELS: u64 = 1;

fn feed() -> ChangeFeed {
    ChangeFeed::new(Arc::new(SettableClock::default()))
}

fn chat_changed() -> AccountChange {
    AccountChange::ChatChanged { chat_id: ids::mint::<ChatId>() }
}

/// Returns the changes that a follower is given next.
async fn next_changes(follower: &mut ChangeFollower) -> Vec<AccountChange> {
    match follower.next().await {
        FeedUpdate::Changes(changes) => {
            assert!(changes.is_sorted_by(|one, other| one.0 < other.0), "{changes:?}");
            changes.into_iter().map(|(_, change)| change).collect()
        }
        FeedUpdate::Reset(newest) => panic!("reset to {newest}"),
    }
}

/// Asserts that there is nothing for a follower.
async fn assert_nothing_new(follower: &mut ChangeFollower) {
    let next = tokio::time::timeout(Duration::from_secs(60), follower.next()).await;
    assert!(next.is_err(), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn follower_is_given_each_subject_once_in_order_of_its_last_change() {
    let (feed, owner) = (feed(), ids::mint());
    let mut follower = feed.follow(owner, None, MODELS);
    let (one, other) = (chat_changed(), chat_changed());
    for change in [one, AccountChange::ChatListChanged, other, one, AccountChange::ChatListChanged] {
        feed.publish(owner, change);
    }
    assert_eq!(next_changes(&mut follower).await, [other, one, AccountChange::ChatListChanged]);
    assert_nothing_new(&mut follower).await;
    feed.publish(owner, AccountChange::DraftChanged { chat_id: None, rev: Some(1) });
    feed.publish(owner, AccountChange::DraftChanged { chat_id: None, rev: Some(2) });
    assert_eq!(next_changes(&mut follower).await, [AccountChange::DraftChanged { chat_id: None, rev: Some(2) }]);
    assert_nothing_new(&mut follower).await;
}

#[tokio::test(start_paused = true)]
async fn waiting_follower_is_woken_by_change_of_its_account_only() {
    let feed = feed();
    let (owner, stranger) = (ids::mint(), ids::mint());
    let (mut follower, mut of_stranger) = (feed.follow(owner, None, MODELS), feed.follow(stranger, None, MODELS));
    let (woken, ()) = tokio::join!(next_changes(&mut follower), async {
        feed.publish(stranger, AccountChange::UnreadChanged);
        tokio::task::yield_now().await;
        feed.publish(owner, AccountChange::ChatListChanged);
    });
    assert_eq!(woken, [AccountChange::ChatListChanged]);
    assert_eq!(next_changes(&mut of_stranger).await, [AccountChange::UnreadChanged]);
    assert_nothing_new(&mut follower).await;
    assert_nothing_new(&mut of_stranger).await;
}

#[tokio::test(start_paused = true)]
async fn client_continues_after_its_number_or_is_reset() {
    let (feed, owner) = (feed(), ids::mint());
    let mut before = feed.follow(owner, None, MODELS);
    let start = before.seen();
    feed.publish(owner, AccountChange::UnreadChanged);
    next_changes(&mut before).await;
    let seen = before.seen();
    assert!(seen > start);
    drop(before);
    // Changes while nobody follows.
    feed.publish(owner, AccountChange::ChatListChanged);
    let mut again = feed.follow(owner, Some(seen), MODELS);
    assert!(again.continues());
    assert_eq!(next_changes(&mut again).await, [AccountChange::ChatListChanged]);
    let newest = again.seen();
    assert_nothing_new(&mut feed.follow(owner, Some(newest), MODELS)).await;
    for unknown in [None, Some(0), Some(start - 1), Some(newest + 1), Some(u64::MAX)] {
        let mut follower = feed.follow(owner, unknown, MODELS);
        assert_eq!((follower.continues(), follower.seen()), (false, newest), "{unknown:?}");
        assert_nothing_new(&mut follower).await;
    }
    for _ in 0..=limits::CHANNEL_CHANGES {
        feed.publish(owner, chat_changed());
    }
    // One that did not read for so long is told so, and one that comes back as well.
    assert!(matches!(again.next().await, FeedUpdate::Reset(_)));
    assert_nothing_new(&mut again).await;
    assert!(!feed.follow(owner, Some(newest), MODELS).continues());
    // Repetitions take no place.
    let seen = again.seen();
    for _ in 0..=limits::CHANNEL_CHANGES {
        feed.publish(owner, AccountChange::UnreadChanged);
    }
    assert_eq!(next_changes(&mut feed.follow(owner, Some(seen), MODELS)).await, [AccountChange::UnreadChanged]);
}

#[tokio::test(start_paused = true)]
async fn numbers_of_later_process_are_unknown_and_higher() {
    let clock = Arc::new(SettableClock::default());
    let owner = ids::mint();
    let before = ChangeFeed::new(clock.clone());
    let mut follower = before.follow(owner, None, MODELS);
    before.publish(owner, AccountChange::UnreadChanged);
    next_changes(&mut follower).await;
    clock.advance(chrono::TimeDelta::seconds(1));
    let after = ChangeFeed::new(clock);
    let follower_after = after.follow(owner, Some(follower.seen()), MODELS);
    assert!(!follower_after.continues() && follower_after.seen() > follower.seen());
}

#[tokio::test(start_paused = true)]
async fn accounts_that_nobody_follows_are_forgotten_when_there_are_many() {
    let (feed, owner) = (feed(), ids::mint());
    let follower = feed.follow(owner, None, MODELS);
    let left = ids::mint();
    drop(feed.follow(left, None, MODELS));
    for _ in 0..limits::CHANNEL_ACCOUNTS {
        drop(feed.follow(ids::mint(), None, MODELS));
    }
    let accounts = feed.accounts();
    assert!(accounts.len() <= limits::CHANNEL_ACCOUNTS, "{}", accounts.len());
    assert!(accounts.contains(&owner) && !accounts.contains(&left));
    drop(follower);
}

#[tokio::test(start_paused = true)]
async fn models_are_a_change_when_their_fingerprint_is_another() {
    let (feed, owner) = (feed(), ids::mint());
    let mut follower = feed.follow(owner, None, MODELS);
    feed.publish_models(owner, MODELS);
    assert_nothing_new(&mut follower).await;
    for other in [MODELS + 1, MODELS] {
        feed.publish_models(owner, other);
        assert_eq!(next_changes(&mut follower).await, [AccountChange::SettingsChanged]);
    }
    feed.publish_models(ids::mint(), MODELS + 1);
    assert_nothing_new(&mut follower).await;
}
