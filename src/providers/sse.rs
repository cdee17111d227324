//! Parser for server-sent events according to the HTML standard, with two additions that providers require: an event
//! has a size limit, and an event that the end of the body cut off before its blank line still counts if its data is
//! complete JSON (three of the recorded bodies end so). The parser does not interpret the events.

use turnleaf_domain::limits;

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field; empty means `message`.
    pub name: String,
    /// The `data:` lines, joined by line feeds. Invalid UTF-8 is replaced and never an error.
    pub data: String,
}

/// One event was larger than `limits::PROVIDER_EVENT_BYTES`; the parser accepts no more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event is larger than {} bytes", limits::PROVIDER_EVENT_BYTES)]
pub struct EventTooLarge;

impl SseEvent {
    fn new(name: &str, data: &str) -> Self {
        Self { name: name.to_owned(), data: data.to_owned() }
    }
}

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Splits a body into events, independently of how its bytes are chunked.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    name: Vec<u8>,
    /// The last byte was CR: an LF directly after it belongs to the same line end.
    after_cr: bool,
    /// The first line is complete, so a byte order mark is no longer skipped.
    begun: bool,
    is_full: bool,
}

impl SseParser {
    /// Parses the next bytes and passes every completed event to `each`.
    pub fn feed(&mut self, bytes: &[u8], each: &mut impl FnMut(SseEvent)) -> Result<(), EventTooLarge> {
        self.feed_borrowed(bytes, &mut |name, data| each(SseEvent::new(name, data)))
    }

    /// Works like [`Self::feed`] without a copy of each event: passes on its name and its data.
    pub fn feed_borrowed(&mut self, mut bytes: &[u8], each: &mut impl FnMut(&str, &str)) -> Result<(), EventTooLarge> {
        while !bytes.is_empty() && !self.is_full {
            if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.hold(bytes);
                break;
            };
            let (line, rest) = bytes.split_at(end);
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = &rest[1..];
            if self.line.is_empty() {
                self.take_line(line, each);
            } else {
                self.hold(line);
                let whole = std::mem::take(&mut self.line);
                if !self.is_full {
                    self.take_line(&whole, each);
                }
                self.line = whole;
                self.line.clear();
            }
        }
        if self.is_full { Err(EventTooLarge) } else { Ok(()) }
    }

    /// Ends parsing and returns an event without a final blank line if its data is complete.
    pub fn finish(&mut self) -> Option<SseEvent> {
        let tail = std::mem::take(&mut self.line);
        if self.is_full {
            return None;
        }
        if !tail.is_empty() {
            self.take_line(&tail, &mut |_, _| {});
        }
        let mut last = None;
        self.dispatch(&mut |name, data| last = Some(SseEvent::new(name, data)));
        let is_whole =
            |data: &str| data.trim() == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok();
        last.filter(|event| is_whole(&event.data))
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.line.extend_from_slice(bytes);
        self.is_full |= self.line.len() + self.data.len() > limits::PROVIDER_EVENT_BYTES;
    }

    fn take_line(&mut self, mut line: &[u8], each: &mut impl FnMut(&str, &str)) {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(each);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.is_full |= self.data.len() > limits::PROVIDER_EVENT_BYTES;
            }
            b"event" => value.clone_into(&mut self.name),
            // Comments, `id`, `retry` and unknown fields are irrelevant for a single response.
            _ => {}
        }
    }

    fn dispatch(&mut self, each: &mut impl FnMut(&str, &str)) {
        if std::mem::take(&mut self.has_data) && !self.is_full {
            each(&String::from_utf8_lossy(&self.name), &String::from_utf8_lossy(&self.data));
        }
        self.name.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests;
