//! Writes Markdown: paragraphs within lists and quotes, marks around words, code.

/// The separation from what is written next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Separation {
    #[default]
    None,
    /// A line break that is shown.
    HardBreak,
    Line,
    Paragraph,
}

/// A list item or a quote, which begins every line within it.
struct Container {
    /// The beginning of the first line, until it is written.
    first: Option<String>,
    rest: String,
}

/// The Markdown that is being written. Separations and opening marks are written with the text that follows them, so
/// that empty elements leave nothing behind.
#[derive(Default)]
pub(super) struct MarkdownWriter {
    out: String,
    containers: Vec<Container>,
    separation: Separation,
    has_space: bool,
    /// Opening marks that no text follows yet.
    marks: Vec<String>,
    is_line_start: bool,
}

impl MarkdownWriter {
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Begins a new paragraph.
    pub(super) fn paragraph(&mut self) {
        self.separate(Separation::Paragraph);
    }

    /// Begins a new line, for an item or a row.
    pub(super) fn line(&mut self) {
        self.separate(Separation::Line);
    }

    pub(super) fn hard_break(&mut self) {
        match self.separation {
            // Two line breaks in a row are an empty line.
            Separation::HardBreak => self.separation = Separation::Paragraph,
            _ => self.separate(Separation::HardBreak),
        }
    }

    fn separate(&mut self, separation: Separation) {
        // The first paragraph of an item follows its marker.
        let is_item_start = self.containers.last().is_some_and(|container| container.first.is_some());
        if !is_item_start {
            self.separation = self.separation.max(separation);
        }
        self.has_space = false;
    }

    /// Ends an item: the next one follows on the next line, whatever ended within this one.
    pub(super) fn end_item(&mut self) {
        self.pop_container();
        self.next_line();
    }

    /// Continues on the next line, also where a paragraph has ended.
    pub(super) fn next_line(&mut self) {
        if self.containers.last().is_none_or(|container| container.first.is_none()) {
            self.separation = Separation::Line;
        }
        self.has_space = false;
    }

    pub(super) fn push_container(&mut self, first: Option<String>, rest: &str) {
        self.containers.push(Container { first, rest: rest.to_owned() });
    }

    pub(super) fn pop_container(&mut self) {
        // An empty item is shown, too.
        if self.containers.last().is_some_and(|container| container.first.is_some()) {
            self.begin();
        }
        self.containers.pop();
    }

    /// Writes text with its white space collapsed, and with marks escaped that would format it.
    pub(super) fn text(&mut self, text: &str) {
        let words = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let is_spaced = |begin: bool| {
            let edge = if begin { text.chars().next() } else { text.chars().next_back() };
            edge.is_some_and(|c| c.is_ascii_whitespace())
        };
        self.has_space |= is_spaced(true);
        if words.is_empty() {
            return;
        }
        self.begin();
        let words: Vec<&str> = words.split_ascii_whitespace().collect();
        let escaped = escape(&words.join(" "), self.is_line_start, self.out.chars().next_back());
        self.out.push_str(&escaped);
        self.is_line_start = false;
        self.has_space = is_spaced(false);
    }

    /// Writes Markdown as it is.
    pub(super) fn raw(&mut self, markdown: &str) {
        self.begin();
        self.out.push_str(markdown);
        self.is_line_start = false;
    }

    /// Opens a mark such as `**`, which is written with the next text.
    pub(super) fn open_mark(&mut self, mark: &str) {
        self.marks.push(mark.to_owned());
    }

    /// Closes a mark; a mark without text is dropped.
    pub(super) fn close_mark(&mut self, opening: &str, closing: &str) {
        if self.marks.last().is_some_and(|mark| mark == opening) {
            self.marks.pop();
        } else {
            self.out.push_str(closing);
        }
    }

