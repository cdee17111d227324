//! Delta encoding of requests: a request that mostly repeats an earlier one of its chat is written as the difference.
//! Each message of a long chat sends the whole chat again, so whole requests would grow quadratically.

use std::collections::VecDeque;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::{ArchivedBytes, ArchivedGeneration};
use crate::bounds;
use crate::domain::GenerationId;
use crate::domain::encoding::byte_delta::{ByteDelta, is_delta_worthwhile, is_too_short_for_delta};

/// The list within a manifest that grows with its chat.
const MANIFEST_TURNS: &str = "turns";

/// The member `after` of a generation. With it, `request` contains only the bytes between the prefix and the suffix
/// shared with the base, and the `turns` of `request_manifest` only those after the shared ones.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestDelta {
    /// The base: an earlier generation that is written whole.
    generation: GenerationId,
    request: ByteDelta,
    turns: usize,
}

/// A generation as it is written.
#[derive(Serialize)]
struct CallWithDelta<'c> {
    #[serde(flatten)]
    call: &'c ArchivedGeneration,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<RequestDelta>,
}

/// Delta bases of the chat that is being written: an LRU cache with a size limit, most recently used last.
#[derive(Debug, Default)]
pub(super) struct DeltaBases(VecDeque<DeltaBase>);

#[derive(Debug)]
struct DeltaBase {
    id: GenerationId,
    /// Provider and model; requests to another model differ from the first bytes on.
    of: (String, String),
    request: Vec<u8>,
    /// The turns of its manifest, each as JSON.
    turns: Vec<String>,
    /// Size of the deltas that were written against this base.
    spent: usize,
}

impl DeltaBases {
    /// Writes a generation: whole, or as a delta against a base that contains nearly all of it.
    pub fn write(&mut self, out: &mut impl Write, mut call: ArchivedGeneration) -> io::Result<()> {
        let turns = call.request_manifest.get(MANIFEST_TURNS).and_then(Value::as_array);
        let turns: Vec<String> = turns.into_iter().flatten().map(Value::to_string).collect();
        if is_too_short_for_delta(call.request.0.len() + turns.iter().map(String::len).sum::<usize>()) {
            return Ok(serde_json::to_writer(out, &call)?);
        }
        let of = (call.provider.clone(), call.model_requested.clone());
        let at = self.0.iter().rposition(|base| base.of == of && base.has_nearly_all_of(&call, &turns));
        let Some(mut base) = at.and_then(|at| self.0.remove(at)) else {
            serde_json::to_writer(out, &call)?;
            self.keep(DeltaBase { id: call.id, of, request: call.request.0, turns, spent: 0 });
            return Ok(());
        };
        let after = base.delta_for(&call, &turns);
        base.spent += after.own_bytes(&call, &turns);
        call.request.0 = call.request.0[after.request.own_range(call.request.0.len())].to_vec();
        if let Some(turns) = call.request_manifest.get_mut(MANIFEST_TURNS).and_then(Value::as_array_mut) {
            turns.drain(..after.turns);
        }
        self.0.push_back(base);
        Ok(serde_json::to_writer(out, &CallWithDelta { call: &call, after: Some(after) })?)
    }

    /// Drops all bases, because they belong to one chat.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn keep(&mut self, base: DeltaBase) {
        if base.weight() > bounds::DELTA_BASE_BYTES {
            return;
        }
        self.0.push_back(base);
        while self.0.iter().map(DeltaBase::weight).sum::<usize>() > bounds::DELTA_BASE_BYTES {
            self.0.pop_front();
        }
    }
}

impl DeltaBase {
    fn weight(&self) -> usize {
        self.request.len() + self.turns.iter().map(|turn| turn.len() + size_of::<String>()).sum::<usize>()
    }

    fn delta_for(&self, call: &ArchivedGeneration, turns: &[String]) -> RequestDelta {
        let turns = self.turns.iter().zip(turns).take_while(|(was, is)| was == is).count();
        RequestDelta { generation: self.id, request: ByteDelta::new(&self.request, &call.request.0), turns }
    }

    /// Returns whether a delta against this base is worthwhile. A base is replaced once its deltas are as large as
    /// the base itself: each request differs more than the one before, so this keeps the sum of bases and deltas
    /// minimal.
    fn has_nearly_all_of(&self, call: &ArchivedGeneration, turns: &[String]) -> bool {
        let own = self.delta_for(call, turns).own_bytes(call, turns);
        let whole = call.request.0.len() + turns.iter().map(String::len).sum::<usize>();
        self.spent + own <= self.weight() && is_delta_worthwhile(own, whole)
    }
}

/// The parts of a base that reassembly needs.
#[derive(Deserialize)]
pub(super) struct BaseRequest {
    request: ArchivedBytes,
    request_manifest: BaseManifest,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BaseManifest {
    turns: Vec<Value>,
}

impl RequestDelta {
    /// Returns the size of the delta in bytes.
    fn own_bytes(&self, call: &ArchivedGeneration, turns: &[String]) -> usize {
        self.request.own_range(call.request.0.len()).len() + turns[self.turns..].iter().map(String::len).sum::<usize>()
    }

    /// Reassembles the request from the delta and its base.
    ///
    /// # Errors
    /// The base is too short for the delta, or the result is too long.
    pub fn apply(self, call: &mut ArchivedGeneration, before: &BaseRequest) -> Result<(), Error> {
        let wrong = |reason| Err(serde::de::Error::custom(reason));
        if self.request.head.saturating_add(self.request.tail).saturating_add(call.request.0.len())
            > bounds::REQUEST_BYTES
        {
            return wrong("the full request is too long");
        }
        let Some(request) = self.request.apply(&call.request.0, &before.request.0) else {
            return wrong("its base is too short");
        };
        call.request.0 = request;
        if self.turns == 0 {
            return Ok(());
        }
        let own = call.request_manifest.get_mut(MANIFEST_TURNS).and_then(Value::as_array_mut);
        match (own, before.request_manifest.turns.get(..self.turns)) {
            (Some(own), Some(first)) => drop(own.splice(..0, first.iter().cloned())),
            _ => return wrong("its base has too few turns"),
        }
        Ok(())
    }
}

/// The delta of a generation, parsed for reassembly.
#[derive(Deserialize)]
pub(super) struct ParsedDelta {
    pub after: RequestDelta,
}
