//! Selects the messages that become turns, within the limits of a chat, and orders them depth first, so that
//! positions rise on every path (docs/reference/domain.md I5).

use std::collections::HashMap;

use crate::conversation::ImportedMessage;
use crate::domain::limits;
use crate::domain::turns::turn::Role;

/// The selected messages.
#[derive(Debug, Default)]
pub(super) struct KeptMessages {
    /// In the order of their positions.
    pub order: Vec<usize>,
    parents: HashMap<usize, Option<usize>>,
    children: HashMap<Option<usize>, Vec<usize>>,
    /// The last displayed leaf.
    pub shown: Option<usize>,
}

impl KeptMessages {
    pub fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(&at).copied().flatten()
    }

    /// Returns the children of a message, or the roots, in the order of their creation.
    pub fn children(&self, at: Option<usize>) -> &[usize] {
        self.children.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// Drops messages; the caller drops their descendants as well.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        self.order.retain(|at| is_kept(*at));
        self.parents.retain(|at, _| is_kept(*at));
        self.children.retain(|at, _| at.is_none_or(&is_kept));
        self.children.values_mut().for_each(|children| children.retain(|at| is_kept(*at)));
        self.shown = self.shown.filter(|at| is_kept(*at));
    }

    /// Returns the first reply to a message.
    pub fn first_reply(&self, question: usize, messages: &[ImportedMessage]) -> Option<usize> {
        self.children(Some(question)).iter().copied().find(|at| messages[*at].role == Role::Assistant)
    }
}

/// Selects the messages within the limits. `left_out` receives the first message of each part above them.
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
    // An explicit stack, because a path may be as long as the chat.
    let mut ahead: Vec<usize> = of.get(&None).map(|roots| take_first(roots, most, left_out)).unwrap_or_default();
    ahead.reverse();
    while let Some(at) = ahead.pop() {
        if kept.order.len() == longest {
            left_out(at, "the chat is too long for Turnleaf: this message and those after it are skipped");
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
        left_out(at, "there are too many versions for Turnleaf: this one and those after it are skipped");
    }
    siblings.iter().copied().take(most).collect()
}
