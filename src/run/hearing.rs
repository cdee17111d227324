//! What a person says to a reply while it works with tools or waits: what becomes of a call, that one is to stop, that it
//! may go on. A run hears only as long as it has such a step; to everything else the answer is that nothing was asked.

use tokio::sync::{mpsc, oneshot, watch};

use turnleaf_domain::approval::Decision;
use turnleaf_domain::{BlockId, Failure};

/// What is said.
#[derive(Debug, Clone)]
pub enum Said {
    Decide {
        block: BlockId,
        /// Of what was asked ([`Ask::hash`](turnleaf_domain::approval::Ask)).
        hash: String,
        decision: Decision,
        /// Of a refusal, for the model.
        reason: Option<String>,
    },
    StopCall {
        block: BlockId,
    },
    GoOn,
}

/// What became of it. Whatever changed is stored when this comes.
#[derive(Debug, Clone)]
pub enum Heard {
    Done,
    /// Nothing of the sort is asked, or not any more.
    NotAsked,
    /// Something else is asked now.
    Changed,
    Failed(Failure),
}

/// Something said, with the way back.
#[derive(Debug)]
pub struct Word {
    pub said: Said,
    pub answer: oneshot::Sender<Heard>,
}

/// Whether anybody hears.
#[derive(Debug, Clone, Default)]
enum Hears {
    #[default]
    Not,
    /// It will: the run is about to take up its turn where it stands.
    Soon,
    Now(mpsc::UnboundedSender<Word>),
}

/// Where words arrive while somebody hears.
#[derive(Debug)]
pub struct Ear(watch::Sender<Hears>);

impl Default for Ear {
    fn default() -> Self {
        Self(watch::Sender::new(Hears::Not))
    }
}

/// Hears until it is dropped.
pub struct Hearing<'a> {
    ear: &'a Ear,
    words: mpsc::UnboundedReceiver<Word>,
}

impl Ear {
    /// Says something to the run, and waits until it has taken it in.
    pub async fn say(&self, said: Said) -> Heard {
        let mut hears = self.0.subscribe();
        let Ok(hears) = hears.wait_for(|hears| !matches!(hears, Hears::Soon)).await.map(|hears| hears.clone()) else {
            return Heard::NotAsked;
        };
        let Hears::Now(words) = hears else { return Heard::NotAsked };
        let (answer, heard) = oneshot::channel();
        if words.send(Word { said, answer }).is_err() {
            return Heard::NotAsked;
        }
        // A run that stopped hearing drops what it has not heard.
        heard.await.unwrap_or(Heard::NotAsked)
    }

    /// Words wait until somebody hears, or nobody will.
    pub fn expect(&self) {
        self.0.send_replace(Hears::Soon);
    }

    /// Nobody hears.
    pub fn close(&self) {
        self.0.send_replace(Hears::Not);
    }

    /// Begins to hear.
    pub fn listen(&self) -> Hearing<'_> {
        let (sender, words) = mpsc::unbounded_channel();
        self.0.send_replace(Hears::Now(sender));
        Hearing { ear: self, words }
    }
}

impl Hearing<'_> {
    /// The next word.
    pub async fn next(&mut self) -> Word {
        match self.words.recv().await {
            Some(word) => word,
            // The ear has a sender as long as this hears.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Hearing<'_> {
    fn drop(&mut self) {
        self.ear.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn words_are_answered_by_whoever_hears_and_by_nobody_else() {
        let ear = Ear::default();
        assert!(matches!(ear.say(Said::GoOn).await, Heard::NotAsked));
        let mut hearing = ear.listen();
        let heard = async {
            let word = hearing.next().await;
            assert!(matches!(word.said, Said::GoOn));
            word.answer.send(Heard::Done).unwrap();
        };
        let (answer, ()) = tokio::join!(ear.say(Said::GoOn), heard);
        assert!(matches!(answer, Heard::Done));
        let leaving = async { drop(hearing) };
        let (answer, ()) = tokio::join!(ear.say(Said::GoOn), leaving);
        assert!(matches!(answer, Heard::NotAsked), "said, but not heard");
        assert!(matches!(ear.say(Said::GoOn).await, Heard::NotAsked));
        ear.expect();
        let (answer, ()) = tokio::join!(ear.say(Said::GoOn), async { ear.close() });
        assert!(matches!(answer, Heard::NotAsked), "it was waited for, and did not come");
    }
}
