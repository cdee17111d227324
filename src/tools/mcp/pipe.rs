//! The stdio transport: JSON-RPC over the pipes of a program, one message per line. Lines that are no message are
//! skipped and logged once; a message that is malformed or too long becomes an error of the call that it answers.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ErrorData, JsonRpcMessage, NumberOrString, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};

use super::lines::{BoundedLine, BoundedLines};
use super::log::ServerOutputLog;
use super::program::ProgramPipes;
use super::{error_messages, json_repair};
use turnleaf_domain::limits::TOOL_LINE_BYTES;
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_platform::tasks::{self, Task};

/// Capacity of the message channel, for backpressure: each message may have the maximum size.
const WAITING: usize = 1;

/// The calls that wait for an answer of a program, and the subscribers to those answers.
#[derive(Debug, Clone, Default)]
pub struct PendingAnswers(Arc<Mutex<PendingState>>);

#[derive(Debug, Default)]
struct PendingState {
    waiting: HashSet<RequestId>,
    wanted: HashMap<RequestId, oneshot::Sender<()>>,
}

impl PendingAnswers {
    /// Returns a receiver that resolves when this request is answered, or at once if it already is.
    pub fn subscribe(&self, id: &RequestId) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let mut open = self.lock();
        if open.waiting.contains(id) {
            open.wanted.insert(id.clone(), sender);
        } else {
            let _ = sender.send(());
        }
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, PendingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark_answered(&self, id: &RequestId) {
        let mut open = self.lock();
        open.waiting.remove(id);
        if let Some(sender) = open.wanted.remove(id) {
            let _ = sender.send(());
        }
    }

    /// Finds the request that an unreadable answer belongs to: the id at one of its ends, or the only pending
    /// request.
    fn match_unreadable(&self, head: &[u8], tail: &[u8]) -> Option<RequestId> {
        let open = self.lock();
        let named = [id_in(head, true), id_in(tail, false)];
        let only = || open.waiting.iter().next().filter(|_| open.waiting.len() == 1).cloned();
        named.into_iter().flatten().find(|id| open.waiting.contains(id)).or_else(only)
    }
}

/// Returns the number after the first or the last `"id":`.
fn id_in(text: &[u8], is_first: bool) -> Option<RequestId> {
    let text = String::from_utf8_lossy(text);
    let at = if is_first { text.find("\"id\":") } else { text.rfind("\"id\":") }? + "\"id\":".len();
    let digits: String = text[at..].trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().map(NumberOrString::Number)
}

/// The transport for `rmcp`.
pub struct PipeTransport {
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    output: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    answers: PendingAnswers,
    reading: Task<()>,
}

impl PipeTransport {
    pub fn new(pipes: ProgramPipes, log: ServerOutputLog) -> (Self, PendingAnswers) {
        let answers = PendingAnswers::default();
        let (sender, output) = mpsc::channel(WAITING);
        let reading = tasks::spawn(read(pipes.output, sender, answers.clone(), log));
        let input = Arc::new(tokio::sync::Mutex::new(Some(pipes.input)));
        (Self { input, output, answers: answers.clone(), reading }, answers)
    }
}

impl Drop for PipeTransport {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Transport<RoleClient> for PipeTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            self.answers.lock().waiting.insert(request.id.clone());
        }
        let input = self.input.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let Some(pipe) = input.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
            pipe.write_all(&line).await?;
            pipe.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.output.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A blocked writer holds the lock; its pipe is closed with the writer.
        if let Ok(mut input) = self.input.try_lock() {
            input.take();
        }
        Ok(())
    }
}

