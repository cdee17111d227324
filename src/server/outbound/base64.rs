//! Base64: bytes out of it as servers write it (with and without padding, in both alphabets, broken into lines), and into
//! it in the one form that all of them read.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// How long so many bytes become.
pub fn encoded_bytes(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Appends the bytes, padded.
pub fn encode_into(bytes: &[u8], out: &mut Vec<u8>) {
    for piece in bytes.chunks(3) {
        let byte = |at: usize| u32::from(piece.get(at).copied().unwrap_or_default());
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        let letter = |at: usize| ALPHABET[(bits >> (18 - 6 * at)) as usize & 63];
        let said = piece.len() + 1;
        out.extend((0..4).map(|at| if at < said { letter(at) } else { b'=' }));
    }
}

/// The bytes as a text of their own, padded.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(encoded_bytes(bytes.len()));
    encode_into(bytes, &mut out);
    out.into_iter().map(char::from).collect()
}

/// `None` when it is none.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(decoded_bytes(text));
    let (mut bits, mut held) = (0u32, 0u32);
    let mut characters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    for byte in characters.by_ref() {
        if byte == b'=' {
            break;
        }
        bits = (bits << 6) | u32::from(value(byte)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    // A character alone says less than a byte, and nothing but padding follows padding.
    (held < 6 && characters.all(|byte| byte == b'=')).then_some(out)
}

/// How many bytes it becomes, at most.
pub fn decoded_bytes(text: &str) -> usize {
    text.len() / 4 * 3 + 2
}

fn value(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_and_what_servers_make_of_them() {
        let table: [(&str, Option<&[u8]>); 16] = [
            ("", Some(b"")),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYg==", Some(b"foob")),
            ("Zm9vYmE=", Some(b"fooba")),
            ("Zm9vYmFy", Some(b"foobar")),
            ("Zg", Some(b"f")),
            ("Zm9v\r\nYmFy\n", Some(b"foobar")),
            ("+/+/", Some(&[0xfb, 0xff, 0xbf])),
            ("-_-_", Some(&[0xfb, 0xff, 0xbf])),
            ("Zg==Zg==", None),
            ("Z", None),
            ("Zm9v!", None),
            ("data:image/png;base64,Zm9v", None),
            ("Zm9vä", None),
        ];
        for (text, bytes) in table {
            assert_eq!(decode(text).as_deref(), bytes, "{text:?}");
        }
        for (at, (text, bytes)) in table.iter().enumerate().take(7) {
            assert_eq!(bytes.map(encode).as_deref(), Some(*text), "{at}");
        }
        let all: Vec<u8> = (0..=255).collect();
        for end in 0..all.len() {
            let encoded = encode(&all[..end]);
            assert_eq!(encoded.len(), encoded_bytes(end));
            assert_eq!(decode(&encoded).as_deref(), Some(&all[..end]));
        }
    }
}
