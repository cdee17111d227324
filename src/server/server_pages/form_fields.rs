//! Parts of forms: a field with its label, hint and error; typed values are kept. A secret is never rendered into a
//! page.

use chrono::NaiveDate;
use leptos::prelude::*;

use super::messages;
use crate::domain::InvalidField;
use crate::ui::erased::view;
use crate::ui::escape::textarea_content;
use crate::ui::kit::Icon;
use crate::ui::locale::coded_messages::field_error_sentence;
use crate::ui::locale::parenthesized;
use crate::ui::messages as app_words;

/// A text field with one or more lines.
#[derive(Debug, Clone, Default)]
pub struct TextField<'a> {
    pub label: &'a str,
    /// The name in the form. With `form` it makes the id, which is unique on the page.
    pub name: &'a str,
    /// The id of the form, which distinguishes it from others on the page.
    pub form: &'a str,
    pub value: &'a str,
    pub hint: Option<&'a str>,
    pub error: Option<&'a str>,
    pub kind: FieldKind,
    pub is_required: bool,
    /// An example of an entry.
    pub placeholder: Option<&'a str>,
    /// The value that browsers and password managers fill in; by default none, and a new password for a secret.
    pub autocomplete: Option<&'static str>,
    /// Values to choose from, for a field with one line. Other values can be typed.
    pub suggestions: &'a [String],
}

/// The kind of input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldKind {
    #[default]
    Text,
    /// Names and addresses, without spell checking.
    Code,
    Secret,
    /// A whole number.
    Number,
    Search,
    /// Text with this many rows.
    Lines(u8),
    /// Code with this many rows, where each character counts.
    CodeLines(u8),
}

impl TextField<'_> {
    pub fn draw(&self) -> AnyView {
        let id = format!("{}-{}", self.form, self.name);
        let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
        let mut described: Vec<&str> = Vec::new();
        described.extend(self.hint.map(|_| hint_id.as_str()));
        described.extend(self.error.map(|_| error_id.as_str()));
        let described = (!described.is_empty()).then(|| described.join(" "));
        let hint = self.hint.map(|hint| view! { <p class="hint" id=hint_id>{hint.to_owned()}</p> });
        let error = self.error.map(|error| view! { <p class="problem" id=error_id dir="auto">{error.to_owned()}</p> });
        let optional = (!self.is_required && self.kind != FieldKind::Search)
            .then(|| view! { <span class="hint">{parenthesized(messages::optional())}</span> });
        view! {
            <div class="form-field">
                <label for=id.clone()>{self.label.to_owned()}{optional}</label>
                {hint}
                {self.input(id, described)}
                {error}
            </div>
        }
    }

    fn input(&self, id: String, described: Option<String>) -> AnyView {
        let name = self.name.to_owned();
        let is_wrong = self.error.map(|_| "true");
        let placeholder = self.placeholder.map(str::to_owned);
        let required = self.is_required;
        if let FieldKind::Lines(rows) | FieldKind::CodeLines(rows) = self.kind {
            let spelled = matches!(self.kind, FieldKind::CodeLines(_)).then_some("false");
            return view! {
                <textarea {..textarea_content(self.value)} class="field" id=id name=name rows=rows.to_string()
                    spellcheck=spelled autocomplete="off" aria-describedby=described aria-invalid=is_wrong
                    placeholder=placeholder required=required></textarea>
            };
        }
        let (kind, autocomplete, value) = match self.kind {
            FieldKind::Secret => ("password", "new-password", None),
            FieldKind::Search => ("search", "off", Some(self.value.to_owned())),
            _ => ("text", "off", Some(self.value.to_owned())),
        };
        let autocomplete = self.autocomplete.unwrap_or(autocomplete);
        let spelled = (self.kind != FieldKind::Text).then_some("false");
        let shows = (self.kind == FieldKind::Secret).then(|| {
            view! {
                <button type="button" class="button needs-script" data-shows=id.clone() aria-pressed="false">
                    {messages::show()}<span class="quiet">" "{self.label.to_owned()}</span>
                </button>
            }
        });
        let digits = (self.kind == FieldKind::Number).then_some("numeric");
        let list_id = (!self.suggestions.is_empty()).then(|| format!("{id}-list"));
        let list = list_id.clone().map(|list_id| {
            let options = self.suggestions.iter().map(|value| view! { <option value=value.clone()></option> });
            view! { <datalist id=list_id>{options.collect_view()}</datalist> }
        });
        let input = view! {
            <input class="field" inputmode=digits type=kind id=id name=name value=value autocomplete=autocomplete spellcheck=spelled
                autocapitalize=spelled.map(|_| "none") aria-describedby=described aria-invalid=is_wrong
                placeholder=placeholder required=required list=list_id/>
        };
        let input = match list {
            Some(list) => view! { {input}{list} },
            None => input,
        };
        match shows {
            Some(shows) => view! { <div class="secret">{input}{shows}</div> },
            None => input,
        }
    }
}

