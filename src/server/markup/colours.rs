//! Colours of code: a grammar cuts it into runs of our few classes.

use std::sync::LazyLock;
use std::time::Instant;

use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::scopes::Classes;
use crate::domain::limits;
use crate::ui::markdown::{ClassName, Run};

/// All grammars. Reading them takes some milliseconds and memory, so this waits for the first block of code; each
/// grammar's patterns are compiled at its first use.
static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Names that people and models write and that no grammar calls itself.
const ALIASES: &[(&str, &str)] = &[
    ("console", "bash"),
    ("csharp", "cs"),
    ("docker", "dockerfile"),
    ("fsharp", "fs"),
    ("golang", "go"),
    ("hcl", "tf"),
    ("javascriptreact", "jsx"),
    ("json5", "json"),
    ("jsonc", "json"),
    ("make", "makefile"),
    ("node", "js"),
    ("objc", "m"),
    ("patch", "diff"),
    ("protobuf", "proto"),
    ("python3", "py"),
    ("shell", "bash"),
    ("shell-session", "bash"),
    ("svg", "xml"),
    ("terminal", "bash"),
    ("typescriptreact", "tsx"),
    ("zsh", "bash"),
];

/// The runs of a block of code. `None`: the language is unknown or has no colours, or the block is beyond the bounds.
pub fn runs(language: &str, code: &str) -> Option<Vec<Run>> {
    let start = Instant::now();
    let is_long = |line: &str| line.len() > limits::HIGHLIGHT_LINE_BYTES;
    if language.is_empty() || code.len() > limits::HIGHLIGHT_BYTES || code.split('\n').any(is_long) {
        return None;
    }
    let mut state = ParseState::new(grammar(language)?);
    let mut stack = ScopeStack::new();
    let mut classes = Classes::default();
    let mut runs = Runs::default();
    for line in code.split_inclusive('\n') {
        if start.elapsed() > limits::HIGHLIGHT_TIME {
            return None;
        }
        let mut done = 0;
        for (at, operation) in state.parse_line(line, &GRAMMARS).ok()? {
            runs.add(line.get(done..at)?, || classes.of(&stack.scopes));
            done = at;
            stack.apply(&operation).ok()?;
        }
        runs.add(&line[done..], || classes.of(&stack.scopes));
    }
    Some(runs.runs)
}

fn grammar(language: &str) -> Option<&'static SyntaxReference> {
    let name = language.to_lowercase();
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(&*name, |(_, name)| name);
    GRAMMARS.find_syntax_by_token(name).filter(|grammar| grammar.name != "Plain Text")
}

#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
}

impl Runs {
    /// Adds a piece; one that looks the same as the piece before, or is only space, joins it.
    fn add(&mut self, text: &str, class: impl FnOnce() -> ClassName) {
        let bytes = text.len();
        if bytes == 0 {
            return;
        }
        let is_space = text.trim().is_empty();
        match self.runs.last_mut() {
            Some(last) if is_space => last.bytes += bytes,
            last => {
                let class = if is_space { ClassName::Text } else { class() };
                match last.filter(|last| last.class == class) {
                    Some(last) => last.bytes += bytes,
                    None => self.runs.push(Run { class, bytes }),
                }
            }
        }
    }
}
