//! Tests of drafts in two tabs, and of a draft while its message is being sent.

use super::*;

/// Creates a draft keeper that knows the draft "a" as revision 1, after `typed` was typed.
fn keeper(typed: &str) -> DraftKeeper {
    let keeper = DraftKeeper::new(None, stored("a", 1));
    keeper.current.update_value(|current| current.text = typed.into());
    keeper
}

fn stored(text: &str, rev: i64) -> DraftView {
    DraftView { text: text.into(), rev, ..DraftView::default() }
}

fn image(blob: &str) -> Attachment {
    Attachment::image(blob.into(), "image/png".into(), blob.into(), None, None)
}

fn with_images(draft: DraftView, blobs: &[&str]) -> DraftView {
    DraftView { attachments: blobs.iter().map(|blob| image(blob)).collect(), ..draft }
}

fn take_remote(keeper: DraftKeeper, newer: DraftView) -> Option<String> {
    keeper.take_remote(newer).map(|shown| shown.text)
}

#[test]
fn newer_draft_of_another_tab_is_shown_or_offered() {
    Owner::new().with(|| {
        let offered = |keeper: DraftKeeper| keeper.conflicting.get_untracked().map(|draft| draft.text);
        let clean = keeper("a");
        assert_eq!(take_remote(clean, stored("b", 2)), Some("b".into()));
        assert_eq!((clean.text(), offered(clean)), ("b".into(), None));
        assert_eq!(take_remote(clean, stored("c", 2)), None, "nothing new");
        assert_eq!(take_remote(clean, stored("", 3)), Some(String::new()), "it was sent elsewhere");

        let typed = keeper("mine");
        assert_eq!(take_remote(typed, stored("theirs", 2)), None);
        assert_eq!((typed.text(), offered(typed)), ("mine".into(), Some("theirs".into())));

        let sent_elsewhere = keeper("mine");
        assert_eq!((take_remote(sent_elsewhere, stored("", 2)), offered(sent_elsewhere)), (None, None));

        let own = keeper("mine and more");
        own.saving.set_value(Some(stored("mine", 1)));
        assert_eq!((take_remote(own, stored("mine", 2)), offered(own)), (None, None), "its own save came back");

        let held = keeper("mine");
        held.held.set_value(Some(stored("mine", 1)));
        assert_eq!((take_remote(held, stored("theirs", 2)), offered(held)), (None, None), "a message is on its way");
    });
}

#[test]
fn attachment_of_another_tab_is_merged_with_text_typed_here() {
    Owner::new().with(|| {
        let typed = keeper("mine");
        let shown = typed.take_remote(with_images(stored("a", 2), &["x"])).unwrap();
        assert_eq!((shown.text.as_str(), shown.attachments.len()), ("mine", 1));
        assert_eq!((typed.text(), typed.attachments().len(), typed.current_draft().rev), ("mine".into(), 1, 2));

        // Text that was typed since a save that kept the attachment of another page, at the revision before it.
        let saved = keeper("mine");
        saved.saved.set_value(stored("mine", 1));
        saved.current.update_value(|current| current.text = "mine and more".into());
        let shown = saved.take_remote(with_images(stored("mine", 2), &["x"])).unwrap();
        assert_eq!((shown.text.as_str(), shown.attachments), ("mine and more", vec![image("x")]));
        assert_eq!(saved.take_remote(with_images(stored("mine", 3), &["x"])), None, "all of it is on screen");
        assert_eq!(saved.rev(), 3);

        // Both attached something else: nothing is lost, the other draft is offered.
        let both = keeper("a");
        both.current.update_value(|current| current.attachments = vec![image("y")]);
        assert_eq!(both.take_remote(with_images(stored("a", 2), &["x"])), None);
        assert_eq!(both.conflicting.get_untracked().unwrap().attachments, [image("x")]);
        assert_eq!(both.attachments(), [image("y")]);
    });
}

#[test]
fn text_typed_while_message_is_sending_stays_after_it() {
    let held = with_images(stored("sent", 1), &["x"]);
    assert_eq!(append_to_held(&held, held.clone()), None);
    assert_eq!(append_to_held(&held, with_images(stored("", 1), &[])), None, "the box was emptied for it");
    let both = append_to_held(&held, with_images(stored("typed", 1), &["y"])).unwrap();
    assert_eq!((both.text.as_str(), both.attachments), ("sent\n\ntyped", vec![image("x"), image("y")]));
    let words = append_to_held(&held, with_images(stored("typed", 1), &["x"])).unwrap();
    assert_eq!(words.attachments, [image("x")], "what is sent is not there twice");
}

#[test]
fn revision_alone_is_no_change() {
    let draft = stored("a", 1);
    assert!(is_same_draft(&draft, &DraftView { rev: 2, ..draft.clone() }));
    assert!(!is_same_draft(&draft, &DraftView { text: "b".into(), ..draft.clone() }));
    assert!(!is_same_draft(&draft, &with_images(draft.clone(), &["x"])));
}

#[test]
fn message_waits_for_every_save_and_is_sent_once() {
    let events = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let record = |word: &'static str| {
        let events = events.clone();
        move || events.lock().unwrap().push(word)
    };
    let flight = PendingSaves::default();
    assert_eq!(flight.run_when_idle(record("nothing is under way")), None);
    flight.start_save();
    flight.start_save();
    let first = flight.run_when_idle(record("behind both"));
    assert!(first.is_some());
    flight.finish_save();
    assert_eq!(*events.lock().unwrap(), ["nothing is under way"]);
    flight.finish_save();
    assert_eq!(*events.lock().unwrap(), ["nothing is under way", "behind both"]);
    flight.start_save();
    let second = flight.run_when_idle(record("waited long enough"));
    // The timeout of the first message is not that of the second.
    flight.run_overdue(first.unwrap());
    assert_eq!(events.lock().unwrap().len(), 2);
    flight.run_overdue(second.unwrap());
    flight.finish_save();
    assert_eq!(events.lock().unwrap().last(), Some(&"waited long enough"));
    assert_eq!(events.lock().unwrap().len(), 3);
}
