//! Binary data that tools write into text as base64: images and files in JSON, data URLs in Markdown, blocks in prose. A
//! model cannot read it, and it may fill its context.

use std::borrow::Cow;

use serde_json::Value;

use turnleaf_domain::documents::image_type::detect_image_type;
use turnleaf_providers::base64;

/// Shortest base64 that is examined, and shortest that is binary data without a known file type. Shorter ones may be
/// tokens that the model has to repeat.
const SHORTEST: usize = 64;
const SHORTEST_UNKNOWN: usize = 8 << 10;
/// Shortest line of base64 that goes on in the next one: encoders wrap at 64 or 76 characters.
const WRAPPED_LINE: usize = 60;
/// Shortest signature that marks a file by itself: text that begins with a shorter one may be a token as well.
const SURE_MAGIC_BYTES: usize = 4;
/// Longest MIME type of a data URL, with its parameters.
const MIME_BYTES: usize = 120;
const DATA: &str = "data:";
const BASE64: &str = ";base64,";

/// Signatures of files with the offset at which they stand.
const FILE_TYPES: [(usize, &[u8], &str); 28] = [
    (0, b"%PDF", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"RIFF", "audio/wav"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftyphev", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypavi", "image/avif"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\xd0\xcf\x11\xe0", "application/x-ole-storage"),
    (0, b"\0asm", "application/wasm"),
    (0, b"\x7fELF", "application/octet-stream"),
];

/// Replaces the binary data in all strings of a value by what `replace` returns for its base64 and MIME type. Returns
/// whether there was any.
pub fn replace_in_value(value: &mut Value, replace: &mut dyn FnMut(&str, &str) -> String) -> bool {
    match value {
        Value::String(text) => match replace_in_text(text, replace) {
            Some(without) => {
                *text = without;
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |found, item| replace_in_value(item, replace) | found),
        Value::Object(members) => {
            members.values_mut().fold(false, |found, member| replace_in_value(member, replace) | found)
        }
        _ => false,
    }
}

/// Like [`replace_in_value`], for a text that may be JSON; `None` if there is no binary data.
pub fn replace_in_text_or_json(text: &str, replace: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    if text.len() < SHORTEST {
        return None;
    }
    if text.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(text)
    {
        return replace_in_value(&mut value, replace).then(|| value.to_string());
    }
    replace_in_text(text, replace)
}

fn replace_in_text(text: &str, replace: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    if text.len() < SHORTEST {
        return None;
    }
    let whole = text.trim();
    if whole.bytes().all(|byte| is_base64(byte) || matches!(byte, b'\n' | b'\r'))
        && let Some(mime) = binary_type(&data_of(whole))
    {
        return Some(replace(whole, mime));
    }
    let bytes = text.as_bytes();
    let (mut kept, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        if line_of(&bytes[at..]) == (0, 0) {
            at += 1;
            continue;
        }
        // Base64 begins with a letter of ASCII, so the text can be cut there.
        let url = data_url_start(text, copied, at);
        let end = at + run_len(&bytes[at..], url.is_some());
        let data = data_of(&text[at..end]);
        let found = match url {
            Some(_) if data.len() < SHORTEST => None,
            Some(start) => Some((start, text[start + DATA.len()..].split(';').next().unwrap_or_default())),
            None => binary_type(&data).map(|mime| (at, mime)),
        };
        if let Some((start, mime)) = found {
            kept.push_str(&text[copied..start]);
            kept.push_str(&replace(&data, mime));
            copied = end;
        }
        at = end;
    }
    (copied > 0).then(|| kept + &text[copied..])
}

/// Returns the start of the data URL whose data begins at `at`, and not before `from`.
fn data_url_start(text: &str, from: usize, at: usize) -> Option<usize> {
    let before = text[from..at].trim_end();
    let before = before.strip_suffix(BASE64)?;
    let window = before.floor_char_boundary(before.len().saturating_sub(MIME_BYTES + DATA.len()));
    let start = window + before[window..].rfind(DATA)?;
    (!before[start..].contains(char::is_whitespace)).then_some(from + start)
}

/// Returns the length of the base64 that begins here: also over line breaks, where the lines are as long as encoders
/// make them or belong to a data URL, and with the escapes that it has in the text of JSON.
fn run_len(bytes: &[u8], is_url: bool) -> usize {
    let (mut end, mut width) = line_of(bytes);
    let mut is_first = true;
    while width >= WRAPPED_LINE || (is_url && is_first) {
        let Some(gap) = line_break(&bytes[end..]) else { break };
        let (length, next_width) = line_of(&bytes[end + gap..]);
        let behind = &bytes[end + gap + length..];
        let is_line = behind.is_empty() || line_break(behind).is_some() || b"\"'`)<>]},\\".contains(&behind[0]);
        // The first line of a data URL may be shorter than the next.
        if next_width == 0 || !is_line || (next_width > width && !(is_url && is_first)) {
            break;
        }
        end += gap + length;
        if next_width < width {
            break;
        }
        (width, is_first) = (next_width, false);
    }
    end
}

/// Returns the length of the base64 of a line in bytes and in characters. In the text of JSON, `/` may be escaped.
fn line_of(bytes: &[u8]) -> (usize, usize) {
    let (mut length, mut characters) = (0, 0);
    loop {
        match &bytes[length..] {
            [b'\\', b'/', ..] => length += 2,
            [byte, ..] if is_base64(*byte) => length += 1,
            _ => return (length, characters),
        }
        characters += 1;
    }
}

/// Returns the length of a line break with the indentation behind it; as JSON writes it, too.
fn line_break(bytes: &[u8]) -> Option<usize> {
    let breaks: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    let length = breaks.into_iter().find(|line_break| bytes.starts_with(line_break))?.len();
    let indentation = bytes[length..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some(length + indentation)
}

/// Returns base64 without line breaks and escapes.
fn data_of(raw: &str) -> Cow<'_, str> {
    if !raw.contains(|c: char| c == '\\' || c.is_whitespace()) {
        return Cow::Borrowed(raw);
    }
    let plain = raw.replace("\\/", "/").replace("\\r", "").replace("\\n", "");
    Cow::Owned(plain.chars().filter(|c| !c.is_whitespace()).collect())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Returns the type of binary data in base64 without line breaks; `None` for any other text.
fn binary_type(data: &str) -> Option<&'static str> {
    let begin = base64::decode(data.get(..SHORTEST / 4 * 4 - 4).filter(|_| data.len() >= SHORTEST)?)?;
    let is_long = data.len() >= SHORTEST_UNKNOWN;
    let is_of = |offset: usize, magic: &[u8]| begin.get(offset..).is_some_and(|begin| begin.starts_with(magic));
    let known = FILE_TYPES
        .iter()
        .find(|(offset, magic, _)| is_of(*offset, magic) && (is_long || magic.len() >= SURE_MAGIC_BYTES))
        .map(|(_, _, mime)| *mime);
    let unsigned = || {
        let has = |is: fn(&char) -> bool| data.chars().any(|c| is(&c));
        // Long hexadecimal and other codes are text.
        let is_mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit);
        let is_binary = || base64::decode(data).is_some_and(|bytes| std::str::from_utf8(&bytes).is_err());
        (is_long && is_mixed && is_binary()).then_some("application/octet-stream")
    };
    let is_audio = is_long && is_mp3_frame(&begin);
    detect_image_type(&begin)
        .or_else(|| is_bitmap(&begin).then_some("image/bmp"))
        .or(known)
        .or_else(|| is_audio.then_some("audio/mpeg"))
        .or_else(unsigned)
}

/// Returns whether these are the headers of a BMP, whose signature is two letters only.
fn is_bitmap(begin: &[u8]) -> bool {
    begin.starts_with(b"BM")
        && matches!(begin.get(6..10), Some([0, 0, 0, 0]))
        && matches!(begin.get(14..18), Some([12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

/// Returns whether a frame of MPEG audio, layer III, begins here.
fn is_mp3_frame(begin: &[u8]) -> bool {
    match begin {
        [0xff, second, third, ..] => {
            let (version, layer) = ((second >> 3) & 3, (second >> 1) & 3);
            let (rate, sampling) = (third >> 4, (third >> 2) & 3);
            second & 0xe0 == 0xe0 && version != 1 && layer == 1 && !matches!(rate, 0 | 15) && sampling != 3
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn png() -> String {
        base64::encode(&[&b"\x89PNG\r\n\x1a\n"[..], &[7; 100]].concat())
    }

    /// Returns base64 in lines of 76 characters.
    fn wrapped(data: &str, line_break: &str) -> String {
        let lines: Vec<&str> = (0..data.len()).step_by(76).map(|at| &data[at..data.len().min(at + 76)]).collect();
        lines.join(line_break)
    }

    fn replaced(text: &str) -> Option<String> {
        replace_in_text_or_json(text, &mut |data, mime| format!("<{mime} {}>", data.len()))
    }

    #[test]
    fn binary_data_is_replaced_wherever_it_stands() {
        let png = png();
        let noise: Vec<u8> = (0..9000_u32).map(|n| (n * 7919 % 251) as u8 | 0x80).collect();
        let noise = base64::encode(&noise);
        for (text, expected) in [
            (png.clone(), format!("<image/png {}>", png.len())),
            (format!("data:image/png;base64,{png}"), format!("<image/png {}>", png.len())),
            (format!("a ![x](data:image/jpeg;base64,{png}) b"), format!("a ![x](<image/jpeg {}>) b", png.len())),
            (
                json!({"a": [{"data": png, "n": 1}]}).to_string(),
                format!(r#"{{"a":[{{"data":"<image/png {}>","n":1}}]}}"#, png.len()),
            ),
            (noise.clone(), format!("<application/octet-stream {}>", noise.len())),
        ] {
            assert_eq!(replaced(&text).as_deref(), Some(expected.as_str()), "{text}");
        }
    }

    #[test]
    fn binary_data_within_other_text_is_replaced() {
        let png = png();
        let length = png.len();
        let jpeg = base64::encode(&[&b"\xff\xd8\xff\xe0"[..], &[0xff; 100]].concat());
        let lines = wrapped(&png, "\n");
        for (text, expected) in [
            (format!("The picture:\n{png}\nDone."), format!("The picture:\n<image/png {length}>\nDone.")),
            (format!("It is {png}, see?"), format!("It is <image/png {length}>, see?")),
            (
                format!("# Found\n```json\n{{\"p\": \"{png}\"}}\n```"),
                format!("# Found\n```json\n{{\"p\": \"<image/png {length}>\"}}\n```"),
            ),
            (
                format!("{{\"p\":\"{png}\"}}\n{{\"p\":\"{png}\"}}\n"),
                format!("{{\"p\":\"<image/png {length}>\"}}\n{{\"p\":\"<image/png {length}>\"}}\n"),
            ),
            (
                format!("Found: {{\"p\": \"{}\"}}", jpeg.replace('/', "\\/")),
                format!("Found: {{\"p\": \"<image/jpeg {}>\"}}", jpeg.len()),
            ),
            (format!("The picture:\n{lines}\n\nDone."), format!("The picture:\n<image/png {length}>\n\nDone.")),
            (
                format!("x {{\"p\": \"{}\"}} y", wrapped(&png, "\\n")),
                format!("x {{\"p\": \"<image/png {length}>\"}} y"),
            ),
            (format!("![x](data:image/png;base64,\n{lines}) y"), format!("![x](<image/png {length}>) y")),
            (
                format!("![x](data:image/png;base64,{}\n{}) y", &png[..54], wrapped(&png[54..], "\n")),
                format!("![x](<image/png {length}>) y"),
            ),
        ] {
            assert_eq!(replaced(&text).as_deref(), Some(expected.as_str()), "{text}");
        }
    }

    #[test]
    fn files_are_known_by_their_signatures() {
        let bitmap = [&b"BM\x36\x10\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"[..], &[0; 60]].concat();
        let padded = |magic: &[u8]| [magic, &[0; 60]].concat();
        let long = |magic: &[u8]| [magic, &[0xfe; 8 << 10]].concat();
        for (bytes, mime) in [
            (padded(b"\0\0\0\x20ftypisom"), "video/mp4"),
            (padded(b"\0\0\0\x20ftypheic"), "image/heic"),
            (padded(b"SQLite format 3\0"), "application/vnd.sqlite3"),
            (padded(b"wOF2"), "font/woff2"),
            (padded(b"RIFF\0\0\0\0AVI "), "video/x-msvideo"),
            (bitmap, "image/bmp"),
            (long(b"\xff\xfb\x90\x64"), "audio/mpeg"),
            (long(b"ID3"), "audio/mpeg"),
        ] {
            assert_eq!(binary_type(&base64::encode(&bytes)), Some(mime), "{mime}");
        }
        for bytes in [padded(b"BM"), padded(b"\xff\xfb\x90\x64"), padded(b"ID3")] {
            assert_eq!(binary_type(&base64::encode(&bytes)), None, "{bytes:?}");
        }
    }

    #[test]
    fn texts_and_tokens_stay() {
        let token = base64::encode(&[0xfe; 600]);
        let text = base64::encode("words of a person, in base64 ".repeat(400).as_bytes());
        for text in [
            "words",
            &"long words ".repeat(2000),
            &token,
            &base64::encode(&[&b"\x1f\x8b\x08"[..], &[0xfe; 300]].concat()),
            &text,
            &"0123456789abcdef".repeat(1000),
            &"ACGT".repeat(4000),
            "data:image/png;base64,abc is the beginning of a data URL, which is explained here at some length",
            &json!({ "next": token }).to_string(),
            &format!("The token:\n{token}\nUse it."),
            &"/usr/share/doc/a-long-path/with_many/parts/and-more/parts/behind/them/all/README ".repeat(20),
        ] {
            assert_eq!(replaced(text), None, "{text}");
        }
    }
}
