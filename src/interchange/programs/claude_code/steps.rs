//! Finds the parents of messages in the chain of lines.
//!
//! The chain holds lines that are not shown, and it forks where nothing was edited: each result stands below the line
//! of its own call, so that of several calls of one response all but one end the chain. A response with its results is
//! one step here, in the order of the file, and what follows any line of the step follows its last one.

use std::collections::HashMap;

/// The parents of the messages so far.
#[derive(Default)]
pub(super) struct Steps {
    /// The message that stands for each line: itself, or the nearest one above it.
    shown: HashMap<String, Option<String>>,
    step_of: HashMap<String, usize>,
    steps: Vec<Step>,
    by_reply: HashMap<String, usize>,
    by_call: HashMap<String, usize>,
}

struct Step {
    /// The message above the first one.
    above: Option<String>,
    last: String,
}

/// The step that a message belongs to.
pub(super) enum StepKey<'k> {
    /// A line of the response with this id.
    Reply(Option<&'k str>),
    /// Results of these calls.
    Results(&'k [String]),
    /// None: something that the user or the program wrote.
    Alone,
}

impl Steps {
    /// Returns the message that stands for a line. A line that the session does not have stands for itself, so that
    /// it is reported as missing.
    pub(super) fn message_at(&self, line: Option<&str>) -> Option<String> {
        let line = line?;
        self.shown.get(line).map_or_else(|| Some(line.to_owned()), Clone::clone)
    }

    /// Passes a line that is not shown.
    pub(super) fn pass(&mut self, id: &str, parent: Option<&str>) {
        let above = self.message_at(parent);
        self.shown.insert(id.to_owned(), above);
    }

    /// Adds a message; returns its parent.
    pub(super) fn place(&mut self, id: &str, parent: Option<&str>, key: &StepKey<'_>) -> Option<String> {
        let above = self.message_at(parent);
        let begun = match key {
            StepKey::Reply(reply) => reply.and_then(|reply| self.by_reply.get(reply).copied()),
            StepKey::Results(calls) => calls.iter().find_map(|call| self.by_call.get(call).copied()),
            StepKey::Alone => None,
        };
        let begun = begun.filter(|step| self.belongs(above.as_deref(), *step));
        let own_parent = match begun {
            Some(step) => Some(self.steps[step].last.clone()),
            None => above.map(|above| self.end_of_step(above)),
        };
        let step = begun.or_else(|| match key {
            StepKey::Reply(_) => {
                self.steps.push(Step { above: own_parent.clone(), last: id.to_owned() });
                Some(self.steps.len() - 1)
            }
            StepKey::Results(_) | StepKey::Alone => None,
        });
        if let Some(step) = step {
            self.steps[step].last = id.to_owned();
            self.step_of.insert(id.to_owned(), step);
            if let StepKey::Reply(Some(reply)) = key {
                self.by_reply.insert((*reply).to_owned(), step);
            }
        }
        self.shown.insert(id.to_owned(), Some(id.to_owned()));
        own_parent
    }

    /// Records a call of a message, so that its result is found.
    pub(super) fn add_call(&mut self, message: &str, call: &str) {
        if let Some(step) = self.step_of.get(message) {
            self.by_call.insert(call.to_owned(), *step);
        }
    }

    /// Lets another message stand for a line, because the line was split in two.
    pub(super) fn show_as(&mut self, line: &str, message: &str) {
        self.shown.insert(line.to_owned(), Some(message.to_owned()));
    }

    /// Returns whether a message below another one belongs to a step: the other one is in it, or is what the step
    /// itself is below.
    fn belongs(&self, above: Option<&str>, step: usize) -> bool {
        match above {
            Some(above) => self.step_of.get(above) == Some(&step) || self.steps[step].above.as_deref() == Some(above),
            None => self.steps[step].above.is_none(),
        }
    }

    fn end_of_step(&self, message: String) -> String {
        self.step_of.get(&message).map_or(message, |step| self.steps[*step].last.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(steps: &mut Steps, id: &str, parent: &str, key: StepKey<'_>) -> String {
        steps.place(id, Some(parent).filter(|parent| !parent.is_empty()), &key).unwrap_or_default()
    }

    #[test]
    fn parallel_calls_and_their_results_are_one_chain() {
        let mut steps = Steps::default();
        let reply = || StepKey::Reply(Some("msg"));
        assert_eq!(place(&mut steps, "prompt", "", StepKey::Alone), "");
        steps.pass("listing", Some("prompt"));
        assert_eq!(place(&mut steps, "call 1", "listing", reply()), "prompt");
        steps.add_call("call 1", "t1");
        assert_eq!(place(&mut steps, "call 2", "call 1", reply()), "call 1");
        steps.add_call("call 2", "t2");
        assert_eq!(place(&mut steps, "result 1", "call 1", StepKey::Results(&["t1".to_owned()])), "call 2");
        steps.pass("hook", Some("result 1"));
        assert_eq!(place(&mut steps, "result 2", "call 2", StepKey::Results(&["t2".to_owned()])), "result 1");
        // Whichever line the next response names, it follows the last result.
        for (above, id) in [("hook", "a"), ("result 1", "b"), ("result 2", "c"), ("call 1", "d")] {
            assert_eq!(place(&mut steps, id, above, StepKey::Reply(Some(id))), "result 2", "{above}");
        }
    }

    #[test]
    fn edited_prompt_forks_where_it_stood() {
        let mut steps = Steps::default();
        place(&mut steps, "p1", "", StepKey::Alone);
        place(&mut steps, "r1", "p1", StepKey::Reply(Some("m1")));
        place(&mut steps, "p2", "r1", StepKey::Alone);
        place(&mut steps, "r2", "p2", StepKey::Reply(Some("m2")));
        assert_eq!(place(&mut steps, "p2 again", "r1", StepKey::Alone), "r1");
        assert_eq!(place(&mut steps, "r3", "p2", StepKey::Reply(Some("m3"))), "p2", "another response to the prompt");
    }

    #[test]
    fn copied_response_on_other_branch_is_step_of_its_own() {
        let mut steps = Steps::default();
        place(&mut steps, "p", "", StepKey::Alone);
        place(&mut steps, "r", "p", StepKey::Reply(Some("m")));
        place(&mut steps, "q", "", StepKey::Alone);
        assert_eq!(place(&mut steps, "copy", "q", StepKey::Reply(Some("m"))), "q");
        assert_eq!(place(&mut steps, "copy 2", "copy", StepKey::Reply(Some("m"))), "copy");
    }

    #[test]
    fn missing_line_keeps_its_name() {
        let mut steps = Steps::default();
        steps.pass("link", Some("gone"));
        assert_eq!(place(&mut steps, "p", "link", StepKey::Alone), "gone");
        assert_eq!(place(&mut steps, "r", "nowhere", StepKey::Results(&[])), "nowhere");
    }
}
