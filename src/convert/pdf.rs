//! Extracts the text of a PDF page by page. Unreadable pages are reported in the notes and do not stop the others.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use pdf_extract::{
    ConvertToFmt, Document, MediaBox, OutputDev, OutputError, PlainTextOutput, Transform, output_doc, output_doc_page,
};
use unicode_normalization::UnicodeNormalization;

use crate::{ConversionError, ConvertedText, text_cleanup};
use turnleaf_domain::limits;

/// Extracts the text of a PDF.
///
/// # Errors
/// [`ConversionError::NoText`] if its pages are images, [`ConversionError::Unsupported`] if it is encrypted,
/// [`ConversionError::TooLong`], [`ConversionError::Damaged`].
pub fn read(file: &[u8]) -> Result<ConvertedText, ConversionError> {
    let damaged = || ConversionError::Damaged("it is not a complete PDF".into());
    let mut document = Document::load_mem(file).map_err(|_| damaged())?;
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(ConversionError::Unsupported("a password-protected PDF".into()));
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.is_empty() {
        return Err(damaged());
    }
    let pages = texts(&document, &numbers)?;
    if pages.iter().all(|page| page.as_ref().is_ok_and(String::is_empty)) {
        return Err(ConversionError::NoText);
    }
    if pages.iter().all(Result::is_err) {
        return Err(ConversionError::Damaged("no page can be read".into()));
    }
    Ok(ConvertedText { text: join_pages(&numbers, &pages)?, notes: notes(&numbers, &pages) })
}

/// Marks a page that could not be read.
#[derive(Debug, Clone, Copy)]
struct UnreadablePage;

/// Returns the texts of all pages. The first attempt reads the document in one pass; if a page breaks it, the
/// remaining pages are read one by one, which is slower.
fn texts(document: &Document, numbers: &[u32]) -> Result<Vec<Result<String, UnreadablePage>>, ConversionError> {
    let begun = PageTexts::default();
    let all = attempt(|| output_doc(document, &mut begun.clone()));
    let mut pages: Vec<Result<String, UnreadablePage>> = begun.texts().into_iter().map(Ok).collect();
    pages.truncate(numbers.len());
    if begun.is_over() {
        return Err(text_cleanup::too_long());
    }
    if all.is_err() && !pages.is_empty() {
        // The last page was started and not finished.
        let last = pages.len() - 1;
        pages[last] = Err(UnreadablePage);
    }
    let mut bytes: usize = pages.iter().flatten().map(String::len).sum();
    for number in &numbers[pages.len()..] {
        let page = PageTexts::default();
        let read = attempt(|| output_doc_page(document, &mut page.clone(), *number));
        let text = page.texts().concat();
        bytes += text.len();
        if page.is_over() || bytes > limits::DOCUMENT_BYTES {
            return Err(text_cleanup::too_long());
        }
        pages.push(read.map(|()| text));
    }
    Ok(pages.into_iter().map(|page| page.map(|text| clean_page_text(&text))).collect())
}

fn attempt(read: impl FnOnce() -> Result<(), OutputError>) -> Result<(), UnreadablePage> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(UnreadablePage),
    }
}

/// Cleans the text of a page and splits ligatures (`ﬁ`) into letters.
fn clean_page_text(text: &str) -> String {
    let is_joined = |c: char| ('\u{fb00}'..='\u{fb06}').contains(&c);
    let text = text_cleanup::clean_extracted(text);
    match text.contains(is_joined) {
        true => text.split_inclusive(is_joined).flat_map(split_ligature).collect(),
        false => text,
    }
}

fn split_ligature(piece: &str) -> Vec<char> {
    let last = piece.chars().next_back().filter(|c| ('\u{fb00}'..='\u{fb06}').contains(c));
    let head = &piece[..piece.len() - last.map_or(0, char::len_utf8)];
    head.chars().chain(last.into_iter().nfkc()).collect()
}

/// Joins the pages. If there are several, each page with text gets a heading line, so that it can be cited.
fn join_pages(numbers: &[u32], pages: &[Result<String, UnreadablePage>]) -> Result<String, ConversionError> {
    let mut text = String::new();
    for (number, page) in numbers.iter().zip(pages) {
        let page = page.as_deref().unwrap_or_default();
        if page.is_empty() {
            continue;
        }
        if numbers.len() > 1 {
            text.push_str(&format!("[Page {number}]\n\n"));
        }
        text.push_str(page);
        text.push_str("\n\n");
    }
    text_cleanup::check_length(text)
}

