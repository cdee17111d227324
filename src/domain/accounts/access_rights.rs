//! Access rights of accounts to shared resources of the server (docs/adr/0098-groups-and-grants.md): models of shared
//! providers and the tool servers of the configuration file. A rule names the audience of one of these; without a rule,
//! it has its default.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::branches::branch::ModelLock;
use crate::id::{GroupId, UserId};

/// The subject of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GrantTarget {
    /// The models of a shared provider that have no rule of their own.
    Provider(String),
    /// One model of a shared provider.
    Model(ModelLock),
    /// A tool server of the configuration file.
    ToolServer(String),
}

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantKind {
    /// All models of a provider that have no rule of their own.
    Provider,
    Model,
    ToolServer,
}

impl GrantKind {
    pub const ALL: [Self; 3] = [Self::Provider, Self::Model, Self::ToolServer];

    /// Returns its word in the database, in JSON and in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Model => "model",
            Self::ToolServer => "tool_server",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl GrantTarget {
    /// Returns a target from its parts; `None` if they do not fit. `model` is empty for all but models.
    pub fn from_parts(kind: GrantKind, id: &str, model: &str) -> Option<Self> {
        match kind {
            _ if id.is_empty() => None,
            GrantKind::Provider if model.is_empty() => Some(Self::Provider(id.to_owned())),
            GrantKind::Model if !model.is_empty() => Some(Self::Model(ModelLock::new(id, model))),
            GrantKind::ToolServer if model.is_empty() => Some(Self::ToolServer(id.to_owned())),
            _ => None,
        }
    }

    pub fn kind(&self) -> GrantKind {
        match self {
            Self::Provider(_) => GrantKind::Provider,
            Self::Model(_) => GrantKind::Model,
            Self::ToolServer(_) => GrantKind::ToolServer,
        }
    }

    /// Returns the id of the provider or of the tool server.
    pub fn id(&self) -> &str {
        match self {
            Self::Provider(id) | Self::ToolServer(id) => id,
            Self::Model(lock) => &lock.provider,
        }
    }

    /// Returns the name of the model; empty for other kinds.
    pub fn model(&self) -> &str {
        match self {
            Self::Model(lock) => &lock.model,
            Self::Provider(_) | Self::ToolServer(_) => "",
        }
    }

    /// Returns its name in the audit log.
    pub fn label(&self) -> String {
        match self {
            Self::Provider(provider) => format!("{provider}/*"),
            Self::Model(lock) => format!("{}/{}", lock.provider, lock.model),
            Self::ToolServer(server) => format!("tools: {server}"),
        }
    }
}

/// Scope of a target's audience, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AudienceScope {
    Everybody,
    /// Only for the groups and accounts that are listed.
    Listed,
}

/// The people that a target is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantAudience {
    pub everybody: bool,
    pub groups: BTreeSet<GroupId>,
    pub accounts: BTreeSet<UserId>,
}

impl GrantAudience {
    /// Returns the audience of everybody.
    pub fn everybody() -> Self {
        Self { everybody: true, ..Self::default() }
    }
}

/// The rules of a shared provider.
#[derive(Debug, Clone, Default)]
struct ProviderRules {
    /// That of the models without one of their own.
    others: Option<GrantAudience>,
    models: HashMap<String, GrantAudience>,
}

/// The rights of all accounts, as they are checked. The default grants all models and no tool server.
#[derive(Debug, Clone, Default)]
pub struct AccessRights {
    owner: Option<UserId>,
    providers: HashMap<String, ProviderRules>,
    tool_servers: HashMap<String, GrantAudience>,
    groups_of: HashMap<UserId, HashSet<GroupId>>,
    /// Disabled accounts call nothing, also nothing of their own.
    disabled: HashSet<UserId>,
    is_incomplete: bool,
}

impl AccessRights {
    /// Returns the rights of accounts. The owner may use everything, and so everything is granted on a server without
    /// accounts. If `is_incomplete`, because a rule could not be read, nothing is granted that has no rule of its own.
    pub fn new(
        owner: UserId,
        rules: impl IntoIterator<Item = (GrantTarget, GrantAudience)>,
        members: impl IntoIterator<Item = (GroupId, UserId)>,
        is_incomplete: bool,
    ) -> Self {
        let mut rights = Self { owner: Some(owner), is_incomplete, ..Self::default() };
        for (target, audience) in rules {
            match target {
                GrantTarget::Provider(provider) => {
                    rights.providers.entry(provider).or_default().others = Some(audience);
                }
                GrantTarget::Model(ModelLock { provider, model }) => {
                    rights.providers.entry(provider).or_default().models.insert(model, audience);
                }
                GrantTarget::ToolServer(server) => {
                    rights.tool_servers.insert(server, audience);
                }
            }
        }
        for (group, user) in members {
            rights.groups_of.entry(user).or_default().insert(group);
        }
        rights
    }

