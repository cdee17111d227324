//! The page of the audit log, for administrators.

use leptos::prelude::*;

use crate::domain::{AuditVerb, InvalidField};
use crate::server::server_pages::form_fields::{FieldKind, FormFields, SelectField, TextField, date_field};
use crate::server::server_pages::messages::{accounts as words, usage};
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::audit_log::{AuditEntry, AuditFilter};

/// The form of the filter.
const FORM: &str = "audit";

/// A page of the audit log.
pub struct AuditLogPage {
    pub entries: Vec<AuditEntry>,
    /// True if there may be older entries.
    pub has_more: bool,
    pub filter: AuditFilter,
    /// The name of the account of the filter, or as it was typed; of a deleted one the id.
    pub account: String,
    /// The error of the filter. Nothing is listed then.
    pub error: Option<InvalidField>,
}

impl AuditLogPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let older = self.entries.last().filter(|_| self.has_more).map(|last| {
            let address = self.address(PageSection::AuditLog.path(), &format!("before={}", last.id));
            view! { <a class="button" href=address>{words::older_entries()}</a> }
        });
        let csv = self.error.is_none().then(|| {
            let address = self.address("/api/audit", "format=csv");
            view! { <a class="button" href=address download="">{usage::csv()}</a> }
        });
        let list = if self.error.is_some() {
            ().into_any()
        } else if self.entries.is_empty() {
            view! { <p class="hint">{words::no_entries()}</p> }
        } else {
            let rows = self.entries.iter().map(row).collect_view();
            view! {
                <div class="usage-scroll" role="region" tabindex="0" aria-label=words::audit_log()>
                    <table class="audit-table">
                        <thead><tr>
                            <th scope="col">{words::time()}</th>
                            <th scope="col">{words::actor()}</th>
                            <th scope="col">{words::action()}</th>
                            <th scope="col">{words::target()}</th>
                            <th scope="col">{words::address()}</th>
                        </tr></thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            }
        };
        let body = view! {
            <p class="lead">{words::audit_lead()}</p>
            {self.form()}
            {list}
            <div class="deeds">{older}{csv}</div>
        };
        let title = words::audit_log().to_owned();
        ServerPage { section: PageSection::AuditLog, title, notice, body }
    }

    /// Returns an address with the filter of the page, whose values need no escaping.
    fn address(&self, path: &str, more: &str) -> String {
        let AuditFilter { action, account, from, to } = self.filter;
        let fields = [
            action.map(|action| format!("action={}&", action.as_str())),
            account.map(|account| format!("account={account}&")),
            from.map(|day| format!("from={day}&")),
            to.map(|day| format!("to={day}&")),
        ];
        let fields: String = fields.into_iter().flatten().collect();
        format!("{path}?{fields}{more}")
    }

    fn form(&self) -> AnyView {
        let actions = AuditVerb::ALL.map(|verb| (verb.as_str(), words::verb_name(verb)));
        let actions: Vec<(&str, &str)> = [("", words::all_actions())].into_iter().chain(actions).collect();
        let action = SelectField {
            label: words::action(),
            name: "action",
            form: FORM,
            options: &actions,
            chosen: self.filter.action.map_or("", AuditVerb::as_str),
            hint: None,
            error: None,
        };
        let account_error = FormFields { form: FORM, error: self.error.as_ref() }.error("account");
        let account = TextField {
            label: words::actor(),
            name: "account",
            form: FORM,
            value: &self.account,
            error: account_error.as_deref(),
            // Without an account, the entries of all are listed. The field is for one name, as in a search.
            kind: FieldKind::Search,
            ..TextField::default()
        };
        view! {
            <form class="form usage-form" method="get" action=PageSection::AuditLog.path()>
                {action.draw()}
                {account.draw()}
                {date_field(FORM, "from", usage::from(), self.filter.from)}
                {date_field(FORM, "to", usage::to(), self.filter.to)}
                <div class="deeds"><button type="submit" class="button strong">{usage::show()}</button></div>
            </form>
        }
    }
}

