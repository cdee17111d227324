//! What a graft does next, by tables.

use super::*;

fn graft(messages: usize, asked: u32) -> Graft {
    let id = uuid::Uuid::from_u128(1);
    Graft {
        id: id.into(),
        chat_id: id.into(),
        branch_id: id.into(),
        from_turn_id: None,
        leaf_turn_id: Some(id.into()),
        messages: vec![id.into(); messages],
        asked,
        exchange_id: None,
        status: GraftStatus::Running,
        reason: None,
        detail: None,
        params: Params::default(),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn reply(status: TurnStatus) -> Option<LastReply> {
    let failure = (status == TurnStatus::Error).then_some(FailureKind::ProviderError);
    Some(LastReply { status, failure })
}

#[test]
fn the_next_message_is_asked_when_the_reply_before_it_is_complete_and_only_then() {
    use NextStep::{Ask, AskAgain, Done, Pause, Wait};
    use TurnStatus::{Cancelled, Complete, Error, Pending, Streaming, WaitingSubagents};
    let restarted = Some(LastReply { status: Error, failure: Some(FailureKind::ServerRestarted) });
    for (messages, asked, reply, next, resumed) in [
        (0, 0, None, Done, Done),
        (3, 0, None, Ask(0), Ask(0)),
        (3, 1, reply(Pending), Wait, Wait),
        (3, 1, reply(Streaming), Wait, Wait),
        (3, 1, reply(WaitingSubagents), Wait, Wait),
        (3, 1, reply(Complete), Ask(1), Ask(1)),
        (3, 2, reply(Complete), Ask(2), Ask(2)),
        (3, 3, reply(Complete), Done, Done),
        (3, 3, reply(Streaming), Wait, Wait),
        (3, 2, reply(Cancelled), Pause(PauseReason::ReplyStopped), AskAgain(1)),
        (3, 2, reply(Error), Pause(PauseReason::ReplyFailed), AskAgain(1)),
        (3, 3, reply(Error), Pause(PauseReason::ReplyFailed), AskAgain(2)),
        (3, 2, restarted, Pause(PauseReason::ServerRestarted), AskAgain(1)),
        (3, 2, None, Pause(PauseReason::Gone), Pause(PauseReason::Gone)),
    ] {
        let graft = graft(messages, asked);
        assert_eq!((graft.next(reply), graft.resumed(reply)), (next, resumed), "{asked} of {messages}, {reply:?}");
    }
}

#[test]
fn no_message_is_asked_beyond_the_plan_or_out_of_order() {
    for messages in 0..5 {
        for asked in 0..=messages {
            for status in TurnStatus::ALL {
                let graft = graft(messages, u32::try_from(asked).unwrap());
                match graft.next(reply(status)) {
                    NextStep::Ask(n) => assert_eq!(n, asked),
                    NextStep::AskAgain(n) => panic!("{n} was asked again by itself"),
                    _ => {}
                }
                if let NextStep::AskAgain(n) = graft.resumed(reply(status)) {
                    assert_eq!(n + 1, asked);
                }
            }
        }
    }
}
