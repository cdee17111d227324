//! The mailbox of a run: commands of people while the reply runs tools or waits. A run receives commands only during
//! such a step; otherwise the answer is [`CommandOutcome::NotOpen`].

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use turnleaf_domain::tools::approval::ApprovalDecision;
use turnleaf_domain::tools::elicitation::ElicitationAnswer;
use turnleaf_domain::{BlockId, ElicitationId, Failure};

/// A person's answer to the question about a call.
#[derive(Debug, Clone)]
pub struct CallDecision {
    /// The hash of the question ([`ApprovalRequest::hash`](turnleaf_domain::tools::approval::ApprovalRequest)), so that
    /// a decision never applies to another question.
    pub hash: String,
    pub decision: ApprovalDecision,
    /// The person's reason for declining, for the model.
    pub reason: Option<String>,
    /// The arguments with which the call is allowed, instead of the model's.
    pub arguments: Option<Value>,
    /// The hash of the server's tools that the person saw
    /// ([`listing_hash`](turnleaf_tools::toolbox::listing_hash)), if all of them are allowed.
    pub shown_tools: Option<String>,
}

impl CallDecision {
    /// Creates an answer without a reason and without an edit.
    pub fn new(hash: impl Into<String>, decision: ApprovalDecision) -> Self {
        Self { hash: hash.into(), decision, reason: None, arguments: None, shown_tools: None }
    }
}

/// A person's answer to a question of a tool server during a call.
#[derive(Debug, Clone)]
pub struct QuestionAnswer {
    pub question: ElicitationId,
    /// Its content is checked against the form.
    pub answer: ElicitationAnswer,
}

/// A command to a run.
#[derive(Debug, Clone)]
pub enum RunCommand {
    Decide {
        block: BlockId,
        answer: CallDecision,
    },
    Answer {
        block: BlockId,
        answer: QuestionAnswer,
    },
    StopCall {
        block: BlockId,
    },
    Continue,
    /// Its owner has signed in to this server: calls that waited for that run.
    SignedIn {
        server: String,
    },
}

/// The outcome of a command. All its changes are stored when it is returned.
#[derive(Debug, Clone)]
pub enum CommandOutcome {
    Done,
    /// The run does not ask this, or no longer.
    NotOpen,
    /// The run asks something else now.
    Changed,
    Failed(Failure),
}

/// A command with the channel for its outcome.
#[derive(Debug)]
pub struct CommandEnvelope {
    pub command: RunCommand,
    pub answer: oneshot::Sender<CommandOutcome>,
}

/// The state of the receiving side.
#[derive(Debug, Clone, Default)]
enum MailboxState {
    #[default]
    Closed,
    /// The run is about to resume its turn and will receive.
    Expected,
    Open(mpsc::UnboundedSender<CommandEnvelope>),
}

/// The sending side of a run's commands.
#[derive(Debug)]
pub struct RunMailbox(watch::Sender<MailboxState>);

impl Default for RunMailbox {
    fn default() -> Self {
        Self(watch::Sender::new(MailboxState::Closed))
    }
}

/// Receives commands until it is dropped.
pub struct CommandReceiver<'a> {
    mailbox: &'a RunMailbox,
    commands: mpsc::UnboundedReceiver<CommandEnvelope>,
}

impl RunMailbox {
    /// Sends a command to the run and waits for its outcome.
    pub async fn send(&self, command: RunCommand) -> CommandOutcome {
        let mut mailbox = self.0.subscribe();
        let Ok(mailbox) =
            mailbox.wait_for(|mailbox| !matches!(mailbox, MailboxState::Expected)).await.map(|mailbox| mailbox.clone())
        else {
            return CommandOutcome::NotOpen;
        };
        let MailboxState::Open(words) = mailbox else { return CommandOutcome::NotOpen };
        let (answer, outcome) = oneshot::channel();
        if words.send(CommandEnvelope { command, answer }).is_err() {
            return CommandOutcome::NotOpen;
        }
        // A run that stops receiving drops unread commands.
        outcome.await.unwrap_or(CommandOutcome::NotOpen)
    }

    /// Lets commands wait until the run receives, or the mailbox is closed.
    pub fn expect_receiver(&self) {
        self.0.send_replace(MailboxState::Expected);
    }

    /// Closes the mailbox.
    pub fn close(&self) {
        self.0.send_replace(MailboxState::Closed);
    }

    /// Opens the mailbox and returns its receiver.
    pub fn listen(&self) -> CommandReceiver<'_> {
        let (sender, words) = mpsc::unbounded_channel();
        self.0.send_replace(MailboxState::Open(sender));
        CommandReceiver { mailbox: self, commands: words }
    }
}

impl CommandReceiver<'_> {
    /// Returns the next command.
    pub async fn next(&mut self) -> CommandEnvelope {
        match self.commands.recv().await {
            Some(word) => word,
            // The mailbox keeps a sender while this receiver exists.
            None => std::future::pending().await,
        }
    }
}

impl Drop for CommandReceiver<'_> {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn commands_are_answered_only_while_receiver_listens() {
        let ear = RunMailbox::default();
        assert!(matches!(ear.send(RunCommand::Continue).await, CommandOutcome::NotOpen));
        let mut hearing = ear.listen();
        let receive = async {
            let word = hearing.next().await;
            assert!(matches!(word.command, RunCommand::Continue));
            word.answer.send(CommandOutcome::Done).unwrap();
        };
        let (answer, ()) = tokio::join!(ear.send(RunCommand::Continue), receive);
        assert!(matches!(answer, CommandOutcome::Done));
        let leaving = async { drop(hearing) };
        let (answer, ()) = tokio::join!(ear.send(RunCommand::Continue), leaving);
        assert!(matches!(answer, CommandOutcome::NotOpen), "sent, but not received");
        assert!(matches!(ear.send(RunCommand::Continue).await, CommandOutcome::NotOpen));
        ear.expect_receiver();
        let (answer, ()) = tokio::join!(ear.send(RunCommand::Continue), async { ear.close() });
        assert!(matches!(answer, CommandOutcome::NotOpen), "the receiver was awaited and never came");
    }
}
