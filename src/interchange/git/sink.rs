//! Destinations of a repository: a folder ([`super::RepositoryFolder`]), or a streamed ZIP.

use std::io::{self, Read, Write};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

/// Receives files by relative paths with slashes, which never lead outside.
pub trait RepositorySink {
    fn write_file(&mut self, path: &str, length: u64, content: &mut dyn Read) -> io::Result<()>;
    /// Creates a folder that may stay empty.
    fn create_folder(&mut self, path: &str) -> io::Result<()>;
}

/// A ZIP with everything in one folder. Entries are stored without compression, because they are compressed already
/// or small. Timestamps are constant, so that the same repository yields the same file.
pub struct ZipSink<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    root: String,
}

impl<W: Write> ZipSink<W> {
    pub fn new(out: W, root: &str) -> Self {
        Self { zip: ZipWriter::new_stream(out), root: root.to_owned() }
    }

    /// Writes the ZIP directory.
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
