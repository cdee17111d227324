//! Questions of tools to the user during a call: the channel between a call and the run that shows them, and the clock
//! that does not count the time in which a question is open.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use turnleaf_domain::tools::elicitation::{ElicitationAnswer, ElicitationRequest};
use turnleaf_domain::{ElicitationId, limits};
use turnleaf_platform::ids;

/// A question with the channel for its answer. Dropping the channel cancels the question.
#[derive(Debug)]
pub struct ToolQuestion {
    pub id: ElicitationId,
    pub request: ElicitationRequest,
    pub answer: oneshot::Sender<ElicitationAnswer>,
}

/// News of a call about its questions.
#[derive(Debug)]
pub enum QuestionEvent {
    Asked(ToolQuestion),
    /// The server took the question back.
    Withdrawn(ElicitationId),
    /// The server reported that the user finished on the page of the question with this id of the server.
    Completed(String),
    /// The user has to open the page of this request before the call can run. The call ends, so nothing waits for it.
    Required(ElicitationRequest),
}

/// The run's side of the questions of one call.
#[derive(Debug)]
pub struct CallQuestions {
    pub events: mpsc::UnboundedReceiver<QuestionEvent>,
    /// The number of open questions.
    pub open: watch::Receiver<usize>,
}

/// The tool's side of the questions of one call. Cheap to clone.
#[derive(Debug, Clone)]
pub struct QuestionSender(Arc<SenderState>);

#[derive(Debug)]
struct SenderState {
    events: mpsc::UnboundedSender<QuestionEvent>,
    open: watch::Sender<usize>,
    asked: AtomicUsize,
    /// The open questions whose end the server can report, with its ids of them.
    pages: Mutex<Vec<(ElicitationId, String)>>,
}

impl SenderState {
    fn lock_pages(&self) -> MutexGuard<'_, Vec<(ElicitationId, String)>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates both sides for one call.
pub fn question_channel() -> (QuestionSender, CallQuestions) {
    let (sender, events) = mpsc::unbounded_channel();
    let (open, open_now) = watch::channel(0);
    let state = SenderState { events: sender, open, asked: AtomicUsize::new(0), pages: Mutex::default() };
    (QuestionSender(Arc::new(state)), CallQuestions { events, open: open_now })
}

impl QuestionSender {
    /// Asks the user and waits for the answer. Dropping the future withdraws the question. A question beyond the limit
    /// of a call, and one that nobody receives, is cancelled.
    pub async fn ask(&self, request: ElicitationRequest) -> ElicitationAnswer {
        if self.0.asked.fetch_add(1, Ordering::Relaxed) >= limits::ELICITATIONS_PER_CALL {
            return ElicitationAnswer::Cancel;
        }
        let (answer, answered) = oneshot::channel();
        let id = ids::mint();
        let page = request.page.as_ref().map(|page| page.elicitation_id.clone()).filter(|id| !id.is_empty());
        let mut open = QuestionGuard::new(self.0.clone(), id, page);
        if self.0.events.send(QuestionEvent::Asked(ToolQuestion { id, request, answer })).is_err() {
            return ElicitationAnswer::Cancel;
        }
        let answer = answered.await.unwrap_or(ElicitationAnswer::Cancel);
        open.is_answered = true;
        answer
    }

    /// Reports that the user finished on the page of the open question with this id of the server. Reports about other
    /// questions, and later ones about the same, are ignored: a server may send any number of them.
    pub fn complete(&self, elicitation_id: &str) {
        let mut pages = self.0.lock_pages();
        let Some(at) = pages.iter().position(|(_, known)| known == elicitation_id) else { return };
        pages.swap_remove(at);
        // The run may have ended the call.
        let _ = self.0.events.send(QuestionEvent::Completed(elicitation_id.to_owned()));
    }

    /// Tells the user about a page that they have to open before the call can run.
    pub fn require(&self, request: ElicitationRequest) {
        // The run may have ended the call.
        let _ = self.0.events.send(QuestionEvent::Required(request));
    }

    /// Subscribes to the number of open questions.
    pub fn subscribe_open(&self) -> watch::Receiver<usize> {
        self.0.open.subscribe()
    }
}

/// Counts a question as open until it is dropped, and then withdraws it if it has no answer.
struct QuestionGuard {
    sender: Arc<SenderState>,
    id: ElicitationId,
    is_answered: bool,
}

impl QuestionGuard {
    fn new(sender: Arc<SenderState>, id: ElicitationId, page: Option<String>) -> Self {
        sender.lock_pages().extend(page.map(|page| (id, page)));
        sender.open.send_modify(|open| *open += 1);
        Self { sender, id, is_answered: false }
    }
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.sender.lock_pages().retain(|(known, _)| *known != self.id);
        self.sender.open.send_modify(|open| *open = open.saturating_sub(1));
        if !self.is_answered {
            let _ = self.sender.events.send(QuestionEvent::Withdrawn(self.id));
        }
    }
}

