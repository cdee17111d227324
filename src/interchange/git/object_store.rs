//! Finds and verifies the objects of an imported repository, in packs and as loose files.

use std::io::{BufReader, Read};

use flate2::bufread::ZlibDecoder;

use super::object::{ObjectId, ObjectKind};
use super::pack_reader::PackReader;
use super::repository_files::{RepositoryFiles, read_file};
use crate::bounds;
use crate::input::import_error;
use crate::sink::{ImportError, ImportSink};

/// Room for the kind and the length before the bytes of a loose object.
const LOOSE_HEAD_BYTES: u64 = 32;

/// Reads blobs by their ids; so that a repository and a stream of commits are read in the same way.
pub(super) trait BlobSource {
    fn read_blob(&mut self, id: &ObjectId, at_most: u64, taker: &mut dyn ImportSink) -> Result<Vec<u8>, ImportError>;
}

/// The objects of a repository.
pub(super) struct ObjectStore<'f> {
    files: &'f mut dyn RepositoryFiles,
    packs: Vec<PackReader>,
    /// Number of decompressed bytes.
    unpacked: u64,
}

impl<'f> ObjectStore<'f> {
    /// Opens the packs of a repository.
    pub fn open(files: &'f mut dyn RepositoryFiles, taker: &mut dyn ImportSink) -> Result<Self, ImportError> {
        let mut packs = Vec::new();
        for name in files.names("objects/pack")? {
            let Some(stem) = name.strip_suffix(".idx") else { continue };
            let index = read_file(files, &format!("objects/pack/{name}"), bounds::GIT_FILE_BYTES, taker)?;
            let pack = files.open(&format!("objects/pack/{stem}.pack"), taker)?;
            if let (Some(index), Some(pack)) = (index, pack) {
                packs.push(PackReader::open(index, pack)?);
            }
        }
        Ok(Self { files, packs, unpacked: 0 })
    }

    /// Reads an object of this kind and at most this size, and compares its bytes with its id. `None` if the
    /// repository does not contain it, as in a shallow clone.
    pub fn find(
        &mut self,
        id: &ObjectId,
        kind: ObjectKind,
        at_most: u64,
        taker: &mut dyn ImportSink,
    ) -> Result<Option<Vec<u8>>, ImportError> {
        let mut found = None;
        for pack in &mut self.packs {
            found = pack.read(id, at_most, &mut self.unpacked)?;
            if found.is_some() {
                break;
            }
        }
        let found = match found {
            Some(found) => Some(found),
            None => self.find_loose(id, at_most, taker)?,
        };
        if self.unpacked > bounds::TOTAL_BYTES {
            return Err(ImportError::TooLarge("the repository is too large when unpacked".to_owned()));
        }
        let Some((found, body)) = found else { return Ok(None) };
        if found != kind || ObjectId::hash_of(kind, &body) != *id {
            return Err(ImportError::Damaged(format!("the object {id} is not the {} that it should be", kind.name())));
        }
        Ok(Some(body))
    }

    fn find_loose(
        &mut self,
        id: &ObjectId,
        at_most: u64,
        taker: &mut dyn ImportSink,
    ) -> Result<Option<(ObjectKind, Vec<u8>)>, ImportError> {
        let hex = id.to_string();
        let path = format!("objects/{}/{}", &hex[..2], &hex[2..]);
        let Some(file) = self.files.open(&path, taker)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let room = at_most.saturating_add(LOOSE_HEAD_BYTES);
        ZlibDecoder::new(BufReader::new(file)).take(room + 1).read_to_end(&mut bytes).map_err(import_error)?;
        self.unpacked += bytes.len() as u64;
        if bytes.len() as u64 > room {
            return Err(ImportError::TooLarge(format!("an object: {}", bounds::byte_limit_text(at_most))));
        }
        let end = bytes.iter().take(LOOSE_HEAD_BYTES as usize).position(|byte| *byte == 0);
        let head = end.and_then(|end| std::str::from_utf8(&bytes[..end]).ok()?.split_once(' '));
        let kinds = [ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob];
        let kind = head.and_then(|(name, _)| kinds.into_iter().find(|kind| kind.name() == name));
        match (kind, end) {
            (Some(kind), Some(end)) => Ok(Some((kind, bytes.split_off(end + 1)))),
            _ => Err(ImportError::Damaged(format!("the object {id} is not readable"))),
        }
    }
}

impl BlobSource for ObjectStore<'_> {
    fn read_blob(&mut self, id: &ObjectId, at_most: u64, taker: &mut dyn ImportSink) -> Result<Vec<u8>, ImportError> {
        self.find(id, ObjectKind::Blob, at_most, taker)?.ok_or_else(|| missing(id))
    }
}

/// The error for an object that a commit needs.
pub(super) fn missing(id: &ObjectId) -> ImportError {
    ImportError::Damaged(format!("the object {id} is missing; import a full clone or the exported repository itself"))
}
