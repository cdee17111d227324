//! Rows of an imported chat: the commits contain the turns and the links between them, the metadata files the rest.
//! Data that a clone lacks gets defaults.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha1::{Digest, Sha1};
use uuid::Uuid;

use super::metadata::{BranchManifest, StoredLocks, StoredMetadata};
use crate::archive::ArchivedBranch;
use crate::domain::turns::exchange::ModelParams;
use crate::domain::{
    Branch, BranchId, BranchOrigin, Chat, ChatId, Exchange, ExchangeId, ExchangeKind, ModelLock, Role, TurnId, UserId,
};

/// The facts about a turn that other rows refer to.
#[derive(Debug, Clone)]
pub(super) struct TurnFacts {
    pub id: TurnId,
    pub chat: ChatId,
    pub ord: i64,
    /// Parent and depth as the commits have them.
    pub prev: Option<TurnId>,
    pub depth: i64,
    pub branch: BranchId,
    pub exchange: ExchangeId,
    pub role: Role,
    pub has_reasoning: bool,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
}

/// Everything that is known about a chat before its rows are built.
pub(super) struct ChatSource<'s> {
    /// By position: a parent precedes its children.
    pub turns: &'s [TurnFacts],
    /// The names of the branches with the last turns of their paths.
    pub tips: &'s [(String, TurnId)],
    /// The name of the branch that was shown.
    pub head: Option<&'s str>,
    pub title: String,
    pub manifests: &'s HashMap<BranchId, BranchManifest>,
    pub metadata: &'s StoredMetadata,
    pub locks: &'s StoredLocks,
    /// The lock of branches for which the repository names none.
    pub default_lock: &'s ModelLock,
    /// Returns the default model of a provider that exists here.
    pub default_model: &'s dyn Fn(&str) -> Option<String>,
}

/// The rows, and the names of the branches that got the default lock, and those that got the default model.
pub(super) struct RestoredChatRows {
    pub chat: Chat,
    pub branches: Vec<ArchivedBranch>,
    pub exchanges: Vec<Exchange>,
    pub without_lock: Vec<String>,
    pub without_model: Vec<String>,
}

