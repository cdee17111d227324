//! Table tests of the next step of a rerun.

use super::*;

fn rerun(messages: usize, sent: u32) -> Rerun {
    let id = uuid::Uuid::from_u128(1);
    Rerun {
        id: id.into(),
        chat_id: id.into(),
        branch_id: id.into(),
        from_turn_id: None,
        leaf_turn_id: Some(id.into()),
        messages: vec![id.into(); messages],
        asked: sent,
        exchange_id: None,
        status: RerunStatus::Running,
        reason: None,
        detail: None,
        detail_code: None,
        detail_args: Default::default(),
        params: ModelParams::default(),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn reply(status: TurnStatus) -> Option<LastRerunReply> {
    let failure = (status == TurnStatus::Error).then_some(FailureKind::ProviderError);
    Some(LastRerunReply { status, failure })
}

#[test]
fn next_message_is_asked_only_when_previous_reply_is_complete() {
    use RerunStep::{Ask, AskAgain, Done, Pause, Wait};
    use TurnStatus::{Cancelled, Complete, Error, Pending, Streaming, WaitingSubagents};
    let restarted = Some(LastRerunReply { status: Error, failure: Some(FailureKind::ServerRestarted) });
    for (messages, sent, reply, next, resumed) in [
        (0, 0, None, Done, Done),
        (3, 0, None, Ask(0), Ask(0)),
        (3, 1, reply(Pending), Wait, Wait),
        (3, 1, reply(Streaming), Wait, Wait),
        (3, 1, reply(WaitingSubagents), Wait, Wait),
        (3, 1, reply(Complete), Ask(1), Ask(1)),
        (3, 2, reply(Complete), Ask(2), Ask(2)),
        (3, 3, reply(Complete), Done, Done),
        (3, 3, reply(Streaming), Wait, Wait),
        (3, 2, reply(Cancelled), Pause(RerunPauseReason::ReplyStopped), AskAgain(1)),
        (3, 2, reply(Error), Pause(RerunPauseReason::ReplyFailed), AskAgain(1)),
        (3, 3, reply(Error), Pause(RerunPauseReason::ReplyFailed), AskAgain(2)),
        (3, 2, restarted, Pause(RerunPauseReason::ServerRestarted), AskAgain(1)),
        (3, 2, None, Pause(RerunPauseReason::Gone), Pause(RerunPauseReason::Gone)),
    ] {
        let graft = rerun(messages, sent);
        assert_eq!(
            (graft.next_step(reply), graft.next_step_on_resume(reply)),
            (next, resumed),
            "{sent} of {messages}, {reply:?}"
        );
    }
}

#[test]
fn no_message_is_asked_beyond_the_plan_or_out_of_order() {
    for messages in 0..5 {
        for sent in 0..=messages {
            for status in TurnStatus::ALL {
                let graft = rerun(messages, u32::try_from(sent).unwrap());
                match graft.next_step(reply(status)) {
                    RerunStep::Ask(n) => assert_eq!(n, sent),
                    RerunStep::AskAgain(n) => panic!("{n} was asked again by itself"),
                    _ => {}
                }
                if let RerunStep::AskAgain(n) = graft.next_step_on_resume(reply(status)) {
                    assert_eq!(n + 1, sent);
                }
            }
        }
    }
}
