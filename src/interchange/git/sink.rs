//! Where a repository is written: into a folder ([`super::RepositoryFolder`]), or into a ZIP that is passed on as it grows.

use std::io::{self, Read, Write};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

/// Takes files by their paths, which have slashes and lead nowhere else.
pub trait RepositorySink {
    fn write_file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()>;
    /// A folder that may stay empty.
    fn create_folder(&mut self, path: &str) -> io::Result<()>;
}

/// A ZIP with everything in one folder. What is in it is packed already, or small. Its times are always the same, so that
/// the same repository is the same file.
pub struct ZipSink<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    root: String,
}

impl<W: Write> ZipSink<W> {
    pub fn new(out: W, root: &str) -> Self {
        Self { zip: ZipWriter::new_stream(out), root: root.to_owned() }
    }

    /// Writes what stands behind the files.
    pub fn finish(self) -> io::Result<W> {
        Ok(self.zip.finish()?.into_inner())
    }
}

impl<W: Write> RepositorySink for ZipSink<W> {
    fn write_file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()> {
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Stored)
            .large_file(length >= u64::from(u32::MAX))
            .unix_permissions(0o644);
        self.zip.start_file(format!("{}/{path}", self.root), options)?;
        io::copy(content, &mut self.zip)?;
        Ok(())
    }

    fn create_folder(&mut self, path: &str) -> io::Result<()> {
        let options = SimpleFileOptions::DEFAULT.unix_permissions(0o755);
        Ok(self.zip.add_directory(format!("{}/{path}", self.root), options)?)
    }
}
