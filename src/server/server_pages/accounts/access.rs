//! The pages of access, for administrators: the models and tool servers with those whom each is for, and the form of one
//! rule.

use std::collections::{BTreeSet, HashMap};

use leptos::prelude::*;

use super::groups::ACCESS_PATH;
use crate::domain::accounts::access_rights::{GrantAudience, GrantKind, GrantTarget};
use crate::domain::encoding::url_encoding::encode;
use crate::domain::{AccessRuleId, GroupId, InvalidField, UserId, limits};
use crate::server::server_pages::form_fields::{FieldKind, FormFields, TextField, checkbox};
use crate::server::server_pages::messages::rights as words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use turnleaf_service::accounts::access_rules::{SharedModels, StoredAccessRule};
use turnleaf_service::accounts::list_pages::{GroupName, ListPosition};

/// The form of a rule.
const FORM: &str = "access";

/// The models and tool servers that the server shares, and the rules about them.
pub struct SharedTargets {
    pub providers: Vec<SharedModels>,
    /// The ids and names of the tool servers.
    pub tool_servers: Vec<(String, String)>,
    pub rules: Vec<StoredAccessRule>,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AccessRow {
    target: GrantTarget,
    name: String,
    audience: GrantAudience,
    /// True for a model that follows the rule of its provider.
    is_inherited: bool,
}

impl SharedTargets {
    /// Returns the name of a target.
    pub fn name(&self, target: &GrantTarget) -> String {
        let id = target.id();
        match target {
            GrantTarget::Provider(_) => words::models_of(self.provider_name(id)),
            GrantTarget::Model(lock) => format!("{} · {}", self.provider_name(id), lock.model),
            GrantTarget::ToolServer(_) => {
                let known = self.tool_servers.iter().find(|(server, _)| server == id);
                words::tools_of(known.map_or(id, |(_, name)| name.as_str()))
            }
        }
    }

    /// Returns the accounts whose names the rows need.
    pub fn named_accounts(&self) -> BTreeSet<UserId> {
        let listed = self.rules.iter().map(|rule| &rule.audience).filter(|audience| !audience.everybody);
        let accounts = listed.flat_map(|audience| {
            audience.accounts.iter().take(limits::RULE_NAMES.saturating_sub(audience.groups.len()))
        });
        accounts.copied().collect()
    }

    fn provider_name<'a>(&'a self, id: &'a str) -> &'a str {
        self.providers.iter().find(|known| known.provider == id).map_or(id, |known| known.provider_name.as_str())
    }

    /// Returns the rows: each provider, its models with a rule or all of one provider, and the tool servers. Rules about
    /// what is not there now have rows, too.
    fn rows(&self, open_provider: Option<&str>) -> Vec<AccessRow> {
        let rules: HashMap<&GrantTarget, &GrantAudience> =
            self.rules.iter().map(|rule| (&rule.target, &rule.audience)).collect();
        let row = |target: GrantTarget, default: &GrantAudience| {
            let own = rules.get(&target).copied();
            let is_inherited = own.is_none() && matches!(target, GrantTarget::Model(_));
            AccessRow { name: self.name(&target), audience: own.unwrap_or(default).clone(), is_inherited, target }
        };
        let (everybody, nobody) = (GrantAudience::everybody(), GrantAudience::default());
        let mut rows = Vec::new();
        let listed = self.providers.iter().map(|known| known.provider.as_str());
        let ruled = self.rules.iter().filter(|rule| !matches!(rule.target, GrantTarget::ToolServer(_)));
        for provider in in_order(listed.chain(ruled.map(|rule| rule.target.id()))) {
            let of_provider = row(GrantTarget::Provider(provider.to_owned()), &everybody);
            let default = of_provider.audience.clone();
            rows.push(of_provider);
            let known = self.providers.iter().filter(|known| known.provider == provider);
            let is_open = open_provider == Some(provider);
            let listed = known.filter(|_| is_open).flat_map(|known| known.models.iter().map(String::as_str));
            let ruled = self.rules.iter().map(|rule| &rule.target);
            let ruled = ruled.filter(|target| target.id() == provider && matches!(target, GrantTarget::Model(_)));
            for model in in_order(listed.chain(ruled.map(GrantTarget::model))) {
                let target = GrantTarget::from_parts(GrantKind::Model, provider, model);
                rows.extend(target.map(|target| row(target, &default)));
            }
        }
        let listed = self.tool_servers.iter().map(|(server, _)| server.as_str());
        let ruled = self.rules.iter().filter(|rule| matches!(rule.target, GrantTarget::ToolServer(_)));
        for server in in_order(listed.chain(ruled.map(|rule| rule.target.id()))) {
            rows.push(row(GrantTarget::ToolServer(server.to_owned()), &nobody));
        }
        rows
    }
}

/// Returns the texts without repetitions, in their order.
fn in_order<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| seen.insert(*text)).collect()
}

