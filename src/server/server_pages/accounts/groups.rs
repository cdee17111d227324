//! The pages of groups, for administrators: all groups, and one with its members.

use leptos::prelude::*;

use crate::domain::{GroupId, InvalidField};
use crate::server::server_pages::accounts::group_mappings::{GroupMappingPanel, service_name};
use crate::server::server_pages::accounts::name_list::NameList;
use crate::server::server_pages::form_fields::{FieldKind, FormFields};
use crate::server::server_pages::messages::rights as words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::groups::{AccountGroup, GroupMember};
use turnleaf_service::accounts::list_pages::{ListPosition, ListedPage};

/// The address of the page of access, which belongs to this section.
pub const ACCESS_PATH: &str = "/settings/access";

/// Returns the address of the page of a group.
pub fn group_path(id: GroupId) -> String {
    format!("{}/{id}", PageSection::Groups.path())
}

/// The list of groups.
pub struct GroupsPage {
    pub groups: ListedPage<AccountGroup>,
    pub position: ListPosition,
    /// The name of a new group as it was typed.
    pub typed_name: String,
    pub error: Option<InvalidField>,
}

impl GroupsPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let row = |group: &AccountGroup| {
            view! {
                <li class="plain-row">
                    <a class="row-name" href=group_path(group.id)><bdi>{group.name.clone()}</bdi></a>
                    <span class="row-end">{words::member_count(group.members)}</span>
                </li>
            }
        };
        let ListedPage { entries, next } = &self.groups;
        let list = if entries.is_empty() {
            self.position.find.is_empty().then(|| view! { <p class="hint">{words::no_groups()}</p> })
        } else {
            let rows = entries.iter().map(row).collect_view();
            Some(view! { <ul class="rows" aria-label=words::groups()>{rows}</ul> })
        };
        let names = NameList {
            path: PageSection::Groups.path(),
            position: &self.position,
            next: next.as_deref(),
            kept: Vec::new(),
        };
        let fields = FormFields { form: "new-group", error: self.error.as_ref() };
        let name = fields.text(words::name(), "name", &self.typed_name, None, FieldKind::Text, true);
        let body = view! {
            <p class="lead">{words::groups_lead()}</p>
            {names.draw(list)}
            <p><a class="button" href=ACCESS_PATH>{words::access()}</a></p>
            <section class="panel" aria-labelledby="new-group-title">
                <h2 id="new-group-title">{words::new_group()}</h2>
                <form class="form" method="post" action="/forms/groups/create">
                    {name}
                    {fields.unassigned_error(&["name"])}
                    <div class="deeds">
                        <button type="submit" class="button primary">{words::create_group()}</button>
                    </div>
                </form>
            </section>
        };
        ServerPage { section: PageSection::Groups, title: words::groups().to_owned(), notice, body }
    }
}

/// The form of a group that was refused, with what was typed.
#[derive(Debug, Clone)]
pub enum RefusedGroupForm {
    Name(String, InvalidField),
    Member(String, InvalidField),
    Mapping { service: String, name: String, error: InvalidField },
}

/// A group with its members.
pub struct AccountGroupPage {
    pub group: AccountGroup,
    pub members: Vec<GroupMember>,
    pub mappings: GroupMappingPanel,
    pub refused: Option<RefusedGroupForm>,
}

