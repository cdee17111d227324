//! The queue's rules.

use super::*;

fn image(blob: &str) -> Attachment {
    Attachment::image(blob.into(), "image/png".into(), format!("{blob}.png"), None, None)
}

fn queue(files: usize) -> Queue {
    let mut queue = Queue::default();
    for at in 0..files {
        queue.add(format!("{at}.txt"), 10);
    }
    queue
}

fn states(queue: &Queue) -> Vec<&State> {
    queue.items().iter().map(|item| &item.state).collect()
}

#[test]
fn three_are_sent_at_once_and_the_next_begins_when_one_is_done() {
    let mut queue = queue(5);
    assert_eq!(queue.start(), [0, 1, 2]);
    assert_eq!(queue.start(), [0; 0]);
    assert_eq!(queue.progress(), Some((1, 5)));
    queue.done(1, image("b"));
    assert_eq!(queue.progress(), Some((2, 5)));
    assert_eq!(queue.start(), [3]);
    queue.fail(0, "no".into(), true);
    assert_eq!(queue.start(), [4]);
    for id in [2, 3] {
        queue.done(id, image(&id.to_string()));
    }
    assert_eq!(queue.progress(), Some((4, 4)), "what failed is not waited for");
    queue.done(4, image("e"));
    assert_eq!((queue.progress(), queue.is_pending(), queue.has_failed()), (None, false, true));
    let ready: Vec<String> = queue.ready().iter().map(Attachment::key).collect();
    assert_eq!(ready, ["b", "2", "3", "e"], "in the order of the message, not of arrival");
}

#[test]
fn what_cannot_be_taken_is_refused_before_a_byte_is_sent() {
    let mut queue = Queue::default();
    let largest = limits::UPLOAD_BYTES as u64;
    queue.add("a".into(), largest + 1);
    queue.add("b".into(), largest);
    queue.add("c".into(), largest);
    queue.add("d".into(), 1);
    let is_refused = |state: &&State| matches!(state, State::Failed { can_retry: false, .. });
    assert_eq!(states(&queue).iter().map(is_refused).collect::<Vec<_>>(), [true, false, false, true]);
    assert_eq!(queue.start(), [1, 2]);
    queue.retry(0);
    assert_eq!(queue.start(), [0; 0], "trying again would not help");

    let mut many = self::queue(limits::REFERENCES_PER_TURN);
    many.add("one more".into(), 1);
    assert!(matches!(many.last().unwrap().state, State::Failed { .. }));
}

#[test]
fn a_lost_connection_is_tried_again_and_loses_no_other() {
    let mut queue = queue(2);
    queue.start();
    queue.done(1, image("b"));
    assert_eq!(queue.lose(0, false), Some(0), "offline it is no fault of the file");
    assert!(queue.is_pending());
    queue.retry_lost();
    assert_eq!(queue.start(), [0]);
    for losses in 1..TRIES {
        assert_eq!(queue.lose(0, true), Some(losses));
        queue.retry_lost();
        assert_eq!(queue.start(), [0]);
    }
    assert_eq!(queue.lose(0, true), None);
    assert!(queue.has_failed() && queue.ready().len() == 1);
    queue.retry(0);
    assert_eq!(queue.start(), [0]);
    assert_eq!(queue.lose(0, true), Some(1), "a person's wish begins the count anew");
    queue.remove(0);
    assert_eq!(queue.lose(0, true), None);
    assert!(!queue.is_pending());
}

#[test]
fn the_same_twice_is_attached_once() {
    let mut queue = queue(2);
    queue.start();
    queue.done(0, image("a"));
    queue.done(1, image("a"));
    assert_eq!(queue.items().len(), 1);
    assert!(!queue.attach(image("a")));
    assert!(queue.attach(image("b")));
}

#[test]
fn another_draft_takes_the_place_of_what_is_attached_and_of_nothing_on_its_way() {
    let mut queue = Queue::new(vec![image("a"), image("b")], &[(1, Standing::Older)]);
    queue.add("c.txt".into(), 1);
    let ids: Vec<u32> = queue.items().iter().map(|item| item.id).collect();
    queue.show(vec![image("b"), image("d")], &[]);
    let after: Vec<u32> = queue.items().iter().map(|item| item.id).collect();
    assert_eq!(after, [ids[1], 3, ids[2]]);
    assert_eq!(*states(&queue)[0], State::Ready { attachment: Box::new(image("b")), standing: None });
    assert!(queue.is_pending());
}