/// Returns the address of the form of a rule.
fn rule_path(target: &GrantTarget) -> String {
    let (kind, id, model) = (target.kind().as_str(), encode(target.id()), encode(target.model()));
    let model = if model.is_empty() { String::new() } else { format!("&model={model}") };
    format!("{ACCESS_PATH}/rule?kind={kind}&target={id}{model}")
}

/// The models and tool servers with those whom each is for.
pub struct AccessPage {
    pub table: SharedTargets,
    pub groups: HashMap<GroupId, String>,
    /// The names of the accounts that the rows name ([`SharedTargets::named_accounts`]).
    pub accounts: HashMap<UserId, String>,
    /// The provider of which all models are shown.
    pub open_provider: Option<String>,
}

impl AccessPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let rows = self.table.rows(self.open_provider.as_deref());
        let rows = rows.iter().map(|row| self.row(row)).collect_view();
        let links = self.table.providers.iter().filter(|known| !known.models.is_empty()).map(|known| {
            let (address, label) = if self.open_provider.as_deref() == Some(known.provider.as_str()) {
                (ACCESS_PATH.to_owned(), words::show_fewer().to_owned())
            } else {
                let address = format!("{ACCESS_PATH}?provider={}", encode(&known.provider));
                (address, words::show_models(&known.provider_name, known.models.len()))
            };
            view! { <a class="button" href=address>{label}</a> }
        });
        let body = view! {
            <p><a class="button bare" href=PageSection::Groups.path()>{words::all_groups()}</a></p>
            <p class="lead">{words::access_lead()}</p>
            <div class="usage-scroll" role="region" tabindex="0" aria-label=words::access()>
                <table class="audit-table">
                    <thead><tr>
                        <th scope="col">{words::target()}</th>
                        <th scope="col">{words::audience()}</th>
                    </tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <div class="deeds">{links.collect_view()}</div>
        };
        ServerPage { section: PageSection::Groups, title: words::access().to_owned(), notice, body }
    }

    fn row(&self, row: &AccessRow) -> AnyView {
        let AccessRow { target, name, audience, is_inherited } = row;
        let inherited = is_inherited.then(|| view! { " "<span class="mark">{words::as_provider()}</span> });
        view! {
            <tr>
                <th scope="row">
                    <a href=rule_path(target)><bdi>{name.clone()}</bdi></a>
                    {inherited}
                </th>
                <td dir="auto">{self.audience_names(audience)}</td>
            </tr>
        }
    }

    /// Returns whom something is for: the first groups by name, then accounts, and the number of the others.
    fn audience_names(&self, audience: &GrantAudience) -> String {
        if audience.everybody {
            return words::everybody().to_owned();
        }
        let mut names: Vec<&str> =
            audience.groups.iter().filter_map(|group| self.groups.get(group)).map(String::as_str).collect();
        names.sort_unstable();
        let accounts = audience.accounts.iter().filter_map(|account| self.accounts.get(account));
        names.extend(accounts.map(String::as_str).filter(|name| !name.is_empty()));
        names.truncate(limits::RULE_NAMES);
        let others = (audience.groups.len() + audience.accounts.len()).saturating_sub(names.len());
        match (names.len(), others) {
            (0, 0) => words::only_owner().to_owned(),
            (_, 0) => join_list(&names),
            (0, others) => words::account_count(others),
            (_, others) => words::and_others(&join_list(&names), others),
        }
    }
}

/// The form of one rule.
pub struct AccessRulePage {
    pub target: GrantTarget,
    pub name: String,
    /// The rule that can be deleted.
    pub rule: Option<AccessRuleId>,
    /// The boxes that are ticked.
    pub audience: GrantAudience,
    pub groups: Vec<GroupName>,
    /// A part of the name of the groups whose boxes are shown, beside those that are ticked.
    pub find: String,
    /// The names of single accounts, as they are or were typed.
    pub accounts: String,
    pub error: Option<InvalidField>,
}

