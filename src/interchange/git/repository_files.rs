//! The files of a repository that is imported: a folder, or the entries of a ZIP. Only files below git's own folder
//! are read, and as bytes: nothing of them is executed, and neither `config`, hooks nor alternates take effect.

use std::fs;
use std::io::{self, Cursor, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use crate::bounds;
use crate::input::{Input, InputParts, Seekable, import_error};
use crate::sink::{ImportError, ImportSink};

/// Reads files by relative paths with slashes, which never lead outside.
pub(super) trait RepositoryFiles {
    /// Opens a file; `None` if there is none.
    fn open(&mut self, path: &str, taker: &mut dyn ImportSink) -> Result<Option<Box<dyn Seekable>>, ImportError>;
    /// Returns the names in a folder, with a slash after those of folders; empty if there is no such folder.
    fn names(&mut self, folder: &str) -> Result<Vec<String>, ImportError>;
}

/// Opens a file of a folder; the importer may wrap it so that reading can be stopped.
pub type FileOpener<'o> = &'o dyn Fn(&Path) -> io::Result<Box<dyn Seekable>>;

/// A folder on the disk.
pub(super) struct DiskRepositoryFiles<'o> {
    root: PathBuf,
    open: FileOpener<'o>,
}

impl<'o> DiskRepositoryFiles<'o> {
    /// Finds git's own folder: `.git` of a working copy, or the folder itself. `None` if this is no repository.
    pub fn find(folder: &Path, open: FileOpener<'o>) -> Option<Self> {
        // The given folder itself may be behind a link.
        let folder = fs::canonicalize(folder).ok()?;
        let candidates = [Self { root: folder.join(".git"), open }, Self { root: folder, open }];
        candidates.into_iter().find(|files| {
            let is_git = files.plain("HEAD").is_some_and(|found| found.is_file());
            is_git && files.plain("refs").is_some_and(|found| found.is_dir())
        })
    }

    /// Returns a file or folder that no link leads to, because links may lead outside.
    fn plain(&self, path: &str) -> Option<fs::Metadata> {
        let mut at = self.root.clone();
        let mut found = fs::symlink_metadata(&at).ok()?;
        for name in path.split('/') {
            if !found.is_dir() {
                return None;
            }
            at.push(name);
            found = fs::symlink_metadata(&at).ok()?;
        }
        Some(found)
    }
}

impl RepositoryFiles for DiskRepositoryFiles<'_> {
    fn open(&mut self, path: &str, _: &mut dyn ImportSink) -> Result<Option<Box<dyn Seekable>>, ImportError> {
        // Pipes and devices may block.
        match self.plain(path) {
            Some(found) if found.is_file() => Ok(Some((self.open)(&self.root.join(path))?)),
            _ => Ok(None),
        }
    }

    fn names(&mut self, folder: &str) -> Result<Vec<String>, ImportError> {
        if !self.plain(folder).is_some_and(|found| found.is_dir()) {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.join(folder))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            // Git's own names are UTF-8 here, because exports write no other ones.
            let Ok(mut name) = entry.file_name().into_string() else { continue };
            if kind.is_dir() {
                name.push('/');
            } else if !kind.is_file() {
                continue;
            }
            if names.len() == bounds::ENTRIES {
                return Err(too_many_files());
            }
            names.push(name);
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// The entries of a ZIP below the repository's folder.
pub(super) struct PartFiles<'i> {
    input: &'i mut Input,
    root: String,
}

impl<'i> PartFiles<'i> {
    pub fn find(input: &'i mut Input) -> Option<Self> {
        let root = find_root(&input.parts())?;
        Some(Self { input, root })
    }
}

/// Returns the folder of the repository in an archive, with its slash: where `HEAD` stands beside git's other files.
pub(super) fn find_root(parts: &InputParts) -> Option<String> {
    let roots = parts.all().iter().filter_map(|part| part.name.strip_suffix("HEAD"));
    let mut roots: Vec<&str> = roots.filter(|root| root.is_empty() || root.ends_with('/')).collect();
    roots.sort_unstable_by_key(|root| (root.len(), *root));
    let is_repository = |root: &&str| {
        let beside = |name: &str| parts.index_of(&format!("{root}{name}")).is_some();
        beside("packed-refs") || beside("turnleaf.json") || beside("config")
    };
    roots.into_iter().find(is_repository).map(str::to_owned)
}

impl RepositoryFiles for PartFiles<'_> {
    fn open(&mut self, path: &str, taker: &mut dyn ImportSink) -> Result<Option<Box<dyn Seekable>>, ImportError> {
        let name = format!("{}{path}", self.root);
        let parts = self.input.parts();
        let Some(number) = parts.index_of(&name) else { return Ok(None) };
        if parts.all()[number].packed_bytes <= bounds::IN_MEMORY_BYTES as u64
            && let Ok(bytes) = self.input.read_part(&name, bounds::IN_MEMORY_BYTES as u64)
        {
            return Ok(Some(Box::new(Cursor::new(bytes))));
        }
        // Objects are read in any order, which a compressed entry does not allow.
        let mut copy = taker.open_scratch().map_err(ImportError::Spool)?;
        self.input.copy_part(number, &mut copy)?;
        copy.rewind().map_err(ImportError::Spool)?;
        Ok(Some(Box::new(copy)))
    }

    fn names(&mut self, folder: &str) -> Result<Vec<String>, ImportError> {
        let below = format!("{}{folder}/", self.root);
        let parts = self.input.parts();
        let names = parts.all().iter().filter_map(|part| part.name.strip_prefix(&below));
        let mut names: Vec<String> = names
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => rest.to_owned(),
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

pub(super) fn too_many_files() -> ImportError {
    ImportError::TooLarge(format!("the repository has more than {} files in a folder", bounds::ENTRIES))
}

/// Reads a whole file of at most this size; `None` if there is none.
pub(super) fn read_file(
    files: &mut dyn RepositoryFiles,
    path: &str,
    at_most: u64,
    taker: &mut dyn ImportSink,
) -> Result<Option<Vec<u8>>, ImportError> {
    let Some(file) = files.open(path, taker)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(at_most.saturating_add(1)).read_to_end(&mut bytes).map_err(import_error)?;
    if bytes.len() as u64 > at_most {
        return Err(ImportError::TooLarge(format!("{path}: {}", bounds::byte_limit_text(at_most))));
    }
    Ok(Some(bytes))
}
