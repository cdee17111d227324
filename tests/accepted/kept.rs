//! A provider that keeps what is said: requests go on from its responses, every one of them is accepted, and what the
//! provider has together with what is sent is the same conversation as elsewhere.

use turnleaf::domain::Turn;
use turnleaf_platform::endpoint::Api;

use crate::chats::{a_tool_loop, complete, hold_on, plain};
use crate::talk::{At, Talk};

const fn at(model: &'static str) -> At {
    At { provider: "responses-kept", api: Api::OpenaiResponses, model }
}

/// What each request went on from: the number of the response, 0 for nothing.
fn behind(talk: &Talk) -> Vec<usize> {
    let number = |id: &str| id.trim_start_matches("resp_").parse().unwrap_or(0);
    talk.validator.sent().iter().map(|sent| number(&sent.behind)).collect()
}

async fn say(talk: &mut Talk, text: &str) -> Turn {
    let turn = talk.say(text, [plain("So it is.")]).await;
    complete(&turn);
    turn
}

#[tokio::test]
async fn a_chat_a_tool_loop_a_fork_and_back() {
    for model in ["gpt-5.6", "gpt-5.1", "o3", "gpt-4o"] {
        let mut talk = Talk::new(5, &[at(model)]).await.with_system_prompt("You are brief.").await;
        let first = say(&mut talk, "Hello").await;
        complete(&talk.say("What is the weather?", a_tool_loop()).await);
        let main = say(&mut talk, "Thanks").await.id;
        assert_eq!(behind(&talk), [0, 1, 2, 3, 4], "{model}");

        // A branch off the first reply has nothing to go on from, and then its own.
        (talk.leaf, talk.next) = (Some(first.id), Some(at(model)));
        let forked = talk.say("And the time?", a_tool_loop()).await;
        complete(&forked);
        assert_ne!(forked.branch_id, first.branch_id);
        say(&mut talk, "Good").await;
        assert_eq!(behind(&talk)[5..], [0, 6, 7, 8], "{model}");

        // Back on the first branch, which goes on where it was.
        talk.leaf = Some(main);
        complete(&talk.say("Still there?", a_tool_loop()).await);
        assert_eq!(behind(&talk)[9..], [5, 10, 11], "{model}");

        // Tried again: a branch of its own.
        complete(&talk.again(a_tool_loop()).await);
        say(&mut talk, "Enough").await;
        assert_eq!(behind(&talk)[12..], [0, 13, 14, 15], "{model}");
        assert_eq!(talk.validator.accepted(), 16, "{model}");
        talk.house.check().await;
    }
}

#[tokio::test]
async fn everything_that_can_happen_to_a_reply_is_accepted() {
    let talk = hold_on(at("gpt-5.6")).await;
    let behind = behind(&talk);
    let number = behind.len();
    let going_on = behind.iter().filter(|behind| **behind > 0).count();
    assert!(going_on * 2 > number, "{going_on} of {number} went on from a response");
    assert_eq!(talk.validator.accepted(), number);
}