/// The fields of a form, with the error of one of them.
pub struct FormFields<'a> {
    pub form: &'a str,
    pub error: Option<&'a InvalidField>,
}

impl FormFields<'_> {
    /// Returns the error of this field.
    pub fn error(&self, name: &str) -> Option<String> {
        self.error.filter(|error| error.field == name).map(messages::providers::error_sentence)
    }

    pub fn text(
        &self,
        label: &str,
        name: &str,
        value: &str,
        hint: Option<&str>,
        kind: FieldKind,
        is_required: bool,
    ) -> AnyView {
        let error = self.error(name);
        let (form, error) = (self.form, error.as_deref());
        TextField { label, name, form, value, hint, error, kind, is_required, ..TextField::default() }.draw()
    }

    /// Renders the error of a checkbox.
    pub fn checkbox_error(&self, name: &str) -> Option<AnyView> {
        self.error(name).map(|message| view! { <p class="problem">{message}</p> })
    }

    /// Renders an error that belongs to none of these fields.
    pub fn unassigned_error(&self, fields: &[&str]) -> Option<AnyView> {
        let error = self.error.filter(|error| !fields.contains(&error.field.as_str()));
        error.map(|error| view! { <p class="problem" role="alert" dir="auto">{field_error_sentence(error)}</p> })
    }
}

/// A select field.
pub struct SelectField<'a> {
    pub label: &'a str,
    pub name: &'a str,
    pub form: &'a str,
    /// The values with their labels.
    pub options: &'a [(&'a str, &'a str)],
    pub chosen: &'a str,
    pub hint: Option<&'a str>,
    pub error: Option<&'a str>,
}

impl SelectField<'_> {
    pub fn draw(&self) -> AnyView {
        let id = format!("{}-{}", self.form, self.name);
        let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
        let described = match (self.hint, self.error) {
            (None, None) => None,
            (Some(_), None) => Some(hint_id.clone()),
            (None, Some(_)) => Some(error_id.clone()),
            (Some(_), Some(_)) => Some(format!("{hint_id} {error_id}")),
        };
        let options = self.options.iter().map(|(value, text)| {
            view! { <option value=(*value).to_owned() selected=*value == self.chosen>{(*text).to_owned()}</option> }
        });
        let options = options.collect_view();
        let hint = self.hint.map(|hint| view! { <p class="hint" id=hint_id>{hint.to_owned()}</p> });
        let error = self.error.map(|error| view! { <p class="problem" id=error_id>{error.to_owned()}</p> });
        view! {
            <div class="form-field">
                <label for=id.clone()>{self.label.to_owned()}</label>
                {hint}
                <select class="field" id=id name=self.name.to_owned() aria-describedby=described>{options}</select>
                {error}
            </div>
        }
    }
}

/// Renders a field for a day.
pub fn date_field(form: &str, name: &'static str, label: &'static str, value: Option<NaiveDate>) -> AnyView {
    let id = format!("{form}-{name}");
    view! {
        <div class="form-field">
            <label for=id.clone()>{label}</label>
            <input class="field" type="date" id=id name=name value=value.map(|day| day.to_string())/>
        </div>
    }
}

/// A field for files. The browser's own button and its "No file chosen" are in the language of the browser, so the
/// style replaces them: a label opens the dialog, and the names stand beside it. The input stays for keys and screen
/// readers, and shows the names itself, so that all of this works without script.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileField<'a> {
    pub id: &'static str,
    pub name: &'static str,
    pub label: &'a str,
    pub hint: Option<&'a str>,
    /// The accepted types; any by default.
    pub accept: Option<&'static str>,
    pub is_multiple: bool,
    pub is_required: bool,
}

