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

/// A folder of the disk.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it, or takes it where nothing is in it yet.
    ///
    /// # Errors
    /// `AlreadyExists` where something is in it, or it is a file.
    pub fn begin(path: &Path) -> io::Result<Self> {
        match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something in it")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(path)?,
            Err(error) => return Err(error),
        }
        Ok(Self(path.to_owned()))
    }
}

impl Place for Folder {
    fn file(&mut self, path: &str, _length: u64, content: &mut dyn Read) -> io::Result<()> {
        let path = self.0.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        io::copy(content, &mut file)?;
        file.sync_all()
    }

    fn folder(&mut self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.0.join(path))
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
