//! A call whose request is nearly that of an earlier call of its chat: written as what it has of its own. Each message of a
//! long chat sends the chat again; written whole, they would be as long together as the square of it.

use std::collections::VecDeque;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::{ArchivedBytes, ArchivedGeneration};
use crate::bounds;
use crate::domain::GenerationId;
use crate::domain::byte_delta::{ByteDelta, is_delta_worthwhile, is_too_short_for_delta};

/// The list of a manifest that grows with its chat.
const MANIFEST_TURNS: &str = "turns";

/// What stands in `after` of a call. Its `request` is then only the bytes between those that are the earlier one's, and the
/// `turns` of its `request_manifest` are only those behind as many of the earlier one's.
#[derive(Serialize, Deserialize)]
pub(super) struct RequestDelta {
    /// The earlier call, which is written whole.
    generation: GenerationId,
    request: ByteDelta,
    turns: usize,
}

/// A call as it is written.
#[derive(Serialize)]
struct CallWithDelta<'c> {
    #[serde(flatten)]
    call: &'c ArchivedGeneration,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<RequestDelta>,
}

/// Calls of the chat that is being written, as they were written whole: the one that was used last is the last, and there are
/// not too many of them.
#[derive(Debug, Default)]
pub(super) struct DeltaBases(VecDeque<DeltaBase>);

#[derive(Debug)]
struct DeltaBase {
    id: GenerationId,
    /// Provider and model: another one's differs from its first bytes on.
    of: (String, String),
    request: Vec<u8>,
    /// Those of its manifest, each as its JSON.
    turns: Vec<String>,
    /// What is written of calls after this one.
    spent: usize,
}

impl DeltaBases {
    /// Writes a call: whole, or after one that has nearly all of it.
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

    /// What is remembered is one chat's.
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

    /// Once what is written after this one is as much as this one, the next is a base: each call has more of its own than
    /// the one before it, so that is when both together are the least.
    fn has_nearly_all_of(&self, call: &ArchivedGeneration, turns: &[String]) -> bool {
        let own = self.delta_for(call, turns).own_bytes(call, turns);
        let whole = call.request.0.len() + turns.iter().map(String::len).sum::<usize>();
        self.spent + own <= self.weight() && is_delta_worthwhile(own, whole)
    }
}

/// A call that others are written after, as far as they are put together from it.
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
    /// How much of the call is its own, in bytes.
    fn own_bytes(&self, call: &ArchivedGeneration, turns: &[String]) -> usize {
        self.request.own_range(call.request.0.len()).len() + turns[self.turns..].iter().map(String::len).sum::<usize>()
    }

    /// The call whole again, with the one that it was written after.
    ///
    /// # Errors
    /// That one is too short for it, or both are too long.
    pub fn apply(self, call: &mut ArchivedGeneration, before: &BaseRequest) -> Result<(), Error> {
        let wrong = |why| Err(serde::de::Error::custom(why));
        if self.request.head.saturating_add(self.request.tail).saturating_add(call.request.0.len())
            > bounds::REQUEST_BYTES
        {
            return wrong("the request is too long when it is whole");
        }
        let Some(request) = self.request.apply(&call.request.0, &before.request.0) else {
            return wrong("what it is written after is too short for it");
        };
        call.request.0 = request;
        if self.turns == 0 {
            return Ok(());
        }
        let own = call.request_manifest.get_mut(MANIFEST_TURNS).and_then(Value::as_array_mut);
        match (own, before.request_manifest.turns.get(..self.turns)) {
            (Some(own), Some(first)) => drop(own.splice(..0, first.iter().cloned())),
            _ => return wrong("what it is written after names too few turns for it"),
        }
        Ok(())
    }
}

/// A call as it is read, as far as it is put together.
#[derive(Deserialize)]
pub(super) struct ParsedDelta {
    pub after: RequestDelta,
}