impl ChatSource<'_> {
    /// Builds the rows. `None` if the repository contains no chat of Turnleaf.
    pub fn build_rows(&self) -> Option<RestoredChatRows> {
        let chat = self.chat()?;
        let mut rows = RestoredChatRows {
            branches: Vec::new(),
            exchanges: Vec::new(),
            without_lock: Vec::new(),
            without_model: Vec::new(),
            chat,
        };
        self.add_branches(&mut rows);
        rows.exchanges = self.exchanges(&rows.chat, &rows.branches);
        Some(rows)
    }

    fn chat(&self) -> Option<Chat> {
        let (first, last) = (self.turns.first(), self.turns.last());
        let created_at = first.map_or_else(DateTime::default, |turn| turn.created_at);
        let tip = self.tips.iter().find(|(name, _)| Some(name.as_str()) == self.head).map(|(_, turn)| *turn);
        let id = first.map_or(ChatId::from_uuid(Uuid::nil()), |turn| turn.chat);
        let default = Chat {
            title: self.title.clone(),
            default_branch_id: first.map(|turn| turn.branch),
            last_viewed_turn_id: tip.or(last.map(|turn| turn.id)),
            rev: 1,
            updated_at: last.map_or(created_at, |turn| turn.completed_at.unwrap_or(turn.created_at)),
            ..Chat::new(id, UserId::from_uuid(Uuid::nil()), created_at)
        };
        let mut chat = overlay(&default, &self.metadata.chat).unwrap_or(default);
        chat.copied_from_turn_id = None;
        if let Some(first) = first {
            chat.id = first.chat;
        }
        (!chat.id.uuid().is_nil()).then_some(chat)
    }

    /// Returns the lock that the repository has of a branch. An entry without a model has that of the manifest, if the
    /// provider is the same.
    fn stored_lock(&self, name: &str, manifest: Option<&BranchManifest>) -> Option<ModelLock> {
        let of_manifest = manifest.map(|manifest| manifest.lock.clone());
        match self.locks.find(name) {
            None => of_manifest,
            Some(named) if named.model.is_empty() => {
                of_manifest.filter(|lock| lock.provider == named.provider).or(Some(named))
            }
            Some(whole) => Some(whole),
        }
    }

    fn add_branches(&self, rows: &mut RestoredChatRows) {
        let chat = &rows.chat;
        let outline = self.outline(chat);
        let known: HashSet<BranchId> = outline.iter().map(|branch| branch.id).collect();
        let branch_of: HashMap<TurnId, BranchId> = self.turns.iter().map(|turn| (turn.id, turn.branch)).collect();
        for BranchOutline { id, name, entry, first, last, tip } in outline {
            let name = name.unwrap_or("branch");
            let manifest = self.manifests.get(&id);
            let lock = self.stored_lock(name, manifest);
            let lock = lock.unwrap_or_else(|| ModelLock::new("", ""));
            let created_at = first.map_or(chat.created_at, |turn| turn.created_at);
            let default = Branch { fork_turn_id: tip, ..Branch::new(id, chat.id, name, lock, created_at) };
            let stored = entry.and_then(|entry| overlay(&default, entry));
            let mut branch = stored.clone().unwrap_or(default);
            if branch.lock.model.is_empty()
                && let Some(model) = (self.default_model)(&branch.lock.provider)
            {
                rows.without_model.push(branch.name.clone());
                branch.lock.model = model;
            }
            if branch.lock.provider.is_empty() || branch.lock.model.is_empty() {
                rows.without_lock.push(branch.name.clone());
                branch.lock = self.default_lock.clone();
            }
            (branch.id, branch.chat_id, branch.head_turn_id) = (id, chat.id, last.map(|turn| turn.id));
            branch.fork_turn_id = match first {
                Some(first) => first.prev,
                None => branch.fork_turn_id.filter(|turn| branch_of.contains_key(turn)).or(tip),
            };
            let above = branch.fork_turn_id.and_then(|turn| branch_of.get(&turn)).copied();
            let is_other = |parent: &BranchId| *parent != id && known.contains(parent);
            branch.parent_branch_id = branch.parent_branch_id.or(above).filter(is_other);
            if stored.is_none() && branch.fork_turn_id.is_some() {
                branch.origin = BranchOrigin::Fork;
            }
            let system_prompt = manifest.map(|manifest| manifest.system_prompt.clone()).unwrap_or_default();
            rows.branches.push(ArchivedBranch { branch, system_prompt, tools: None, server_instructions: Vec::new() });
        }
    }

    /// Lists the branches: those of the metadata, those of turns, and those that only a ref names.
    fn outline(&self, chat: &Chat) -> Vec<BranchOutline<'_>> {
        let mut outline: Vec<BranchOutline<'_>> = Vec::new();
        let mut at: HashMap<BranchId, usize> = HashMap::new();
        let mut taken: HashSet<&str> = HashSet::new();
        let tip_of: HashMap<&str, TurnId> = self.tips.iter().map(|(name, turn)| (name.as_str(), *turn)).collect();
        for (name, entry) in &self.metadata.branches {
            let id = entry.get("id").and_then(|id| serde_json::from_value::<BranchId>(id.clone()).ok());
            if let Some(id) = id.filter(|id| !at.contains_key(id)) {
                taken.insert(name);
                at.insert(id, outline.len());
                let tip = tip_of.get(name.as_str()).copied();
                outline.push(BranchOutline { name: Some(name), entry: Some(entry), tip, ..BranchOutline::new(id) });
            }
        }
        for turn in self.turns {
            let number = *at.entry(turn.branch).or_insert(outline.len());
            if number == outline.len() {
                outline.push(BranchOutline::new(turn.branch));
            }
            if let Some(branch) = outline.get_mut(number) {
                branch.first = branch.first.or(Some(turn));
                branch.last = Some(turn);
            }
        }
        // The branch that was shown comes first, because several names may point to one turn.
        let mut tips: Vec<&(String, TurnId)> = self.tips.iter().collect();
        tips.sort_by_key(|(name, _)| Some(name.as_str()) != self.head);
        let mut by_last: HashMap<TurnId, usize> = HashMap::new();
        for (number, branch) in outline.iter().enumerate() {
            by_last.extend(branch.last.filter(|_| branch.name.is_none()).map(|turn| (turn.id, number)));
        }
        for (name, tip) in &tips {
            if !taken.contains(name.as_str())
                && let Some(branch) = by_last.get(tip).and_then(|number| outline.get_mut(*number))
                && branch.name.is_none()
            {
                taken.insert(name);
                branch.name = Some(name);
            }
        }
        for (name, tip) in tips {
            if taken.insert(name) {
                let id = branch_id(chat.id, name);
                if !at.contains_key(&id) {
                    outline.push(BranchOutline { name: Some(name), tip: Some(*tip), ..BranchOutline::new(id) });
                }
            }
        }
        outline
    }

    fn exchanges(&self, chat: &Chat, branches: &[ArchivedBranch]) -> Vec<Exchange> {
        let stored: HashMap<ExchangeId, &Exchange> =
            self.metadata.exchanges.iter().map(|exchange| (exchange.id, exchange)).collect();
        let listed: HashSet<BranchId> = branches.iter().map(|of| of.branch.id).collect();
        let messages: HashSet<TurnId> =
            self.turns.iter().filter(|turn| turn.role == Role::User).map(|turn| turn.id).collect();
        let mut order: Vec<ExchangeId> = Vec::new();
        let mut members: HashMap<ExchangeId, Vec<&TurnFacts>> = HashMap::new();
        for turn in self.turns {
            let of = members.entry(turn.exchange).or_default();
            if of.is_empty() {
                order.push(turn.exchange);
            }
            of.push(turn);
        }
        let build = |id: ExchangeId| {
            let of = members.get(&id)?;
            let first = of.first()?;
            let reply = of.iter().find(|turn| turn.role == Role::Assistant);
            let message = of.iter().find(|turn| turn.role == Role::User).map(|turn| turn.id);
            let answered = reply.and_then(|reply| reply.prev).filter(|turn| messages.contains(turn));
            let user_turn_id = if reply.is_some() { answered } else { message };
            let kind = match (message, user_turn_id) {
                (Some(_), _) => ExchangeKind::Send,
                (None, Some(_)) => ExchangeKind::Regenerate,
                (None, None) => ExchangeKind::Continue,
            };
            let default = Exchange {
                id,
                chat_id: chat.id,
                branch_id: first.branch,
                user_turn_id,
                kind,
                is_thinking_mode: of.iter().any(|turn| turn.has_reasoning),
                params: ModelParams::default(),
                not_sent: Vec::new(),
                client_request_id: None,
                created_at: first.created_at,
            };
            let Some(stored) = stored.get(&id) else { return Some(default) };
            let mut exchange = (*stored).clone();
            (exchange.chat_id, exchange.client_request_id) = (chat.id, None);
            if !listed.contains(&exchange.branch_id) {
                exchange.branch_id = default.branch_id;
            }
            let is_known = exchange.user_turn_id.is_none_or(|turn| messages.contains(&turn));
            if !is_known || (reply.is_some() && exchange.user_turn_id.is_some_and(|turn| Some(turn) != answered)) {
                exchange.user_turn_id = default.user_turn_id;
            }
            Some(exchange)
        };
        order.into_iter().filter_map(build).collect()
    }
}

/// A branch with its sources.
struct BranchOutline<'s> {
    id: BranchId,
    /// The name of its ref.
    name: Option<&'s str>,
    /// Its entry in the metadata.
    entry: Option<&'s Value>,
    first: Option<&'s TurnFacts>,
    last: Option<&'s TurnFacts>,
    /// The turn of its ref.
    tip: Option<TurnId>,
}

impl BranchOutline<'_> {
    fn new(id: BranchId) -> Self {
        Self { id, name: None, entry: None, first: None, last: None, tip: None }
    }
}

/// Returns the id of a branch that only has a name: the same for every import.
fn branch_id(chat: ChatId, name: &str) -> BranchId {
    let hash: [u8; 20] = Sha1::new().chain_update(chat.uuid()).chain_update(name).finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    BranchId::from_uuid(uuid::Builder::from_custom_bytes(bytes).into_uuid())
}

/// Replaces the members of a default value by stored ones. `None` if these are not valid.
fn overlay<T: Serialize + DeserializeOwned>(default: &T, stored: &Value) -> Option<T> {
    let mut value = serde_json::to_value(default).ok()?;
    value.as_object_mut()?.extend(stored.as_object()?.clone());
    serde_json::from_value(value).ok()
}
