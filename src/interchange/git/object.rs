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
    fn name(self) -> &'static str {
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