fn row(entry: &AuditEntry) -> AnyView {
    // The command line has no address, a stranger has one.
    let actor = match (&entry.actor_name, entry.actor, &entry.ip) {
        (Some(name), ..) if !name.is_empty() => name.clone(),
        (_, Some(id), _) => id.to_string(),
        (_, None, Some(_)) => words::nobody().to_owned(),
        (_, None, None) => words::from_command_line().to_owned(),
    };
    let token = entry.token.map(|_| view! { " "<span class="mark">{words::with_token()}</span> });
    let action = AuditVerb::parse(&entry.verb).map_or_else(|| entry.verb.clone(), |verb| words::verb_name(verb).into());
    let refused = words::outcome_note(entry.outcome).map(|note| view! { " "<span class="mark">{note}</span> });
    view! {
        <tr>
            <td>
                <time datetime=entry.at.to_rfc3339()>{entry.at.format("%Y-%m-%d %H:%M:%S UTC").to_string()}</time>
            </td>
            <td><bdi>{actor}</bdi>{token}</td>
            <td>{action}{refused}</td>
            <td><bdi>{entry.target.clone()}</bdi></td>
            <td>{entry.ip.clone()}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::{AuditOutcome, MessageCode};

    fn html(page: AuditLogPage) -> String {
        Owner::new().with(|| page.draw(None).body.to_html()).replace("<!>", "")
    }

    #[test]
    fn filter_is_kept_in_form_and_in_links() {
        let id = |n: u128| uuid::Uuid::from_u128(n);
        let filter = AuditFilter {
            action: Some(AuditVerb::SignIn),
            account: Some(id(7).into()),
            from: "2026-11-01".parse().ok(),
            to: None,
        };
        let page =
            |error| AuditLogPage { entries: Vec::new(), has_more: false, filter, account: "<Ann>".into(), error };
        let refused = html(page(Some(InvalidField::new("account", MessageCode::NoSuchAccount.with("name", "<Ann>")))));
        for part in ["value=\"&lt;Ann&gt;\"", "aria-invalid=\"true\"", "<option value=\"sign_in\" selected>"] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        assert!(!refused.contains("No entries.") && !refused.contains("format=csv"), "{refused}");
        let html = html(page(None));
        for part in [
            "<option value=\"sign_in\" selected>Sign in</option>",
            "name=\"account\" value=\"&lt;Ann&gt;\"",
            "name=\"from\" value=\"2026-11-01\"",
            "/api/audit?action=sign_in&amp;account=00000000-0000-0000-0000-000000000007&amp;from=2026-11-01&amp;format=csv",
            "No entries.",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<option value=\"\" selected") && !html.contains("name=\"to\" value"), "{html}");
    }

    #[test]
    fn entry_says_who_did_what_from_where() {
        let id = |n: u128| uuid::Uuid::from_u128(n);
        let entry = AuditEntry {
            id: id(1).into(),
            at: DateTime::UNIX_EPOCH,
            actor: Some(id(2).into()),
            actor_name: Some("<Ann>".into()),
            token: None,
            ip: Some("203.0.113.7".into()),
            verb: AuditVerb::Invite.as_str().into(),
            target: "admin".into(),
            outcome: AuditOutcome::Done,
        };
        let stranger = AuditEntry { actor: None, actor_name: None, outcome: AuditOutcome::Refused, ..entry.clone() };
        let newer = AuditEntry { ip: None, verb: "open_share".into(), ..stranger.clone() };
        let (entries, filter) = (vec![entry, stranger, newer], AuditFilter::default());
        let html = html(AuditLogPage { entries, has_more: true, filter, account: String::new(), error: None });
        for part in [
            "&lt;Ann&gt;",
            "Create invitation",
            "203.0.113.7",
            "not signed in",
            "refused",
            "command line",
            "open_share",
            "/settings/audit?before=00000000-0000-0000-0000-000000000001",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
