//! A provider that stores responses: requests continue from them, every request is accepted, and the stored response
//! together with the sent items is the same conversation as without storing.

use turnleaf::domain::Turn;
use turnleaf_platform::endpoint::ProviderApi;

use crate::chats::{assert_complete, continue_chat, plain_reply, tool_loop_script};
use crate::test_chat::{ModelAccount, TestChat};

const fn account(model: &'static str) -> ModelAccount {
    ModelAccount { provider: "responses-kept", api: ProviderApi::OpenaiResponses, model }
}

/// Returns the number of the response from which each request continued, 0 for none.
fn previous_responses(talk: &TestChat) -> Vec<usize> {
    let number = |id: &str| id.trim_start_matches("resp_").parse().unwrap_or(0);
    talk.validator.sent_replies().iter().map(|sent| number(&sent.previous_response_id)).collect()
}

async fn send_text(talk: &mut TestChat, text: &str) -> Turn {
    let turn = talk.send_and_wait(text, [plain_reply("So it is.")]).await;
    assert_complete(&turn);
    turn
}

#[tokio::test]
async fn kept_responses_are_accepted_across_tool_loop_and_fork() {
    for model in ["gpt-5.6", "gpt-5.1", "o3", "gpt-4o"] {
        let mut talk = TestChat::new(5, &[account(model)]).await.with_system_prompt("You are brief.").await;
        let first = send_text(&mut talk, "Hello").await;
        assert_complete(&talk.send_and_wait("What is the weather?", tool_loop_script()).await);
        let main = send_text(&mut talk, "Thanks").await.id;
        assert_eq!(previous_responses(&talk), [0, 1, 2, 3, 4], "{model}");

        // A branch off the first reply cannot continue from a stored response; its later requests continue from its
        // own.
        (talk.leaf, talk.next) = (Some(first.id), Some(account(model)));
        let forked = talk.send_and_wait("And the time?", tool_loop_script()).await;
        assert_complete(&forked);
        assert_ne!(forked.branch_id, first.branch_id);
        send_text(&mut talk, "Good").await;
        assert_eq!(previous_responses(&talk)[5..], [0, 6, 7, 8], "{model}");

        // Back on the first branch, the request continues from that branch's last response.
        talk.leaf = Some(main);
        assert_complete(&talk.send_and_wait("Still there?", tool_loop_script()).await);
        assert_eq!(previous_responses(&talk)[9..], [5, 10, 11], "{model}");

        // A retry creates its own branch.
        assert_complete(&talk.retry_and_wait(tool_loop_script()).await);
        send_text(&mut talk, "Enough").await;
        assert_eq!(previous_responses(&talk)[12..], [0, 13, 14, 15], "{model}");
        assert_eq!(talk.validator.accepted_count(), 16, "{model}");
        talk.instance.check_invariants().await;
    }
}

#[tokio::test]
async fn kept_responses_are_accepted_after_every_reply_outcome() {
    let talk = continue_chat(account("gpt-5.6")).await;
    let behind = previous_responses(&talk);
    let number = behind.len();
    let going_on = behind.iter().filter(|behind| **behind > 0).count();
    assert!(going_on * 2 > number, "{going_on} of {number} went on from a response");
    assert_eq!(talk.validator.accepted_count(), number);
}