async fn read(
    output: ChildStdout,
    sender: mpsc::Sender<RxJsonRpcMessage<RoleClient>>,
    answers: PendingAnswers,
    log: ServerOutputLog,
) {
    let mut lines = BoundedLines::new(BufReader::with_capacity(64 << 10, output), TOOL_LINE_BYTES);
    let mut is_noted = false;
    while let Ok(Some(line)) = lines.next().await {
        let message = match line {
            BoundedLine::Whole(line) => parse_message(&line, &answers),
            BoundedLine::TooLong { head, tail } => {
                log.add(&format!("(a message larger than {} was dropped)", ByteSize::from_usize(TOOL_LINE_BYTES)));
                let words = error_messages::answer_too_large().to_string();
                answers.match_unreadable(&head, &tail).map(|id| unreadable_answer(id, words))
            }
        };
        let Some(message) = message else {
            if !std::mem::replace(&mut is_noted, true) {
                log.add("(standard output has lines that are not messages; they are ignored)");
            }
            continue;
        };
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            answers.mark_answered(id);
        }
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

fn parse_message(line: &[u8], answers: &PendingAnswers) -> Option<RxJsonRpcMessage<RoleClient>> {
    if let Ok(message) = json_repair::parse(line) {
        return Some(message);
    }
    let text = String::from_utf8_lossy(line);
    let text = json_repair::strip_mark(&text);
    if !text.starts_with('{') || !text.contains("\"jsonrpc\"") {
        return None;
    }
    let named = [id_in(line, true), id_in(line, false)];
    let id = named.into_iter().flatten().find(|id| answers.lock().waiting.contains(id))?;
    Some(unreadable_answer(id, "the response could not be read: it is not a valid message".into()))
}

fn unreadable_answer(id: RequestId, words: String) -> RxJsonRpcMessage<RoleClient> {
    JsonRpcMessage::error(ErrorData::internal_error(words, None), Some(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting_for(ids: &[i64]) -> PendingAnswers {
        let answers = PendingAnswers::default();
        answers.lock().waiting.extend(ids.iter().map(|id| NumberOrString::Number(*id)));
        answers
    }

    #[test]
    fn unreadable_answer_finds_its_call() {
        let table: [(&[i64], &str, &str, Option<i64>); 6] = [
            (&[3, 4], r#"{"jsonrpc":"2.0","id":3,"result":{"content":"#, "x\"}]}}", Some(3)),
            (&[3, 4], r#"{"result":{"content":[{"text":"xx"#, r#"x"}]},"jsonrpc":"2.0","id":4}"#, Some(4)),
            (&[3, 4], r#"{"result":{"x":{"id":9,"y":"#, r#""id": 3 }"#, Some(3)),
            (&[3, 4], "xxxx", "xxxx", None),
            (&[3], "xxxx", "xxxx", Some(3)),
            (&[], r#"{"id":3"#, "", None),
        ];
        for (ids, head, tail, meant) in table {
            let found = waiting_for(ids).match_unreadable(head.as_bytes(), tail.as_bytes());
            assert_eq!(found, meant.map(NumberOrString::Number), "{head} {tail}");
        }
    }

    #[test]
    fn line_is_message_call_error_or_nothing() {
        let answers = waiting_for(&[3]);
        let read = |line: &[u8]| parse_message(line, &answers);
        let broken = br#"{"jsonrpc":"2.0","id":3,"result":{"content":[}}"#;
        assert!(matches!(read(broken), Some(JsonRpcMessage::Error(_))));
        let deep = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{}}}"#, "[".repeat(4000) + &"]".repeat(4000));
        assert!(matches!(read(deep.as_bytes()), Some(JsonRpcMessage::Response(_))));
        let marked = b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\"}]}}\r";
        assert!(matches!(read(marked), Some(JsonRpcMessage::Response(_))));
        let invalid =
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}}";
        assert!(matches!(read(invalid), Some(JsonRpcMessage::Response(_))));
        for noise in ["Server listening...", "", "[1,2]", "{}", r#"{"level":"info"}"#, "null"] {
            assert!(read(noise.as_bytes()).is_none(), "{noise}");
        }
    }

    #[tokio::test]
    async fn subscriber_is_notified_of_answer() {
        let answers = waiting_for(&[1, 2]);
        let mut answered = answers.subscribe(&NumberOrString::Number(1));
        assert!(answered.try_recv().is_err());
        answers.mark_answered(&NumberOrString::Number(1));
        assert!(answered.await.is_ok());
        assert!(answers.subscribe(&NumberOrString::Number(1)).await.is_ok(), "it is over already");
    }
}
