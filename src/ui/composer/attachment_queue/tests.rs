//! Tests of the queue's rules.

use super::*;

fn image(blob: &str) -> Attachment {
    Attachment::image(blob.into(), "image/png".into(), format!("{blob}.png"), None, None)
}

fn queue(files: usize) -> AttachmentQueue {
    let mut queue = AttachmentQueue::default();
    for at in 0..files {
        queue.add(format!("{at}.txt"), 10);
    }
    queue
}

fn states(queue: &AttachmentQueue) -> Vec<&AttachmentState> {
    queue.items().iter().map(|item| &item.state).collect()
}

#[test]
fn three_files_upload_at_once_and_next_starts_when_one_is_done() {
    let mut queue = queue(5);
    assert_eq!(queue.start_next(), [0, 1, 2]);
    assert_eq!(queue.start_next(), [0; 0]);
    assert_eq!(queue.progress(), Some((1, 5)));
    queue.complete(1, image("b"));
    assert_eq!(queue.progress(), Some((2, 5)));
    assert_eq!(queue.start_next(), [3]);
    queue.fail(0, "no".into(), true);
    assert_eq!(queue.start_next(), [4]);
    for id in [2, 3] {
        queue.complete(id, image(&id.to_string()));
    }
    assert_eq!(queue.progress(), Some((4, 4)), "what failed is not waited for");
    queue.complete(4, image("e"));
    assert_eq!((queue.progress(), queue.is_pending(), queue.has_failed()), (None, false, true));
    let ready: Vec<String> = queue.ready_attachments().iter().map(Attachment::dedup_key).collect();
    assert_eq!(ready, ["b", "2", "3", "e"], "in the order of the message, not of arrival");
}

#[test]
fn unacceptable_file_is_refused_before_byte_is_sent() {
    let mut queue = AttachmentQueue::default();
    let largest = limits::UPLOAD_BYTES as u64;
    queue.add("a".into(), largest + 1);
    queue.add("b".into(), largest);
    queue.add("c".into(), largest);
    queue.add("d".into(), 1);
    let is_refused = |state: &&AttachmentState| matches!(state, AttachmentState::Failed { can_retry: false, .. });
    assert_eq!(states(&queue).iter().map(is_refused).collect::<Vec<_>>(), [true, false, false, true]);
    assert_eq!(queue.start_next(), [1, 2]);
    queue.retry(0);
    assert_eq!(queue.start_next(), [0; 0], "trying again would not help");

    let mut many = self::queue(limits::REFERENCES_PER_TURN);
    many.add("one more".into(), 1);
    assert!(matches!(many.last_item().unwrap().state, AttachmentState::Failed { .. }));
}

#[test]
fn lost_upload_is_retried_and_affects_no_other() {
    let mut queue = queue(2);
    queue.start_next();
    queue.complete(1, image("b"));
    assert_eq!(queue.record_loss(0, false), Some(0), "offline it is no fault of the file");
    assert!(queue.is_pending());
    queue.retry_lost();
    assert_eq!(queue.start_next(), [0]);
    for losses in 1..TRIES {
        assert_eq!(queue.record_loss(0, true), Some(losses));
        queue.retry_lost();
        assert_eq!(queue.start_next(), [0]);
    }
    assert_eq!(queue.record_loss(0, true), None);
    assert!(queue.has_failed() && queue.ready_attachments().len() == 1);
    queue.retry(0);
    assert_eq!(queue.start_next(), [0]);
    assert_eq!(queue.record_loss(0, true), Some(1), "a person's wish begins the count anew");
    queue.remove(0);
    assert_eq!(queue.record_loss(0, true), None);
    assert!(!queue.is_pending());
}

#[test]
fn same_attachment_twice_is_attached_once() {
    let mut queue = queue(2);
    queue.start_next();
    queue.complete(0, image("a"));
    queue.complete(1, image("a"));
    assert_eq!(queue.items().len(), 1);
    assert!(!queue.attach(image("a")));
    assert!(queue.attach(image("b")));
}

#[test]
fn another_draft_replaces_attachments_but_not_uploads() {
    let mut queue = AttachmentQueue::new(vec![image("a"), image("b")], &[(1, ReferenceStatus::Older)]);
    queue.add("c.txt".into(), 1);
    let ids: Vec<u32> = queue.items().iter().map(|item| item.id).collect();
    queue.replace_all(vec![image("b"), image("d")], &[]);
    let after: Vec<u32> = queue.items().iter().map(|item| item.id).collect();
    assert_eq!(after, [ids[1], 3, ids[2]]);
    assert_eq!(*states(&queue)[0], AttachmentState::Ready { attachment: Box::new(image("b")), status: None });
    assert!(queue.is_pending());
}