    pub(super) fn inline_code(&mut self, code: &str) {
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        if code.is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(&code) + 1);
        let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
        self.raw(&format!("{fence}{pad}{code}{pad}{fence}"));
    }

    /// Writes a code block; returns whether it was cut, because the whole Markdown reached the bound in bytes.
    pub(super) fn code_block(&mut self, language: &str, code: &str, largest: usize) -> bool {
        let fence = "`".repeat(longest_run(code).max(2) + 1);
        let code = code.strip_prefix('\n').unwrap_or(code);
        self.paragraph();
        self.raw(&format!("{fence}{language}"));
        let mut is_cut = false;
        for line in code.strip_suffix('\n').unwrap_or(code).split('\n') {
            // Each line repeats the beginnings of all lists and quotes around it.
            is_cut = self.out.len() > largest;
            if is_cut {
                break;
            }
            self.line();
            self.raw(line.trim_end_matches('\r'));
        }
        self.line();
        self.raw(&fence);
        is_cut
    }

    /// Writes everything that precedes the next text: the separation, a space, opening marks.
    fn begin(&mut self) {
        let separation = std::mem::take(&mut self.separation);
        if self.out.is_empty() {
            self.write_line_start();
        } else {
            match separation {
                Separation::None => {
                    if self.has_space && !self.is_line_start {
                        self.out.push(' ');
                    }
                }
                Separation::HardBreak => self.write_line_break("  "),
                Separation::Line => self.write_line_break(""),
                Separation::Paragraph => {
                    // The blank line stands within everything that has begun.
                    let begun = self.containers.iter().filter(|container| container.first.is_none());
                    let blank: String = begun.map(|container| container.rest.as_str()).collect();
                    self.out.push('\n');
                    self.out.push_str(blank.trim_end());
                    self.write_line_break("");
                }
            }
        }
        self.has_space = false;
        for mark in std::mem::take(&mut self.marks) {
            self.out.push_str(&mark);
        }
    }

    fn write_line_break(&mut self, end: &str) {
        self.out.push_str(end);
        self.out.push('\n');
        self.write_line_start();
    }

    fn write_line_start(&mut self) {
        for container in &mut self.containers {
            match container.first.take() {
                Some(first) => self.out.push_str(&first),
                None => self.out.push_str(&container.rest),
            }
        }
        self.is_line_start = true;
    }

    /// Returns the text without the separation that nothing follows.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Escapes what Markdown would read as formatting. Backslashes and formulas stay, because answers hold LaTeX.
fn escape(text: &str, is_line_start: bool, before: Option<char>) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut previous = before.unwrap_or(' ');
    let mut rest = text;
    if is_line_start {
        let length = block_mark_length(text);
        if length > 0 {
            escaped.push_str(&text[..length - 1]);
            escaped.push('\\');
            escaped.push_str(&text[length - 1..length]);
            (previous, rest) = (' ', &text[length..]);
        }
    }
    while let Some(c) = rest.chars().next() {
        if c == '$'
            && let Some(length) = formula_length(rest)
        {
            escaped.push_str(&rest[..length]);
            (previous, rest) = ('$', &rest[length..]);
            continue;
        }
        let after = &rest[c.len_utf8()..];
        let next = after.chars().next().unwrap_or(' ');
        let is_mark = match c {
            '`' => true,
            '*' => !(previous.is_whitespace() && next.is_whitespace()),
            '_' => !(previous.is_alphanumeric() && next.is_alphanumeric()),
            '~' => next == '~',
            ']' => next == '(',
            '<' => next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'),
            '&' => is_entity(after),
            _ => false,
        };
        if is_mark {
            escaped.push('\\');
        }
        escaped.push(c);
        (previous, rest) = (c, after);
    }
    escaped
}

/// The length of a formula, `$…$` or `$$…$$`, at the beginning of a text that begins with `$`.
fn formula_length(text: &str) -> Option<usize> {
    let mark = if text.starts_with("$$") { "$$" } else { "$" };
    let inside = &text[mark.len()..];
    if mark == "$" && inside.starts_with(char::is_whitespace) {
        return None;
    }
    let bytes = inside.as_bytes();
    let near = &bytes[..bytes.len().min(FORMULA_BYTES)];
    let end = memchr::memmem::find(near, mark.as_bytes()).filter(|end| *end > 0)?;
    Some(mark.len() + end + mark.len())
}

/// The length of a formula in bytes, beyond which a dollar sign is one.
const FORMULA_BYTES: usize = 2_000;

/// The length of a mark at the beginning of a line that would begin a heading, a quote or a list: up to and including
/// the character that is escaped.
fn block_mark_length(text: &str) -> usize {
    let is_over = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits) {
        Some(b'.' | b')') if (1..=9).contains(&digits) && is_over(&text[digits + 1..]) => digits + 1,
        Some(b'#') if digits == 0 && is_over(text.trim_start_matches('#')) => 1,
        Some(b'-' | b'+') if digits == 0 && is_over(&text[1..]) => 1,
        Some(b'>') if digits == 0 => 1,
        _ => 0,
    }
}

fn is_entity(after: &str) -> bool {
    let length = after.bytes().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    length > 0 && after[length..].starts_with(';')
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