    /// Returns the same rights, without these accounts, which are disabled.
    #[must_use]
    pub fn without_disabled(self, disabled: impl IntoIterator<Item = UserId>) -> Self {
        Self { disabled: disabled.into_iter().collect(), ..self }
    }

    /// Returns whether an account is disabled, so that it calls no model and no tool server.
    pub fn is_disabled(&self, user: UserId) -> bool {
        self.disabled.contains(&user)
    }

    /// Returns whether an account may use a model of a shared provider. The rule of the model counts alone if there is
    /// one, else that of its provider, else it is for everybody. A name that the provider does not list may be another
    /// name of a model that it lists, so an account to which one of these is closed has no such name.
    pub fn may_use_model(&self, user: UserId, (provider, model): (&str, &str), is_listed: bool) -> bool {
        let rules = self.providers.get(provider);
        if let Some(rule) = rules.and_then(|rules| rules.models.get(model)) {
            return self.is_owner(user) || self.is_in(rule, user);
        }
        let is_closed = |rules: &ProviderRules| rules.models.values().any(|rule| !self.is_in(rule, user));
        self.is_owner(user) || (self.may_use_others(user, rules) && (is_listed || !rules.is_some_and(is_closed)))
    }

    /// Returns whether an account may use any model of a shared provider.
    pub fn may_use_provider(&self, user: UserId, provider: &str) -> bool {
        let rules = self.providers.get(provider);
        let has_model = |rules: &ProviderRules| rules.models.values().any(|rule| self.is_in(rule, user));
        self.is_owner(user) || self.may_use_others(user, rules) || rules.is_some_and(has_model)
    }

    /// Returns whether an account may use a tool server of the configuration file: only the owner may without a rule.
    pub fn may_use_tool_server(&self, user: UserId, server: &str) -> bool {
        self.is_owner(user) || self.tool_servers.get(server).is_some_and(|rule| self.is_in(rule, user))
    }

    /// Returns whether an account may use the models of a provider that have no rule. A rule that could not be read may
    /// be that of any of them.
    fn may_use_others(&self, user: UserId, rules: Option<&ProviderRules>) -> bool {
        let rule = rules.and_then(|rules| rules.others.as_ref());
        !self.is_incomplete && rule.is_none_or(|rule| self.is_in(rule, user))
    }

    fn is_owner(&self, user: UserId) -> bool {
        self.owner == Some(user)
    }

