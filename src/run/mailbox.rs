//! What a person says to a reply while it works with tools or waits: what becomes of a call, that one is to stop, that it
//! may go on. A run hears only as long as it has such a step; to everything else the answer is that nothing was asked.

use tokio::sync::{mpsc, oneshot, watch};

use turnleaf_domain::approval::ApprovalDecision;
use turnleaf_domain::{BlockId, Failure};

/// What is said.
#[derive(Debug, Clone)]
pub enum RunCommand {
    Decide {
        block: BlockId,
        /// Of what was asked ([`Ask::hash`](turnleaf_domain::approval::Ask)).
        hash: String,
        decision: ApprovalDecision,
        /// Of a refusal, for the model.
        reason: Option<String>,
    },
    StopCall {
        block: BlockId,
    },
    Continue,
}

/// What became of it. Whatever changed is stored when this comes.
#[derive(Debug, Clone)]
pub enum CommandOutcome {
    Done,
    /// Nothing of the sort is asked, or not any more.
    NotAsked,
    /// Something else is asked now.
    Changed,
    Failed(Failure),
}

/// Something said, with the way back.
#[derive(Debug)]
pub struct CommandEnvelope {
    pub command: RunCommand,
    pub answer: oneshot::Sender<CommandOutcome>,
}

/// Whether anybody hears.
#[derive(Debug, Clone, Default)]
enum MailboxState {
    #[default]
    Closed,
    /// It will: the run is about to take up its turn where it stands.
    Expected,
    Open(mpsc::UnboundedSender<CommandEnvelope>),
}

/// Where words arrive while somebody hears.
#[derive(Debug)]
pub struct RunMailbox(watch::Sender<MailboxState>);

impl Default for RunMailbox {
    fn default() -> Self {
        Self(watch::Sender::new(MailboxState::Closed))
    }
}

/// Hears until it is dropped.
pub struct CommandReceiver<'a> {
    mailbox: &'a RunMailbox,
    commands: mpsc::UnboundedReceiver<CommandEnvelope>,
}

impl RunMailbox {
    /// Says something to the run, and waits until it has taken it in.
    pub async fn send(&self, said: RunCommand) -> CommandOutcome {
        let mut hears = self.0.subscribe();
        let Ok(hears) =
            hears.wait_for(|hears| !matches!(hears, MailboxState::Expected)).await.map(|hears| hears.clone())
        else {
            return CommandOutcome::NotAsked;
        };
        let MailboxState::Open(words) = hears else { return CommandOutcome::NotAsked };
        let (answer, heard) = oneshot::channel();
        if words.send(CommandEnvelope { command: said, answer }).is_err() {
            return CommandOutcome::NotAsked;
        }
        // A run that stopped hearing drops what it has not heard.
        heard.await.unwrap_or(CommandOutcome::NotAsked)
    }

    /// Words wait until somebody hears, or nobody will.
    pub fn expect_receiver(&self) {
        self.0.send_replace(MailboxState::Expected);
    }

    /// Nobody hears.
    pub fn close(&self) {
        self.0.send_replace(MailboxState::Closed);
    }

    /// Begins to hear.
    pub fn listen(&self) -> CommandReceiver<'_> {
        let (sender, words) = mpsc::unbounded_channel();
        self.0.send_replace(MailboxState::Open(sender));
        CommandReceiver { mailbox: self, commands: words }
    }
}

impl CommandReceiver<'_> {
    /// The next word.
    pub async fn next(&mut self) -> CommandEnvelope {
        match self.commands.recv().await {
            Some(word) => word,
            // The ear has a sender as long as this hears.
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
        assert!(matches!(ear.send(RunCommand::Continue).await, CommandOutcome::NotAsked));
        let mut hearing = ear.listen();
        let heard = async {
            let word = hearing.next().await;
            assert!(matches!(word.command, RunCommand::Continue));
            word.answer.send(CommandOutcome::Done).unwrap();
        };
        let (answer, ()) = tokio::join!(ear.send(RunCommand::Continue), heard);
        assert!(matches!(answer, CommandOutcome::Done));
        let leaving = async { drop(hearing) };
        let (answer, ()) = tokio::join!(ear.send(RunCommand::Continue), leaving);
        assert!(matches!(answer, CommandOutcome::NotAsked), "said, but not heard");
        assert!(matches!(ear.send(RunCommand::Continue).await, CommandOutcome::NotAsked));
        ear.expect_receiver();
        let (answer, ()) = tokio::join!(ear.send(RunCommand::Continue), async { ear.close() });
        assert!(matches!(answer, CommandOutcome::NotAsked), "it was waited for, and did not come");
    }
}