impl AccessRulePage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let default = match self.target {
            GrantTarget::Provider(_) => words::default_of_provider(),
            GrantTarget::Model(_) => words::default_of_model(),
            GrantTarget::ToolServer(_) => words::default_of_tool_server(),
        };
        let fields = FormFields { form: FORM, error: self.error.as_ref() };
        let hint = Some(words::single_accounts_hint());
        let accounts = fields.text(words::single_accounts(), "accounts", &self.accounts, hint, FieldKind::Code, false);
        let everybody = checkbox(FORM, "everybody", "1", words::everybody(), None, self.audience.everybody);
        let reset = self.rule.map(|rule| {
            view! {
                <form method="post" action="/forms/access/reset">
                    <input type="hidden" name="rule_id" value=rule.to_string()/>
                    <div class="deeds"><button type="submit" class="button">{words::use_default()}</button></div>
                </form>
            }
        });
        let body = view! {
            <p><a class="button bare" href=ACCESS_PATH>{words::access()}</a></p>
            <p class="lead">{default}</p>
            <form class="form" method="post" action="/forms/access/save">
                <input type="hidden" name="kind" value=self.target.kind().as_str()/>
                <input type="hidden" name="target" value=self.target.id().to_owned()/>
                <input type="hidden" name="model" value=self.target.model().to_owned()/>
                <fieldset class="form-field">
                    <legend>{words::change_access()}</legend>
                    {everybody}
                    {self.group_boxes()}
                </fieldset>
                {accounts}
                {fields.unassigned_error(&["accounts"])}
                <div class="deeds"><button type="submit" class="button primary">{words::save()}</button></div>
            </form>
            {reset}
        };
        ServerPage { section: PageSection::Groups, title: words::access_to(&self.name), notice, body }
    }

    /// Renders a box for each group; of many groups for those that are ticked and the first that fit, with a field that
    /// finds others and keeps what is ticked.
    fn group_boxes(&self) -> AnyView {
        let is_ticked = |group: &GroupName| self.audience.groups.contains(&group.id);
        let (ticked, others): (Vec<GroupName>, Vec<GroupName>) =
            ListPosition::default().find_groups(&self.groups).into_iter().partition(is_ticked);
        let has_field = self.groups.len() > limits::GROUP_BOXES;
        let mut fitting = if has_field { ListPosition::new(&self.find, "").find_groups(&others) } else { others };
        let hidden = fitting.len().saturating_sub(limits::GROUP_BOXES);
        fitting.truncate(limits::GROUP_BOXES);
        let boxes = ticked
            .iter()
            .chain(&fitting)
            .map(|group| checkbox(FORM, "group", &group.id.to_string(), &group.name, None, is_ticked(group)));
        let boxes = boxes.collect_view();
        let hidden = (hidden > 0).then(|| view! { <p class="hint">{words::groups_hidden(hidden)}</p> });
        let field = has_field.then(|| {
            let name = TextField {
                label: words::find_groups(),
                name: "find",
                form: FORM,
                value: &self.find,
                kind: FieldKind::Search,
                ..TextField::default()
            };
            view! {
                {name.draw()}
                <div class="deeds">
                    <button type="submit" class="button" formaction="/forms/access/find">{words::find()}</button>
                </div>
            }
        });
        view! { {field}{boxes}{hidden} }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::ModelLock;

    const GROUP: GroupId = GroupId::from_uuid(uuid::Uuid::from_u128(1));

    fn table() -> SharedTargets {
        let rule = |n: u128, target: GrantTarget, audience: GrantAudience| StoredAccessRule {
            id: uuid::Uuid::from_u128(n).into(),
            target,
            audience,
            changed_at: DateTime::UNIX_EPOCH,
        };
        let of_group = || GrantAudience { groups: [GROUP].into(), ..GrantAudience::default() };
        SharedTargets {
            providers: vec![
                SharedModels {
                    provider: "openai".into(),
                    provider_name: "OpenAI".into(),
                    models: vec!["large".into(), "small".into()],
                },
                SharedModels { provider: "demo".into(), provider_name: "Demo".into(), models: vec!["tour".into()] },
            ],
            tool_servers: vec![("files".into(), "Files".into())],
            rules: vec![
                rule(2, GrantTarget::Model(ModelLock::new("openai", "large")), of_group()),
                rule(3, GrantTarget::Provider("gone".into()), GrantAudience::default()),
                rule(4, GrantTarget::ToolServer("files".into()), of_group()),
            ],
        }
    }

    fn names(rows: &[AccessRow]) -> Vec<(&str, bool, bool)> {
        rows.iter().map(|row| (row.name.as_str(), row.audience.everybody, row.is_inherited)).collect()
    }

    #[test]
    fn rows_are_providers_models_with_rules_and_tool_servers() {
        assert_eq!(
            names(&table().rows(None)),
            [
                ("OpenAI: all models", true, false),
                ("OpenAI · large", false, false),
                ("Demo: all models", true, false),
                ("gone: all models", false, false),
                ("Tools: Files", false, false),
            ]
        );
        let open = table().rows(Some("openai"));
        assert_eq!(names(&open)[2], ("OpenAI · small", true, true), "as its provider");
        let mut closed = table();
        closed.rules.push(StoredAccessRule {
            target: GrantTarget::Provider("openai".into()),
            audience: GrantAudience::default(),
            ..closed.rules[0].clone()
        });
        assert_eq!(names(&closed.rows(Some("openai")))[2], ("OpenAI · small", false, true));
    }

    #[test]
    fn rows_lead_to_form_of_each_rule_and_name_its_audience() {
        let user = |n: u128| UserId::from_uuid(uuid::Uuid::from_u128(n));
        let mut table = table();
        table.rules[0].audience.accounts = [user(1), user(2), user(3), user(4), user(5)].into();
        assert_eq!(table.named_accounts(), BTreeSet::from([user(1), user(2)]), "two beside the group");
        let names = [(user(1), "Ann".to_owned()), (user(2), "Bob".to_owned())];
        let groups = [(GROUP, "<Lab>".to_owned())].into();
        let page = AccessPage { table, groups, accounts: names.into(), open_provider: None };
        let html = Owner::new().with(|| page.draw(None).body.to_html()).replace("<!>", "");
        for part in [
            "&lt;Lab&gt;, Ann, Bob and 3 more</td>",
            ">&lt;Lab&gt;</td>",
            ">Everybody</td>",
            ">Only the owner</td>",
            "href=\"/settings/access/rule?kind=model&amp;target=openai&amp;model=large\"",
            "href=\"/settings/access?provider=openai\"",
            "Show all 2 models of OpenAI",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    fn rule_page(groups: Vec<GroupName>, find: &str) -> String {
        let page = AccessRulePage {
            target: GrantTarget::Model(ModelLock::new("openai", "a\"b")),
            name: "x".into(),
            rule: Some(uuid::Uuid::from_u128(7).into()),
            audience: GrantAudience { groups: [GROUP].into(), ..GrantAudience::default() },
            groups,
            find: find.into(),
            accounts: "ann bob".into(),
            error: None,
        };
        Owner::new().with(|| page.draw(None).body.to_html()).replace("<!>", "")
    }

    #[test]
    fn form_of_rule_finds_groups_and_keeps_what_is_ticked() {
        let group = |n: u128, name: String| GroupName { id: GroupId::from_uuid(uuid::Uuid::from_u128(n)), name };
        let html = rule_page(vec![group(1, "Lab".into())], "");
        assert_eq!(html.matches(" checked").count(), 1, "{html}");
        for part in ["value=\"a&quot;b\"", "value=\"ann bob\"", "/forms/access/reset"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("/forms/access/find"), "one group needs no field: {html}");
        let many = || (1..=50).map(|n| group(n, format!("Group {n}"))).collect::<Vec<_>>();
        let first = rule_page(many(), "");
        assert_eq!(first.matches("name=\"group\"").count(), 1 + limits::GROUP_BOXES, "the ticked one, too: {first}");
        assert!(first.contains("formaction=\"/forms/access/find\"") && first.contains("29 more groups"), "{first}");
        let found = rule_page(many(), "GROUP 33");
        assert_eq!((found.matches("name=\"group\"").count(), found.matches(" checked").count()), (2, 1), "{found}");
        assert!(found.contains("value=\"GROUP 33\"") && found.contains("Group 33"), "{found}");
    }
}