    fn is_in(&self, audience: &GrantAudience, user: UserId) -> bool {
        audience.everybody
            || audience.accounts.contains(&user)
            || self.groups_of.get(&user).is_some_and(|of| of.iter().any(|group| audience.groups.contains(group)))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const OWNER: UserId = UserId::from_uuid(Uuid::from_u128(1));
    /// A member of the group.
    const ANN: UserId = UserId::from_uuid(Uuid::from_u128(2));
    /// Granted by name.
    const BOB: UserId = UserId::from_uuid(Uuid::from_u128(3));
    const EVE: UserId = UserId::from_uuid(Uuid::from_u128(4));
    const GROUP: GroupId = GroupId::from_uuid(Uuid::from_u128(5));
    const PEOPLE: [UserId; 4] = [OWNER, ANN, BOB, EVE];

    fn rights(rules: Vec<(GrantTarget, GrantAudience)>, is_incomplete: bool) -> AccessRights {
        AccessRights::new(OWNER, rules, [(GROUP, ANN)], is_incomplete)
    }

    fn provider() -> GrantTarget {
        GrantTarget::Provider("openai".into())
    }

    fn model() -> GrantTarget {
        GrantTarget::Model(ModelLock::new("openai", "large"))
    }

    fn nobody() -> GrantAudience {
        GrantAudience::default()
    }

    fn of_group() -> GrantAudience {
        GrantAudience { groups: [GROUP].into(), ..nobody() }
    }

    fn of_bob() -> GrantAudience {
        GrantAudience { accounts: [BOB].into(), ..nobody() }
    }

    #[test]
    fn disabled_account_is_known_whatever_it_is_granted() {
        let rights = rights(vec![(provider(), GrantAudience::everybody())], false).without_disabled([BOB]);
        assert_eq!(PEOPLE.map(|user| rights.is_disabled(user)), [false, false, true, false]);
    }

    #[test]
    fn model_is_granted_by_its_own_rule_else_by_that_of_its_provider() {
        let everybody = GrantAudience::everybody;
        // For each person: the model `large`, another model of its provider, and any of them.
        let [all, none] = [[true; 3], [false; 3]];
        let [large, others] = [[true, false, true], [false, true, true]];
        for (rules, expected) in [
            (vec![], [all, all, all, all]),
            (vec![(provider(), everybody())], [all, all, all, all]),
            (vec![(provider(), nobody())], [all, none, none, none]),
            (vec![(provider(), of_group())], [all, all, none, none]),
            (vec![(provider(), of_bob())], [all, none, all, none]),
            (vec![(model(), nobody())], [all, others, others, others]),
            (vec![(model(), of_group())], [all, all, others, others]),
            (vec![(provider(), nobody()), (model(), of_bob())], [all, none, large, none]),
            (vec![(provider(), nobody()), (model(), everybody())], [all, large, large, large]),
            (vec![(provider(), of_group()), (model(), of_bob())], [all, others, large, none]),
        ] {
            let rights = rights(rules.clone(), false);
            for (user, expected) in PEOPLE.into_iter().zip(expected) {
                let may = |model: &str| rights.may_use_model(user, ("openai", model), true);
                let seen = [may("large"), may("small"), rights.may_use_provider(user, "openai")];
                assert_eq!(seen, expected, "{rules:?} {user}");
                assert!(rights.may_use_model(user, ("other", "large"), true));
            }
        }
    }

    #[test]
    fn closed_model_is_not_reached_by_name_that_provider_does_not_list() {
        let may =
            |rights: &AccessRights| PEOPLE.map(|user| rights.may_use_model(user, ("openai", "large:online"), false));
        assert_eq!(may(&rights(vec![], false)), [true; 4]);
        assert_eq!(may(&rights(vec![(model(), of_bob())], false)), [true, false, true, false]);
        assert_eq!(may(&rights(vec![(provider(), of_group())], false)), [true, true, false, false]);
        // A model with a rule needs no list.
        let granted = rights(vec![(provider(), nobody()), (model(), of_bob())], false);
        assert!(granted.may_use_model(BOB, ("openai", "large"), false));
        assert!(!granted.may_use_model(BOB, ("openai", "large:online"), false));
    }

    #[test]
    fn tool_server_is_for_owner_alone_unless_it_is_granted() {
        let server = || GrantTarget::ToolServer("files".into());
        for (rules, expected) in [
            (vec![], [true, false, false, false]),
            (vec![(server(), nobody())], [true, false, false, false]),
            (vec![(server(), of_group())], [true, true, false, false]),
            (vec![(server(), of_bob())], [true, false, true, false]),
            (vec![(server(), GrantAudience::everybody())], [true; 4]),
            // A provider with the same id is something else.
            (vec![(GrantTarget::Provider("files".into()), GrantAudience::everybody())], [true, false, false, false]),
        ] {
            let rights = rights(rules.clone(), false);
            assert_eq!(PEOPLE.map(|user| rights.may_use_tool_server(user, "files")), expected, "{rules:?}");
            assert_eq!(PEOPLE.map(|user| rights.may_use_tool_server(user, "other")), [true, false, false, false]);
        }
    }

    #[test]
    fn unreadable_rule_grants_nothing_that_has_no_rule_of_its_own() {
        // The rule that cannot be read may close a model that its provider is open for.
        for rules in [vec![(model(), of_bob())], vec![(provider(), GrantAudience::everybody()), (model(), of_bob())]] {
            let rights = rights(rules, true);
            let may = |model: &str| PEOPLE.map(|user| rights.may_use_model(user, ("openai", model), true));
            assert_eq!((may("large"), may("small")), ([true, false, true, false], [true, false, false, false]));
            assert_eq!(PEOPLE.map(|user| rights.may_use_provider(user, "openai")), [true, false, true, false]);
        }
    }

    #[test]
    fn target_is_made_of_parts_that_fit_its_kind() {
        for target in [provider(), model(), GrantTarget::ToolServer("files".into())] {
            let made = GrantTarget::from_parts(target.kind(), target.id(), target.model());
            assert_eq!(made, Some(target));
        }
        for kind in GrantKind::ALL {
            assert_eq!(GrantKind::parse(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for (kind, id, model) in [
            (GrantKind::Provider, "", ""),
            (GrantKind::Provider, "openai", "large"),
            (GrantKind::Model, "openai", ""),
            (GrantKind::ToolServer, "files", "x"),
        ] {
            assert_eq!(GrantTarget::from_parts(kind, id, model), None, "{kind:?} {id} {model}");
        }
    }
}