impl FileField<'_> {
    pub fn draw(&self) -> AnyView {
        let hint_id = format!("{}-hint", self.id);
        let described = self.hint.map(|_| hint_id.clone());
        let hint = self.hint.map(|hint| view! { <p class="hint" id=hint_id>{hint.to_owned()}</p> });
        let choose = if self.is_multiple { messages::choose_files() } else { messages::choose_file() };
        view! {
            <div class="form-field">
                <label for=self.id>{self.label.to_owned()}</label>
                {hint}
                <div class="file-choice">
                    <label class="button" for=self.id><Icon name="attach"/>{choose}</label>
                    <input class="file-input" type="file" id=self.id name=self.name multiple=self.is_multiple
                        required=self.is_required accept=self.accept aria-describedby=described/>
                    <span class="hint file-none" aria-hidden="true">{messages::no_file_chosen()}</span>
                </div>
            </div>
        }
    }
}

/// Renders a checkbox with a hint below it. A form sends `name=value` when it is checked and nothing otherwise.
pub fn checkbox(form: &str, name: &str, value: &str, label: &str, hint: Option<&str>, is_ticked: bool) -> AnyView {
    let hint_id = format!("{form}-{name}-hint");
    let described = hint.map(|_| hint_id.clone());
    let hint = hint.map(|hint| view! { <p class="hint tick-hint" id=hint_id>{hint.to_owned()}</p> });
    view! {
        <div>
            <label class="tick">
                <input type="checkbox" name=name.to_owned() value=value.to_owned() checked=is_ticked aria-describedby=described/>
                <span dir="auto">{label.to_owned()}</span>
            </label>
            {hint}
        </div>
    }
}

/// Renders a text that is to be copied from a field, with a button for that where scripts run
/// (`browser::server_page`). The field has a label, and the hint with the id `described_by`.
pub fn copyable_field(id: &'static str, value: String, described_by: Option<&'static str>) -> AnyView {
    view! {
        <div class="copyable">
            <input class="field" type="text" id=id readonly=true value=value aria-describedby=described_by
                spellcheck="false" autocomplete="off"/>
            <button type="button" class="button needs-script" data-copied=app_words::copied_mark() aria-live="polite">
                {app_words::copy()}
            </button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(field: &TextField<'_>) -> String {
        Owner::new().with(|| field.draw().to_html()).replace("<!>", "")
    }

    #[test]
    fn typed_value_is_kept_beside_its_error() {
        let field = TextField {
            label: "Address",
            name: "base_url",
            form: "new",
            value: "\"><script>",
            hint: Some("h"),
            error: Some("is not a URL"),
            ..TextField::default()
        };
        let html = rendered(&field);
        for part in [
            "<label for=\"new-base_url\">",
            "aria-describedby=\"new-base_url-hint new-base_url-error\"",
            "aria-invalid=\"true\"",
            "id=\"new-base_url-error\"",
            "is not a URL</p>",
            "value=\"&quot;",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let lines = rendered(&TextField { kind: FieldKind::Lines(3), value: "</textarea><script>", ..field });
        assert!(lines.contains("&lt;/textarea&gt;") && !lines.contains("<script>"), "{lines}");
    }

    #[test]
    fn file_field_has_button_of_its_own_language() {
        let field =
            FileField { id: "import-file", name: "file", label: "File", is_required: true, ..FileField::default() };
        let html = Owner::new().with(|| field.draw().to_html()).replace("<!>", "");
        assert_eq!(html.matches("for=\"import-file\"").count(), 2, "{html}");
        for part in ["type=\"file\"", "required", "Choose file</label>", "No file chosen"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("multiple") && !html.contains("aria-describedby"), "{html}");
    }

    #[test]
    fn button_that_copies_follows_its_field() {
        let html = Owner::new().with(|| copyable_field("link", "https://a.test/?x&y".into(), Some("hint")).to_html());
        let (field, button) = html.split_once("<button").unwrap();
        for part in ["id=\"link\"", "readonly", "value=\"https://a.test/?x&amp;y\"", "aria-describedby=\"hint\""] {
            assert!(field.contains(part), "{part}: {html}");
        }
        assert!(button.contains("data-copied=\"Copied ✓\"") && button.contains("needs-script"), "{html}");
    }

    #[test]
    fn secret_is_never_written_into_page() {
        let html =
            rendered(&TextField { kind: FieldKind::Secret, name: "key", value: "very-secret", ..TextField::default() });
        assert!(html.contains("type=\"password\"") && !html.contains("very-secret"), "{html}");
    }
}
