//! What the page says of files, documents and images that go with a message.

use super::transcript::size;
use crate::domain::attachment::{Card, Standing};
use crate::domain::limits;

pub const ATTACH: &str = "Attach files";
pub const ATTACH_NOW: &str = "Attach";
pub const NOT_ATTACHED: &str = "Not everything could be attached";
pub const BACK_TO_MESSAGE: &str = "Back to your message";
pub const ATTACHED: &str = "Attached";
pub const DROP_HERE: &str = "Drop files to attach them to your message";
pub const WAITING: &str = "Waiting";
pub const READING: &str = "Reading…";
pub const LOST: &str = "Connection lost. It goes on by itself.";
pub const SEND_FAILED: &str = "This file could not be sent.";
pub const TRY_AGAIN: &str = "Try again";
pub const REMOVE: &str = "Remove";
pub const FILE_FAILED: &str = "A file could not be attached. Try it again or remove it, then send.";
pub const NOT_SENT: &str = "Not sent. Your files are still being uploaded.";
pub const GOES_OUT: &str = "Your message goes out when the files are there.";
pub const ATTACH_AS_DOCUMENT: &str = "Attach as document";
pub const KEEP_AS_TEXT: &str = "Keep as text";
pub const PASTED: &str = "Pasted text";
pub const LOOKS_LIKE_KEY: &str = "This looks like an API key. Whoever answers will read it.";
pub const DOCUMENTS: &str = "Documents";
pub const LOOKING: &str = "Looking for documents…";
pub const NO_DOCUMENTS: &str = "No document has such a title.";
pub const HOW_LINES: &str = "Write :12-30 behind a title to quote these lines.";
pub const NOT_LOOKED: &str = "The documents could not be looked up.";
pub const NOT_READ: &str = "The document could not be read.";
pub const NOT_THERE: &str = "not there any more";
pub const WHOLE_PICTURE: &str = "The picture in full";

/// What a chip says of a document or of lines of one, behind its title.
pub fn chip(card: &Card, standing: Option<Standing>) -> String {
    let lines = card.lines.map(|of| format!(" · {}", lines(of))).unwrap_or_default();
    let tokens = if card.tokens == 0 { String::new() } else { format!(" · {}", tokens(card.tokens)) };
    let standing = match standing {
        Some(Standing::Older) => " · older version",
        Some(Standing::Deleted) => " · deleted",
        None => "",
    };
    format!("{lines}{tokens}{standing}")
}

fn tokens(count: u64) -> String {
    match count {
        1 => "1 token".to_owned(),
        0..1_000 => format!("{count} tokens"),
        1_000..100_000 => format!("{}.{}k tokens", count / 1_000, count % 1_000 / 100),
        _ => format!("{}k tokens", count / 1_000),
    }
}

/// The server's words, which begin small, as a sentence of its own.
pub fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let stop = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    first.chain(letters.by_ref()).collect::<String>() + stop
}

/// The button that has a file read in this encoding.
pub fn read_as(encoding: &str) -> String {
    format!("Read as {encoding}")
}

/// Its name.
pub fn read_file_as(name: &str, encoding: &str) -> String {
    format!("{}: {name}", read_as(encoding))
}

/// The button that takes an attachment away.
pub fn remove(name: &str) -> String {
    format!("{REMOVE} {name}")
}

/// The button that sends a file once more.
pub fn again(name: &str) -> String {
    format!("{TRY_AGAIN}: {name}")
}

pub fn attached(name: &str) -> String {
    format!("{name} attached.")
}

pub fn removed(name: &str) -> String {
    format!("{name} removed.")
}

/// The last chip is selected from the message box.
pub fn selected(name: &str) -> String {
    format!("{name} selected. Backspace removes it.")
}

/// How far the files are that a message waits for.
pub fn uploading(number: usize, total: usize) -> String {
    format!("Uploading {number} of {total}…")
}

/// How far one file is.
pub fn sent_of(sent: u64, total: u64) -> String {
    format!("{} of {}", size(sent), size(total))
}

pub fn file_too_large(bytes: u64) -> String {
    format!("It has {}; a file has at most {}.", size(bytes), size(limits::UPLOAD_BYTES as u64))
}

pub fn files_too_large() -> String {
    format!("The files of one message come to at most {}.", size(limits::TURN_UPLOAD_BYTES as u64))
}

pub fn too_many() -> String {
    format!("A message has at most {} attachments.", limits::REFERENCES_PER_TURN)
}

/// A long text was pasted.
pub fn long_paste(chars: usize) -> String {
    format!("You pasted {chars} characters.")
}

/// These lines of a document.
pub fn lines((first, last): (u64, u64)) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

/// There is nothing on the lines that were asked for.
pub fn no_such_lines(count: u64) -> String {
    let lines = if count == 1 { "line" } else { "lines" };
    format!("There is nothing on these lines: the document has {count} {lines}.")
}

/// How many documents the menu behind `@` offers.
pub fn offered(count: usize) -> String {
    match count {
        0 => NO_DOCUMENTS.to_owned(),
        1 => "1 document. Enter attaches it.".to_owned(),
        count => format!("{count} documents. Up and down to choose, Enter to attach."),
    }
}

/// A message on its way, with the names of what goes with it.
pub fn sending(text: &str, names: &[&str]) -> String {
    let names = names.join(" · ");
    [text, &names].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_is_a_sentence() {
        assert_eq!(sentence("the file is empty"), "The file is empty.");
        assert_eq!(sentence("The disk is full."), "The disk is full.");
        assert_eq!(sentence(""), ".");
    }

    #[test]
    fn a_chip_says_lines_tokens_and_what_became_of_it() {
        let card = |lines, tokens| Card { lines, tokens, ..Card::default() };
        assert_eq!(chip(&card(Some((10, 42)), 1_234), None), " · lines 10-42 · 1.2k tokens");
        assert_eq!(chip(&card(Some((7, 7)), 1), Some(Standing::Older)), " · line 7 · 1 token · older version");
        assert_eq!(chip(&card(None, 0), Some(Standing::Deleted)), " · deleted");
        assert_eq!(chip(&card(None, 123_456), None), " · 123k tokens");
    }
}