/// Waits for work within a limit. The time in which a question is open does not count. Returns `None` when the limit is
/// exceeded.
pub async fn run_within<T>(
    limit: Duration,
    mut open: watch::Receiver<usize>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(work);
    let mut left = limit;
    loop {
        let is_asking = *open.borrow_and_update() > 0;
        let since = Instant::now();
        tokio::select! {
            // `biased`: work that is done wins over its limit.
            biased;
            done = &mut work => return Some(done),
            () = sleep(left), if !is_asking => return None,
            changed = open.changed() => {
                if !is_asking {
                    left = left.saturating_sub(since.elapsed());
                }
                if changed.is_err() {
                    // Nothing can be asked any more.
                    return timeout(left, work).await.ok();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use turnleaf_domain::tools::elicitation::ElicitationPage;

    use super::*;

    fn request() -> ElicitationRequest {
        ElicitationRequest { server: "Forge".into(), message: "Which?".into(), fields: Vec::new(), page: None }
    }

    #[tokio::test(start_paused = true)]
    async fn limit_does_not_count_time_of_open_question() {
        let (sender, mut questions) = question_channel();
        let open = questions.open.clone();
        let work = async move {
            sleep(Duration::from_secs(6)).await;
            sender.ask(request()).await;
            sleep(Duration::from_secs(6)).await;
            "too late"
        };
        let answering = async move {
            let Some(QuestionEvent::Asked(question)) = questions.events.recv().await else { panic!("it asks") };
            sleep(Duration::from_secs(3600)).await;
            question.answer.send(ElicitationAnswer::Decline).unwrap();
            questions
        };
        let began = Instant::now();
        let (done, _questions) = tokio::join!(run_within(Duration::from_secs(10), open, work), answering);
        assert_eq!((done, began.elapsed().as_secs()), (None, 3610));
    }

    #[tokio::test]
    async fn dropped_question_is_withdrawn_and_dropped_answer_cancels() {
        let (sender, mut questions) = question_channel();
        let asking = sender.ask(request());
        {
            tokio::pin!(asking);
            assert!(futures::poll!(&mut asking).is_pending());
        }
        let Some(QuestionEvent::Asked(question)) = questions.events.recv().await else { panic!("it asks") };
        assert!(matches!(questions.events.recv().await, Some(QuestionEvent::Withdrawn(id)) if id == question.id));
        assert_eq!(*questions.open.borrow(), 0);
        let leaving = async {
            let Some(QuestionEvent::Asked(question)) = questions.events.recv().await else { panic!("it asks") };
            drop(question);
        };
        let (answer, ()) = tokio::join!(sender.ask(request()), leaving);
        assert_eq!(answer, ElicitationAnswer::Cancel);
    }

    #[tokio::test]
    async fn end_of_page_is_reported_once_and_only_while_its_question_is_open() {
        let (sender, mut questions) = question_channel();
        sender.complete("e-1");
        let page = ElicitationPage {
            url: "https://a.example/".into(),
            host: "a.example".into(),
            elicitation_id: "e-1".into(),
        };
        let mut asking = Box::pin(sender.ask(ElicitationRequest { page: Some(page), ..request() }));
        assert!(futures::poll!(&mut asking).is_pending());
        for id in ["e-2", "", "e-1", "e-1"] {
            sender.complete(id);
        }
        assert!(matches!(questions.events.try_recv(), Ok(QuestionEvent::Asked(_))));
        assert!(matches!(questions.events.try_recv(), Ok(QuestionEvent::Completed(id)) if id == "e-1"));
        assert!(questions.events.try_recv().is_err());
        drop(asking);
        sender.complete("e-1");
        assert!(matches!(questions.events.try_recv(), Ok(QuestionEvent::Withdrawn(_))));
        assert!(questions.events.try_recv().is_err());
    }

    #[tokio::test]
    async fn questions_beyond_limit_of_call_are_cancelled() {
        let (sender, mut questions) = question_channel();
        for _ in 0..limits::ELICITATIONS_PER_CALL {
            let answering = async {
                let Some(QuestionEvent::Asked(question)) = questions.events.recv().await else { panic!("it asks") };
                question.answer.send(ElicitationAnswer::Decline).unwrap();
            };
            assert_eq!(tokio::join!(sender.ask(request()), answering).0, ElicitationAnswer::Decline);
        }
        assert_eq!(sender.ask(request()).await, ElicitationAnswer::Cancel);
    }
}
