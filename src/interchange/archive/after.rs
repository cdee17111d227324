//! A call whose request is nearly that of an earlier call of its chat: written as what it has of its own. Each message of a
//! long chat sends the chat again; written whole, they would be as long together as the square of it.

use std::collections::VecDeque;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::{ArchivedGeneration, Bytes};
use crate::bounds;
use crate::domain::GenerationId;
use crate::domain::alike::{Alike, is_nearly_all, is_short};

/// What stands in `after` of a call. Its `request` is then only the bytes between those that are the earlier one's, and its
/// `request_manifest` is null.
#[derive(Serialize, Deserialize)]
pub(super) struct After {
    /// The earlier call, which is written whole.
    generation: GenerationId,
    request: Alike,
    manifest: Manifest,
}

/// The same of the manifest, as compact JSON.
#[derive(Serialize, Deserialize)]
struct Manifest {
    #[serde(flatten)]
    alike: Alike,
    own: Bytes,
}

/// A call as it is written, as far as it is put together.
#[derive(Deserialize)]
pub(super) struct Written {
    pub after: After,
}

/// Calls of the chat that is being written, as they were written whole: the newest last, and not too much of them.
#[derive(Debug, Default)]
pub(super) struct Bases(VecDeque<Base>);

#[derive(Debug)]
struct Base {
    id: GenerationId,
    /// Provider and model: another one's differs from its first bytes on.
    of: (String, String),
    request: Vec<u8>,
    manifest: Vec<u8>,
}

impl Bases {
    /// The call as it is written: whole, or after the newest of those that have nearly all of it.
    pub fn write(&mut self, mut call: ArchivedGeneration) -> io::Result<Vec<u8>> {
        let manifest = serde_json::to_vec(&call.request_manifest)?;
        if is_short(&call.request.0, &manifest) {
            return Ok(serde_json::to_vec(&call)?);
        }
        let of = (call.provider.clone(), call.model_requested.clone());
        let found = self.0.iter().rev().filter(|base| base.of == of).find_map(|base| base.before(&call, &manifest));
        let Some(after) = found else {
            let text = serde_json::to_vec(&call)?;
            self.keep(Base { id: call.id, of, request: call.request.0, manifest });
            return Ok(text);
        };
        call.request.0 = call.request.0[after.request.own(call.request.0.len())].to_vec();
        call.request_manifest = Value::Null;
        let mut text = serde_json::to_vec(&call)?;
        // Its last member.
        text.pop();
        text.extend_from_slice(b",\"after\":");
        serde_json::to_writer(&mut text, &after)?;
        text.push(b'}');
        Ok(text)
    }

    /// What is remembered is one chat's.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn keep(&mut self, base: Base) {
        self.0.push_back(base);
        while self.0.iter().map(Base::weight).sum::<usize>() > bounds::BASES_BYTES {
            self.0.pop_front();
        }
    }
}

impl Base {
    fn weight(&self) -> usize {
        self.request.len() + self.manifest.len()
    }

    fn before(&self, call: &ArchivedGeneration, manifest: &[u8]) -> Option<After> {
        let (request, alike) = (Alike::of(&self.request, &call.request.0), Alike::of(&self.manifest, manifest));
        let (of_request, of_manifest) = (request.own(call.request.0.len()), alike.own(manifest.len()));
        let whole = call.request.0.len() + manifest.len();
        is_nearly_all(of_request.len() + of_manifest.len(), whole).then(|| After {
            generation: self.id,
            request,
            manifest: Manifest { alike, own: Bytes(manifest[of_manifest].to_vec()) },
        })
    }
}

impl After {
    /// The call whole again, with the one that it was written after.
    ///
    /// # Errors
    /// That one is too short for it, or the manifest is no JSON.
    pub fn put_together(self, call: &mut ArchivedGeneration, base: &ArchivedGeneration) -> Result<(), Error> {
        let too_short = || serde::de::Error::custom("what it is written after is too short for it");
        call.request.0 = self.request.whole(&call.request.0, &base.request.0).ok_or_else(too_short)?;
        let Manifest { alike, own } = self.manifest;
        let manifest = alike.whole(&own.0, &serde_json::to_vec(&base.request_manifest)?).ok_or_else(too_short)?;
        call.request_manifest = serde_json::from_slice(&manifest)?;
        Ok(())
    }
}
