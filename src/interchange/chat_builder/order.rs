//! Which messages become turns, and in which order: along each path first, so that places rise on every path
//! (domain.md I5), within the bounds of a chat.

use std::collections::HashMap;

use crate::conversation::ImportedMessage;
use crate::domain::limits;
use crate::domain::turn::Role;

/// The messages that are kept.
#[derive(Debug, Default)]
pub(super) struct KeptMessages {
    /// In the order of their places.
    pub order: Vec<usize>,
    parents: HashMap<usize, Option<usize>>,
    children: HashMap<Option<usize>, Vec<usize>>,
    /// The end that was shown last.
    pub shown: Option<usize>,
}

impl KeptMessages {
    pub fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(&at).copied().flatten()
    }

    /// What hangs on a message, or stands at the root, in the order of their making.
    pub fn children(&self, at: Option<usize>) -> &[usize] {
        self.children.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// Lets go of messages, and of what hangs on them, which goes too.
    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) {
        self.order.retain(|at| stays(*at));
        self.parents.retain(|at, _| stays(*at));
        self.children.retain(|at, _| at.is_none_or(&stays));
        self.children.values_mut().for_each(|children| children.retain(|at| stays(*at)));
        self.shown = self.shown.filter(|at| stays(*at));
    }

    /// The first reply to a message.
    pub fn first_reply(&self, question: usize, messages: &[ImportedMessage]) -> Option<usize> {
        self.children(Some(question)).iter().copied().find(|at| messages[*at].role == Role::Assistant)
    }
}

/// Takes what fits. `left_out` is told of the first message of each part that does not.
pub(super) fn select_messages(
    messages: &[ImportedMessage],
    current: Option<usize>,
    left_out: &mut dyn FnMut(usize, &str),
) -> KeptMessages {
    let mut of: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        of.entry(message.parent.filter(|parent| *parent < at)).or_default().push(at);
    }
    let most = usize::try_from(limits::SIBLINGS).unwrap_or(usize::MAX);
    let longest = usize::try_from(limits::TURNS_PER_CHAT).unwrap_or(usize::MAX);
    let mut kept = KeptMessages::default();
    // Along a path, then its siblings: an own stack, because a path may be as long as a chat.
    let mut ahead: Vec<usize> = of.get(&None).map(|roots| take_first(roots, most, left_out)).unwrap_or_default();
    ahead.reverse();
    while let Some(at) = ahead.pop() {
        if kept.order.len() == longest {
            left_out(at, "the chat is longer than Turnleaf keeps: this message and what follows it are left out");
            break;
        }
        let parent = messages[at].parent.filter(|parent| *parent < at);
        kept.order.push(at);
        kept.parents.insert(at, parent);
        kept.children.entry(parent).or_default().push(at);
        if let Some(children) = of.get(&Some(at)) {
            ahead.extend(take_first(children, most, left_out).into_iter().rev());
        }
    }
    kept.shown = current.filter(|at| kept.parents.contains_key(at));
    kept
}

fn take_first(siblings: &[usize], most: usize, left_out: &mut dyn FnMut(usize, &str)) -> Vec<usize> {
    for &at in siblings.iter().skip(most) {
        left_out(at, "there are more versions than Turnleaf keeps: this one and what follows it are left out");
    }
    siblings.iter().copied().take(most).collect()
}
