//! A calculator with a deadline. It is deterministic: it has no clock, no randomness and no access to the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::result::{CallOutcome, CallResult, text_result};
use turnleaf_domain::limits;

/// Maximum nesting of brackets; the parser recurses into each.
const NESTING: usize = 100;
/// Stack size of the evaluating thread, because the parser recurses.
const STACK_BYTES: usize = 64 << 20;

struct Deadline {
    at: Instant,
    is_given_up: Arc<AtomicBool>,
}

impl fend_core::Interrupt for Deadline {
    fn should_interrupt(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed) || Instant::now() >= self.at
    }
}

/// Stops the evaluation when the call is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Evaluates an expression; the result is its value or the reason why it has none.
pub async fn calculate(expression: String) -> CallResult {
    if expression.chars().count() > limits::CALCULATOR_CHARS {
        return text_result(
            CallOutcome::Failed,
            &format!("The expression is longer than {} characters.", limits::CALCULATOR_CHARS),
        );
    }
    if nesting(&expression) > NESTING {
        return text_result(CallOutcome::Failed, "The expression has too many nested brackets.");
    }
    let give_up = CancelOnDrop(Arc::default());
    let deadline = Deadline { at: Instant::now() + limits::CALCULATOR_TIME, is_given_up: give_up.0.clone() };
    let (sender, receiver) = oneshot::channel();
    // Evaluation runs on its own thread, because the recursion depth depends on the expression.
    let work = move || drop(sender.send(evaluate(&expression, &deadline)));
    let begun = std::thread::Builder::new().name("calculator".into()).stack_size(STACK_BYTES).spawn(work);
    if begun.is_err() {
        return text_result(CallOutcome::Unavailable, "The calculator could not start.");
    }
    match receiver.await {
        Ok(Ok(value)) => text_result(CallOutcome::Done, &value),
        Ok(Err(Fault::TooLong)) => text_result(CallOutcome::TimedOut, "The calculation took too long."),
        Ok(Err(Fault::Wrong(reason))) => text_result(CallOutcome::Failed, &reason),
        Err(_) => text_result(CallOutcome::Failed, "The expression could not be calculated."),
    }
}

enum Fault {
    TooLong,
    Wrong(String),
}

fn evaluate(expression: &str, deadline: &Deadline) -> Result<String, Fault> {
    use fend_core::Interrupt;
    // A fresh context has no random source and no clock, and keeps no variables between calls.
    let mut context = fend_core::Context::new();
    match fend_core::evaluate_with_interrupt(expression, &mut context, deadline) {
        Ok(result) if result.output_is_empty() => Err(Fault::Wrong("The expression has no value.".into())),
        Ok(result) => Ok(result.get_main_result().to_owned()),
        Err(_) if deadline.should_interrupt() => Err(Fault::TooLong),
        Err(reason) => Err(Fault::Wrong(reason)),
    }
}

fn nesting(expression: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for c in expression.chars() {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}