impl AccountGroupPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let body = view! {
            <p><a class="button bare" href=PageSection::Groups.path()>{words::all_groups()}</a></p>
            {self.members_panel()}
            {self.mappings_panel()}
            {self.name_panel()}
            <section class="panel" aria-labelledby="delete-group-title">
                <h2 id="delete-group-title">{words::delete_group()}</h2>
                <p class="hint">{words::delete_group_hint()}</p>
                <form method="post" action="/forms/groups/delete">
                    {self.id_field()}
                    <div class="deeds">
                        <button type="submit" class="button danger">{words::delete_group()}</button>
                    </div>
                </form>
            </section>
        };
        ServerPage { section: PageSection::Groups, title: self.group.name, notice, body }
    }

    fn id_field(&self) -> AnyView {
        view! { <input type="hidden" name="group_id" value=self.group.id.to_string()/> }
    }

    fn members_panel(&self) -> AnyView {
        let row = |member: &GroupMember| {
            let reasons = self.mappings.is_shown().then(|| {
                let added = member.is_added.then(|| words::added_here().to_owned());
                let from = member.services.iter().map(|service| words::from_service(&service_name(service)));
                let reasons: Vec<String> = added.into_iter().chain(from).collect();
                view! { <span class="hint" dir="auto">{reasons.join(" · ")}</span> }
            });
            let end = if member.is_added {
                self.remove_form(member)
            } else {
                view! { <span class="hint">{words::mapped_member_hint()}</span> }
            };
            view! {
                <li class="plain-row">
                    <span class="row-name"><bdi>{member.name.clone()}</bdi>{reasons}</span>
                    <span class="row-end">{end}</span>
                </li>
            }
        };
        let list = if self.members.is_empty() {
            view! { <p class="hint">{words::no_members()}</p> }
        } else {
            let rows = self.members.iter().map(row).collect_view();
            view! { <ul class="rows" aria-labelledby="members-title">{rows}</ul> }
        };
        let (typed, error) = match &self.refused {
            Some(RefusedGroupForm::Member(typed, error)) => (typed.as_str(), Some(error)),
            _ => ("", None),
        };
        let fields = FormFields { form: "member", error };
        let name = fields.text(words::account_name(), "name", typed, None, FieldKind::Code, true);
        view! {
            <section class="panel" aria-labelledby="members-title">
                <h2 id="members-title">{words::members()}</h2>
                {list}
                <form class="form" method="post" action="/forms/groups/add-member">
                    {self.id_field()}
                    {name}
                    {fields.unassigned_error(&["name"])}
                    <div class="deeds">
                        <button type="submit" class="button primary">{words::add_member()}</button>
                    </div>
                </form>
            </section>
        }
    }

    fn remove_form(&self, member: &GroupMember) -> AnyView {
        view! {
            <form method="post" action="/forms/groups/remove-member">
                {self.id_field()}
                <input type="hidden" name="user_id" value=member.user.to_string()/>
                <button type="submit" class="button danger">
                    {words::remove_member()}<span class="quiet">" "{member.name.clone()}</span>
                </button>
            </form>
        }
    }

    fn mappings_panel(&self) -> Option<AnyView> {
        let (service, name, error) = match &self.refused {
            Some(RefusedGroupForm::Mapping { service, name, error }) => (service.as_str(), name.as_str(), Some(error)),
            _ => ("", "", None),
        };
        self.mappings.draw(self.group.id, (service, name), error)
    }

    fn name_panel(&self) -> AnyView {
        let (typed, error) = match &self.refused {
            Some(RefusedGroupForm::Name(typed, error)) => (typed.as_str(), Some(error)),
            _ => (self.group.name.as_str(), None),
        };
        let fields = FormFields { form: "group", error };
        let name = fields.text(words::name(), "name", typed, None, FieldKind::Text, true);
        view! {
            <section class="panel" aria-labelledby="name-title">
                <h2 id="name-title">{words::rename()}</h2>
                <form class="form" method="post" action="/forms/groups/rename">
                    {self.id_field()}
                    {name}
                    {fields.unassigned_error(&["name"])}
                    <div class="deeds">
                        <button type="submit" class="button">{words::rename()}</button>
                    </div>
                </form>
            </section>
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::MessageCode;
    use turnleaf_service::accounts::mapped_groups::GroupService;

    fn group() -> AccountGroup {
        AccountGroup {
            id: uuid::Uuid::from_u128(1).into(),
            name: "<Lab>".into(),
            members: 1,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    fn member(name: &str, is_added: bool, services: Vec<GroupService>) -> GroupMember {
        GroupMember { user: uuid::Uuid::from_u128(2).into(), name: name.into(), is_added, services }
    }

    fn html(draw: impl FnOnce() -> ServerPage) -> String {
        Owner::new().with(|| draw().body.to_html()).replace("<!>", "")
    }

    #[test]
    fn groups_are_listed_with_form_for_new_one() {
        let error = Some(InvalidField::new("name", MessageCode::GroupNameTaken));
        let groups = ListedPage { entries: vec![group()], next: Some("<Lab>".into()) };
        let page = GroupsPage { groups, position: ListPosition::new("lab", ""), typed_name: "\"Lab".into(), error };
        let html = html(|| page.draw(None));
        for part in [
            "&lt;Lab&gt;",
            "1 member<",
            "href=\"/settings/groups/00000000-0000-0000-0000-000000000001\"",
            "value=\"&quot;Lab\"",
            "nother group has this name",
            "href=\"/settings/groups?find=lab&amp;after=%3CLab%3E\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn refused_form_of_group_keeps_what_was_typed() {
        let error = InvalidField::new("name", MessageCode::NoSuchAccount.with("name", "Bab"));
        let refused = Some(RefusedGroupForm::Member("Bab".into(), error));
        let (members, mappings) = (vec![member("Ann", true, Vec::new())], GroupMappingPanel::default());
        let page = AccountGroupPage { group: group(), members, mappings, refused };
        let html = html(|| page.draw(None));
        assert!(html.contains("value=\"Bab\"") && html.contains("value=\"&lt;Lab&gt;\""), "{html}");
        assert!(html.contains("here is no account Bab") && html.contains("Ann</bdi>"), "{html}");
    }

    #[test]
    fn member_by_mapping_is_not_removed_here() {
        let corp = GroupService::IdentityProvider { id: None, name: "<Corp>".into() };
        let page = |members| AccountGroupPage {
            group: group(),
            members,
            mappings: GroupMappingPanel { services: vec![GroupService::Proxy], ..GroupMappingPanel::default() },
            refused: None,
        };
        let mapped = html(|| page(vec![member("Ann", false, vec![GroupService::Proxy, corp.clone()])]).draw(None));
        assert!(mapped.contains("From Reverse proxy · From &lt;Corp&gt;<"), "{mapped}");
        assert!(mapped.contains(words::mapped_member_hint()) && !mapped.contains("/remove-member"), "{mapped}");
        let both = html(|| page(vec![member("Ann", true, vec![corp])]).draw(None));
        assert!(both.contains("Added here · From &lt;Corp&gt;<") && both.contains("/remove-member"), "{both}");
    }
}
