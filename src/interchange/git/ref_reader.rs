//! Reads the branches of an imported repository: refs in files and packed refs, of the repository itself and, in a
//! clone, of its remotes.

use std::collections::BTreeMap;

use super::object::ObjectId;
use super::repository_files::{RepositoryFiles, read_file, too_many_files};
use crate::bounds;
use crate::sink::{ImportError, ImportSink};

const HEADS: &str = "refs/heads/";
const REMOTES: &str = "refs/remotes/";
/// Size of a file with one ref, in bytes.
const REF_BYTES: u64 = 4 << 10;

/// The branches of a repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RepositoryRefs {
    /// Names without `refs/heads/`, with the commits that they point to; in a clone, a name may have several.
    pub branches: Vec<(String, ObjectId)>,
    /// The name that `HEAD` points to.
    pub head: Option<String>,
}

/// Reads the branches, sorted by name.
///
/// # Errors
/// The repository stores its refs or names its objects in a way that is not supported.
pub(super) fn read_refs(
    files: &mut dyn RepositoryFiles,
    taker: &mut dyn ImportSink,
) -> Result<RepositoryRefs, ImportError> {
    if !files.names("reftable")?.is_empty() {
        return Err(unsupported("refs in the reftable format; run `git refs migrate --ref-format=files`"));
    }
    let mut all: BTreeMap<String, ObjectId> = BTreeMap::new();
    if let Some(packed) = read_file(files, "packed-refs", bounds::GIT_FILE_BYTES, taker)? {
        for line in String::from_utf8_lossy(&packed).lines() {
            if let Some((id, name)) = line.split_once(' ')
                && is_branch(name)
                && let Some(id) = parse_id(id)?
            {
                all.insert(name.to_owned(), id);
            }
        }
    }
    // A file is newer than a packed ref.
    let mut folders = vec![(HEADS.to_owned(), 0), (REMOTES.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for name in files.names(folder.trim_end_matches('/'))? {
            let path = format!("{folder}{name}");
            if path.ends_with('/') {
                if depth < bounds::REF_FOLDERS {
                    folders.push((path, depth + 1));
                }
            } else if let Some(id) = read_text(files, &path, taker)?.and_then(|text| parse_id(text.trim()).transpose())
            {
                all.insert(path, id?);
            }
            if all.len() + folders.len() > bounds::ENTRIES {
                return Err(too_many_files());
            }
        }
    }
    let mut branches: Vec<(String, ObjectId)> =
        all.into_iter().filter_map(|(path, id)| Some((short_name(&path)?, id))).collect();
    branches.sort();
    branches.dedup();
    let head = read_text(files, "HEAD", taker)?;
    let head = head.as_deref().and_then(|head| head.trim().strip_prefix("ref: ")?.strip_prefix(HEADS));
    Ok(RepositoryRefs { branches, head: head.map(str::to_owned) })
}

fn read_text(
    files: &mut dyn RepositoryFiles,
    path: &str,
    taker: &mut dyn ImportSink,
) -> Result<Option<String>, ImportError> {
    let bytes = read_file(files, path, REF_BYTES, taker)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn is_branch(path: &str) -> bool {
    path.starts_with(HEADS) || path.starts_with(REMOTES)
}

/// Returns the name of a branch without `refs/heads/` or its remote; `None` for the `HEAD` of a remote.
pub(super) fn short_name(path: &str) -> Option<String> {
    let name = match path.strip_prefix(REMOTES) {
        Some(remote) => remote.split_once('/').map(|(_, name)| name).filter(|name| *name != "HEAD"),
        None => path.strip_prefix(HEADS),
    };
    name.map(str::to_owned)
}

/// Parses an object id. `None` for anything else, such as a symbolic ref.
fn parse_id(text: &str) -> Result<Option<ObjectId>, ImportError> {
    match ObjectId::parse(text) {
        None if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            Err(unsupported("objects that are named by SHA-256"))
        }
        id => Ok(id),
    }
}

fn unsupported(what: &str) -> ImportError {
    ImportError::Damaged(format!("the repository uses something that is not supported: {what}"))
}
