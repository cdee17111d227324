//! An unpacked export: the regular files below a folder, as the parts of an import.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use turnleaf_interchange::{FolderFiles, ImportError, ImportIssue, Input, InputPart, IssueKind, IssueLocation, bounds};

/// The number of folders within each other that are searched.
const DEPTH: usize = 32;

/// Opens a folder. Links and special files are skipped and reported. `wrap` makes the files stoppable.
pub(super) fn open_folder(
    folder: &Path,
    wrap: impl FnMut(File) -> Box<dyn Read> + Send + 'static,
) -> Result<Input, ImportError> {
    let mut listing = Listing::default();
    listing.add_folder(folder, "", 0)?;
    let Listing { mut files, findings } = listing;
    files.sort_by(|(one, ..), (other, ..)| one.name.cmp(&other.name));
    let (parts, paths) = files.into_iter().unzip();
    Ok(Input::open_folder(parts, findings, Box::new(OpenFolder { paths, wrap })))
}

#[derive(Default)]
struct Listing {
    files: Vec<(InputPart, PathBuf)>,
    findings: Vec<ImportIssue>,
}

impl Listing {
    fn add_folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), ImportError> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if kind.is_dir() && depth < DEPTH {
                match self.add_folder(&entry.path(), &format!("{name}/"), depth + 1) {
                    // A folder that may not be read does not stop the others.
                    Err(ImportError::Io(error)) => self.skip(name, &format!("it cannot be read ({})", error.kind())),
                    read => read?,
                }
            } else if kind.is_file() {
                let part = InputPart { name, packed_bytes: entry.metadata()?.len() };
                self.files.push((part, entry.path()));
                if self.files.len() > bounds::ENTRIES {
                    let text = format!("the folder has more than {} files", bounds::ENTRIES);
                    return Err(ImportError::TooLarge(text));
                }
            } else {
                self.skip(name, kind_of(kind));
            }
        }
        Ok(())
    }

    fn skip(&mut self, name: String, why: &str) {
        let location = IssueLocation { file: name, ..IssueLocation::default() };
        let text = format!("the entry was skipped: {why}");
        self.findings.push(ImportIssue { kind: IssueKind::LeftOut, location, text });
    }
}

/// Says what an entry is that is not read.
fn kind_of(kind: FileType) -> &'static str {
    match () {
        () if kind.is_dir() => "its folders are nested too deeply",
        () if kind.is_symlink() => "it is a link",
        () if kind.is_fifo() => "it is a named pipe",
        () if kind.is_socket() => "it is a socket",
        () if kind.is_char_device() || kind.is_block_device() => "it is a device",
        () => "it is not a regular file",
    }
}

struct OpenFolder<W> {
    paths: Vec<PathBuf>,
    wrap: W,
}

impl<W: FnMut(File) -> Box<dyn Read> + Send> FolderFiles for OpenFolder<W> {
    fn open(&mut self, number: usize) -> io::Result<Box<dyn Read>> {
        let path = self.paths.get(number).ok_or(io::ErrorKind::NotFound)?;
        Ok((self.wrap)(File::open(path)?))
    }
}
