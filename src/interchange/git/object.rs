//! Git objects: blobs, trees and commits as the bytes that git hashes.

use std::fmt::{self, Write as _};

use chrono::{DateTime, Utc};
use sha1::{Digest, Sha1};

/// Object kinds with their numbers in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
}

impl ObjectKind {
    /// Returns the kind with this number in a pack. `None` for tags and deltas.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Commit, Self::Tree, Self::Blob].into_iter().find(|kind| *kind as u8 == number)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }
}

/// The id of an object: the SHA-1 of its kind, its length and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub [u8; 20]);

impl ObjectId {
    pub fn hash_of(kind: ObjectKind, body: &[u8]) -> Self {
        let head = format!("{} {}\0", kind.name(), body.len());
        Self(Sha1::new().chain_update(head).chain_update(body).finalize().into())
    }

    /// Parses 40 hexadecimal digits.
    pub fn parse(hex: &str) -> Option<Self> {
        if hex.len() != 40 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut id = [0; 20];
        for (at, byte) in id.iter_mut().enumerate() {
            *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self(id))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    pub name: String,
    pub is_tree: bool,
    pub id: ObjectId,
}

/// Encodes a tree in git's order, which compares folder names with a trailing slash.
pub fn encode_tree(mut entries: Vec<TreeEntry>) -> Vec<u8> {
    let key = |entry: &TreeEntry| if entry.is_tree { format!("{}/", entry.name) } else { entry.name.clone() };
    entries.sort_by_cached_key(key);
    let mut body = Vec::new();
    for entry in entries {
        body.extend_from_slice(if entry.is_tree { b"40000 " } else { b"100644 " });
        body.extend_from_slice(entry.name.as_bytes());
        body.push(0);
        body.extend_from_slice(&entry.id.0);
    }
    body
}

/// Decodes the files and folders of a tree; links and submodules are skipped. `None` if it is malformed.
pub fn decode_tree(body: &[u8]) -> Option<Vec<TreeEntry>> {
    let mut entries = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (mode, name) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
        let id = ObjectId(rest.get(end + 1..end + 21)?.try_into().ok()?);
        rest = &rest[end + 21..];
        let is_tree = matches!(mode, "40000" | "040000");
        if is_tree || matches!(mode, "100644" | "100755" | "100664") {
            entries.push(TreeEntry { name: name.to_owned(), is_tree, id });
        }
    }
    Some(entries)
}

/// Decodes the tree and the first parent of a commit. `None` if it is malformed.
pub fn decode_commit(body: &[u8]) -> Option<(ObjectId, Option<ObjectId>)> {
    let mut lines = body.split(|byte| *byte == b'\n');
    let mut id_after =
        |name: &str| ObjectId::parse(std::str::from_utf8(lines.next()?).ok()?.strip_prefix(name)?.strip_prefix(' ')?);
    let tree = id_after("tree")?;
    Some((tree, id_after("parent")))
}

/// The author of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitAuthor {
    name: String,
    mail: String,
}

impl CommitAuthor {
    /// Creates an author; the address is derived from `at` in a domain that does not exist.
    pub fn new(name: &str, at: &str, otherwise: &str) -> Self {
        // Git itself strips these characters from names, and angle brackets delimit the address.
        let crust = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '"' | '\'' | '\\');
        let kept: String = name.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
        let name = kept.trim_matches(crust);
        let mail: String =
            at.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let mail = mail.trim_matches('-');
        Self {
            name: if name.is_empty() { otherwise.to_owned() } else { name.to_owned() },
            mail: format!("{}@turnleaf.invalid", if mail.is_empty() { "unknown" } else { mail }),
        }
    }

    fn line(&self, at: DateTime<Utc>) -> String {
        // Git's timestamps start in 1970.
        format!("{} <{}> {} +0000", self.name, self.mail, at.timestamp().max(0))
    }
}

/// The fields of a commit.
pub struct Commit<'c> {
    pub tree: ObjectId,
    pub parent: Option<ObjectId>,
    pub author: &'c CommitAuthor,
    pub written_at: DateTime<Utc>,
    pub committed_at: DateTime<Utc>,
    pub message: &'c str,
}

impl Commit<'_> {
    pub fn body(&self) -> Vec<u8> {
        let mut body = format!("tree {}\n", self.tree);
        if let Some(parent) = self.parent {
            let _ = writeln!(body, "parent {parent}");
        }
        let _ = writeln!(body, "author {}", self.author.line(self.written_at));
        let _ = writeln!(body, "committer {}\n", self.author.line(self.committed_at));
        // Git ends a message at a NUL byte.
        body.push_str(&self.message.replace('\0', ""));
        body.into_bytes()
    }
}
