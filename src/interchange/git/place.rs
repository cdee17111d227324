//! Where a repository is written: into a folder, or into a ZIP that is passed on as it grows.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

/// Takes files by their paths, which have slashes and lead nowhere else.
pub trait Place {
    fn file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()>;
    /// A folder that may stay empty.
    fn folder(&mut self, path: &str) -> io::Result<()>;
}

/// A folder of the disk, written beside its place and put there when it is whole. Let go before that, nothing is left.
pub struct Folder {
    path: PathBuf,
    beside: PathBuf,
}

impl Folder {
    /// Begins it, where nothing is yet or an empty folder.
    ///
    /// # Errors
    /// `AlreadyExists` where something is in it, or it is a file.
    pub fn begin(path: &Path) -> io::Result<Self> {
        match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something in it")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A name that ends with a slash has one without.
        let path: PathBuf = path.components().collect();
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut beside = std::ffi::OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}", std::process::id()));
        let beside = path.with_file_name(beside);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        fs::create_dir(&beside)?;
        Ok(Self { path, beside })
    }

    /// Puts it in its place.
    pub fn end(self) -> io::Result<()> {
        fs::rename(&self.beside, &self.path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Put in its place, it is not here any more.
        let _ = fs::remove_dir_all(&self.beside);
    }
}

impl Place for Folder {
    fn file(&mut self, path: &str, _length: u64, content: &mut dyn Read) -> io::Result<()> {
        let path = self.beside.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        io::copy(content, &mut file)?;
        file.sync_all()
    }

    fn folder(&mut self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.beside.join(path))
    }
}

/// A ZIP with everything in one folder. What is in it is packed already, or small. Its times are always the same, so that
/// the same repository is the same file.
pub struct Zip<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    root: String,
}

impl<W: Write> Zip<W> {
    pub fn begin(out: W, root: &str) -> Self {
        Self { zip: ZipWriter::new_stream(out), root: root.to_owned() }
    }

    /// Writes what stands behind the files.
    pub fn end(self) -> io::Result<W> {
        Ok(self.zip.finish()?.into_inner())
    }
}

impl<W: Write> Place for Zip<W> {
    fn file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()> {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Stored)
            .large_file(length >= u64::from(u32::MAX))
            .unix_permissions(0o644);
        self.zip.start_file(format!("{}/{path}", self.root), options)?;
        io::copy(content, &mut self.zip)?;
        Ok(())
    }

    fn folder(&mut self, path: &str) -> io::Result<()> {
        let options = SimpleFileOptions::DEFAULT.unix_permissions(0o755);
        Ok(self.zip.add_directory(format!("{}/{path}", self.root), options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_once_it_is_whole_and_one_that_breaks_off_leaves_nothing() {
        let above = std::env::temp_dir().join(format!("turnleaf-folder-{}", std::process::id()));
        let path = above.join("chat.git");
        let lying = || fs::read_dir(&above).map_or(0, Iterator::count);
        let mut broken = Folder::begin(&path).unwrap();
        broken.file("a/b", 1, &mut &b"x"[..]).unwrap();
        assert!(!path.exists() && lying() == 1);
        drop(broken);
        assert_eq!(lying(), 0);
        fs::create_dir(&path).unwrap();
        let mut whole = Folder::begin(&path).unwrap();
        whole.file("a/b", 1, &mut &b"x"[..]).unwrap();
        whole.end().unwrap();
        assert_eq!((fs::read(path.join("a/b")).unwrap(), lying()), (b"x".to_vec(), 1));
        assert_eq!(Folder::begin(&path).err().map(|error| error.kind()), Some(io::ErrorKind::AlreadyExists));
        fs::remove_dir_all(above).unwrap();
    }
}