fn notes(numbers: &[u32], pages: &[Result<String, UnreadablePage>]) -> Vec<String> {
    let of = |is: fn(&Result<String, UnreadablePage>) -> bool| {
        let found = numbers.iter().zip(pages).filter(|(_, page)| is(page)).map(|(number, _)| *number);
        spans(&found.collect::<Vec<_>>())
    };
    let without = of(|page| page.as_ref().is_ok_and(String::is_empty));
    let unread = of(Result::is_err);
    let note = |label: &str, (count, list): (usize, String)| match count {
        0 => None,
        1 => Some(format!("Page {list} {label}.")),
        _ => Some(format!("Pages {list} {label}.")),
    };
    [note("without text", without), note("could not be read", unread)].into_iter().flatten().collect()
}

/// Returns the count and the list of ranges: `1–3, 7`.
fn spans(numbers: &[u32]) -> (usize, String) {
    const SHOWN: usize = 10;
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let mut list: Vec<String> = spans
        .iter()
        .take(SHOWN)
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}–{last}") })
        .collect();
    if spans.len() > SHOWN {
        list.push("…".into());
    }
    (numbers.len(), list.join(", "))
}

/// Collects the text of each page from the PDF reader. Clones share their state.
#[derive(Clone, Default)]
struct PageTexts {
    kept: Rc<RefCell<CollectedPages>>,
    placed: Option<Rc<RefCell<PlainTextOutput<WordSink>>>>,
}

#[derive(Default)]
struct CollectedPages {
    pages: Vec<String>,
    bytes: usize,
}

/// Receives the words that the layout analysis has assembled from positioned letters.
struct WordSink(Rc<RefCell<CollectedPages>>);

impl fmt::Write for WordSink {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        let mut kept = self.0.borrow_mut();
        kept.bytes += words.len();
        if kept.bytes > limits::DOCUMENT_BYTES {
            return Err(fmt::Error);
        }
        if let Some(page) = kept.pages.last_mut() {
            page.push_str(words);
        }
        Ok(())
    }
}

impl ConvertToFmt for WordSink {
    type Writer = Self;

    fn convert(self) -> Self {
        self
    }
}

impl PageTexts {
    fn texts(&self) -> Vec<String> {
        std::mem::take(&mut self.kept.borrow_mut().pages)
    }

    fn is_over(&self) -> bool {
        self.kept.borrow().bytes > limits::DOCUMENT_BYTES
    }

    fn with_layout(
        &self,
        with: impl FnOnce(&mut PlainTextOutput<WordSink>) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        self.placed.as_ref().map_or(Ok(()), |placed| with(&mut placed.borrow_mut()))
    }
}

impl OutputDev for PageTexts {
    fn begin_page(
        &mut self,
        number: u32,
        media: &MediaBox,
        art: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.kept.borrow_mut().pages.push(String::new());
        self.placed = Some(Rc::new(RefCell::new(PlainTextOutput::new(WordSink(self.kept.clone())))));
        self.with_layout(|placed| placed.begin_page(number, media, art))
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.with_layout(PlainTextOutput::end_page)
    }

    fn output_character(
        &mut self,
        at: &Transform,
        width: f64,
        spacing: f64,
        size: f64,
        letter: &str,
    ) -> Result<(), OutputError> {
        self.with_layout(|placed| placed.output_character(at, width, spacing, size, letter))
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.with_layout(PlainTextOutput::begin_word)
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.with_layout(PlainTextOutput::end_word)
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.with_layout(PlainTextOutput::end_line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_labelled_and_ligatures_split() {
        let pages = [Ok("one".into()), Ok(String::new()), Err(UnreadablePage), Ok("two".into()), Ok(String::new())];
        let numbers = [1, 2, 3, 4, 5];
        assert_eq!(join_pages(&numbers, &pages).unwrap(), "[Page 1]\n\none\n\n[Page 4]\n\ntwo\n\n");
        assert_eq!(notes(&numbers, &pages), ["Pages 2, 5 without text.", "Page 3 could not be read."]);
        assert_eq!(spans(&[1, 2, 3, 7, 9, 10]), (6, "1–3, 7, 9–10".into()));
        assert_eq!(clean_page_text("e\u{fb03}cient \u{fb01}ﬂ x"), "efficient fifl x");
    }
}
