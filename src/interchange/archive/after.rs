//! A call whose request is nearly that of an earlier call of its chat: written as what it has of its own. Each message of a
//! long chat sends the chat again; written whole, they would be as long together as the square of it.

use std::collections::VecDeque;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::{ArchivedGeneration, Bytes};
use crate::bounds;
use crate::domain::GenerationId;
use crate::domain::alike::{Alike, is_nearly_all, is_short};

/// The list of a manifest that grows with its chat.
const TURNS: &str = "turns";

/// What stands in `after` of a call. Its `request` is then only the bytes between those that are the earlier one's, and the
/// `turns` of its `request_manifest` are only those behind as many of the earlier one's.
#[derive(Serialize, Deserialize)]
pub(super) struct After {
    /// The earlier call, which is written whole.
    generation: GenerationId,
    request: Alike,
    turns: usize,
}

/// A call as it is written.
#[derive(Serialize)]
struct Written<'c> {
    #[serde(flatten)]
    call: &'c ArchivedGeneration,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<After>,
}

/// Calls of the chat that is being written, as they were written whole: the one that was used last is the last, and there are
/// not too many of them.
#[derive(Debug, Default)]
pub(super) struct Bases(VecDeque<Base>);

#[derive(Debug)]
struct Base {
    id: GenerationId,
    /// Provider and model: another one's differs from its first bytes on.
    of: (String, String),
    request: Vec<u8>,
    /// Those of its manifest, each as its JSON.
    turns: Vec<String>,
    /// What is written of calls after this one.
    spent: usize,
}

impl Bases {
    /// Writes a call: whole, or after one that has nearly all of it.
    pub fn write(&mut self, out: &mut impl Write, mut call: ArchivedGeneration) -> io::Result<()> {
        let turns = call.request_manifest.get(TURNS).and_then(Value::as_array);
        let turns: Vec<String> = turns.into_iter().flatten().map(Value::to_string).collect();
        if is_short(call.request.0.len() + turns.iter().map(String::len).sum::<usize>()) {
            return Ok(serde_json::to_writer(out, &call)?);
        }
        let of = (call.provider.clone(), call.model_requested.clone());
        let at = self.0.iter().rposition(|base| base.of == of && base.has_nearly_all_of(&call, &turns));
        let Some(mut base) = at.and_then(|at| self.0.remove(at)) else {
            serde_json::to_writer(out, &call)?;
            self.keep(Base { id: call.id, of, request: call.request.0, turns, spent: 0 });
            return Ok(());
        };
        let after = base.before(&call, &turns);
        base.spent += after.own(&call, &turns);
        call.request.0 = call.request.0[after.request.own(call.request.0.len())].to_vec();
        if let Some(turns) = call.request_manifest.get_mut(TURNS).and_then(Value::as_array_mut) {
            turns.drain(..after.turns);
        }
        self.0.push_back(base);
        Ok(serde_json::to_writer(out, &Written { call: &call, after: Some(after) })?)
    }

    /// What is remembered is one chat's.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn keep(&mut self, base: Base) {
        if base.weight() > bounds::BASES_BYTES {
            return;
        }
        self.0.push_back(base);
        while self.0.iter().map(Base::weight).sum::<usize>() > bounds::BASES_BYTES {
            self.0.pop_front();
        }
    }
}

impl Base {
    fn weight(&self) -> usize {
        self.request.len() + self.turns.iter().map(|turn| turn.len() + size_of::<String>()).sum::<usize>()
    }

    fn before(&self, call: &ArchivedGeneration, turns: &[String]) -> After {
        let turns = self.turns.iter().zip(turns).take_while(|(was, is)| was == is).count();
        After { generation: self.id, request: Alike::of(&self.request, &call.request.0), turns }
    }

    /// Once what is written after this one is as much as this one, the next is a base: each call has more of its own than
    /// the one before it, so that is when both together are the least.
    fn has_nearly_all_of(&self, call: &ArchivedGeneration, turns: &[String]) -> bool {
        let own = self.before(call, turns).own(call, turns);
        let whole = call.request.0.len() + turns.iter().map(String::len).sum::<usize>();
        self.spent + own <= self.weight() && is_nearly_all(own, whole)
    }
}

/// A call that others are written after, as far as they are put together from it.
#[derive(Deserialize)]
pub(super) struct Before {
    request: Bytes,
    request_manifest: BeforeManifest,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BeforeManifest {
    turns: Vec<Value>,
}

impl After {
    /// How much of the call is its own, in bytes.
    fn own(&self, call: &ArchivedGeneration, turns: &[String]) -> usize {
        self.request.own(call.request.0.len()).len() + turns[self.turns..].iter().map(String::len).sum::<usize>()
    }

    /// The call whole again, with the one that it was written after.
    ///
    /// # Errors
    /// That one is too short for it, or both are too long.
    pub fn put_together(self, call: &mut ArchivedGeneration, before: &Before) -> Result<(), Error> {
        let wrong = |why| Err(serde::de::Error::custom(why));
        if self.request.head.saturating_add(self.request.tail).saturating_add(call.request.0.len())
            > bounds::REQUEST_BYTES
        {
            return wrong("the request is too long when it is whole");
        }
        let Some(request) = self.request.whole(&call.request.0, &before.request.0) else {
            return wrong("what it is written after is too short for it");
        };
        call.request.0 = request;
        if self.turns == 0 {
            return Ok(());
        }
        let own = call.request_manifest.get_mut(TURNS).and_then(Value::as_array_mut);
        match (own, before.request_manifest.turns.get(..self.turns)) {
            (Some(own), Some(first)) => drop(own.splice(..0, first.iter().cloned())),
            _ => return wrong("what it is written after names too few turns for it"),
        }
        Ok(())
    }
}

/// A call as it is read, as far as it is put together.
#[derive(Deserialize)]
pub(super) struct Read {
    pub after: After,
}
