//! A field of a question: its type, its bounds, and the check of a value.

use chrono::{DateTime, NaiveDate};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::limits;
use crate::messages::coded_message::{CodedMessage, MessageCode};
use crate::messages::failure::InvalidField;

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ElicitationField {
    /// The member of the answer.
    pub name: String,
    /// The label; empty if the server gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_required: bool,
    #[serde(rename = "type")]
    pub field_type: ElicitationFieldType,
    /// The format of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ElicitationTextFormat>,
    /// The inclusive bounds of a number, of the characters of a text, or of how many options are chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// The options of a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ElicitationOption>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub default: Option<Value>,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationFieldType {
    Text,
    Number,
    Integer,
    Boolean,
    /// One of the options.
    Choice,
    /// Any number of the options.
    Choices,
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElicitationTextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// An option of a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ElicitationOption {
    pub value: String,
    /// The label; empty if the server gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
}

impl ElicitationOption {
    pub fn label(&self) -> &str {
        if self.title.is_empty() { &self.value } else { &self.title }
    }
}

/// Parts of texts that ask for a secret.
const SECRETS: [&str; 30] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "credential",
    "api key",
    "apikey",
    "api_key",
    "private key",
    "private_key",
    "one-time",
    "one time",
    "one_time",
    "cvv",
    "cvc",
    "card number",
    "card_number",
    "密码",
    "口令",
    "令牌",
    "密钥",
    "私钥",
    "验证码",
    "银行卡",
    "卡号",
    "身份证",
    "社会安全",
    "助记词",
];
/// Words for secrets that are also parts of other words, such as “shipping”.
const SECRET_WORDS: [&str; 3] = ["pin", "otp", "ssn"];
/// From here on, not every whole number is a number of JSON in JavaScript and in many servers (2⁵³).
const INEXACT_FROM: f64 = 9_007_199_254_740_992.0;
/// Examples of the formats.
const DATE_EXAMPLE: &str = "2026-11-28";
const DATE_TIME_EXAMPLE: &str = "2026-11-28T14:30:00Z";
const URI_EXAMPLE: &str = "https://example.org/";

impl ElicitationTextFormat {
    /// Returns the format with this name in JSON Schema.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "email" => Self::Email,
            "uri" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            _ => return None,
        })
    }

    /// Returns an example of a text in this format.
    pub fn example(self) -> &'static str {
        match self {
            Self::Email => "name@example.org",
            Self::Uri => URI_EXAMPLE,
            Self::Date => DATE_EXAMPLE,
            Self::DateTime => DATE_TIME_EXAMPLE,
        }
    }

    fn check(self, text: &str) -> Result<(), CodedMessage> {
        match self {
            Self::Email if is_email(text) => Ok(()),
            Self::Email => Err(MessageCode::NotAnEmailAddress.into()),
            Self::Uri if is_uri(text) => Ok(()),
            Self::Uri => Err(MessageCode::NotAUri.with("example", self.example())),
            Self::Date if is_date(text) => Ok(()),
            Self::Date => Err(MessageCode::NotADate.with("example", self.example())),
            Self::DateTime if DateTime::parse_from_rfc3339(text).is_ok() => Ok(()),
            Self::DateTime => Err(MessageCode::NotADateTime.with("example", self.example())),
        }
    }
}

/// Returns true if a text names a secret that people enter.
pub(super) fn names_secret(text: &str) -> bool {
    // Letter by letter: rules for a sigma at the end of a word would be 4 KB of code in the browser.
    let to_lowercase = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
    let lower = to_lowercase(text);
    // Names of fields are often written in camel case.
    let mut words = String::with_capacity(text.len());
    for c in text.chars() {
        words.extend(c.is_uppercase().then_some(' '));
        words.push(c);
    }
    let words = to_lowercase(&words);
    let is_word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| SECRET_WORDS.contains(&word));
    SECRETS.iter().any(|secret| lower.contains(secret)) || is_word(&lower) || is_word(&words)
}

/// Returns true for one `@` between a name and a host. Only the server can know whether the address exists.
fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let is_plain = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '@');
    is_plain(name) && is_plain(host) && !host.starts_with('.') && !host.ends_with('.')
}

/// Returns true for a scheme and something behind it (RFC 3986).
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme && !rest.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn is_date(text: &str) -> bool {
    // `chrono` also accepts numbers without leading zeros.
    text.len() == DATE_EXAMPLE.len() && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

impl ElicitationField {
    pub fn label(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }

    /// Returns true if a secret can be entered: a text or a number.
    pub fn can_hold_secret(&self) -> bool {
        use ElicitationFieldType::{Integer, Number, Text};
        matches!(self.field_type, Text | Number | Integer)
    }

    /// Returns true if the field looks as if it asked for a secret.
    pub fn looks_secret(&self) -> bool {
        self.can_hold_secret()
            && [&self.name, &self.title, &self.description].into_iter().any(|text| names_secret(text))
    }

    /// Checks a value and returns what is sent; `None` for an optional field without a value.
    ///
    /// # Errors
    /// Names this field.
    pub fn check(&self, value: Option<&Value>) -> Result<Option<Value>, InvalidField> {
        let wrong = |reason: CodedMessage| InvalidField::new(self.name.as_str(), reason);
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(values) => values.is_empty() && !self.is_required,
            _ => false,
        };
        match value.filter(|value| !is_empty(value)) {
            None if self.is_required => Err(wrong(MessageCode::IsRequired.into())),
            None => Ok(None),
            Some(value) => self.check_value(value).map(Some).map_err(wrong),
        }
    }

    fn check_value(&self, value: &Value) -> Result<Value, CodedMessage> {
        match self.field_type {
            ElicitationFieldType::Text => {
                let text = value.as_str().ok_or(MessageCode::NotAText)?;
                self.check_text(text)?;
                Ok(value.clone())
            }
            ElicitationFieldType::Number | ElicitationFieldType::Integer => self.check_number(value),
            ElicitationFieldType::Boolean if value.is_boolean() => Ok(value.clone()),
            ElicitationFieldType::Boolean => Err(MessageCode::NotTrueOrFalse.into()),
            ElicitationFieldType::Choice if value.as_str().is_some_and(|chosen| self.has_option(chosen)) => {
                Ok(value.clone())
            }
            ElicitationFieldType::Choice => Err(MessageCode::NotAllowedValue.into()),
            ElicitationFieldType::Choices => self.check_choices(value),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), CodedMessage> {
        if text.contains('\0') {
            return Err(MessageCode::HasNul.into());
        }
        let count = text.chars().count();
        if let Some(least) = self.least.filter(|least| (count as f64) < *least) {
            return Err(MessageCode::TooFewCharacters.with("least", least));
        }
        let limit = limits::ELICITATION_ANSWER_CHARS as f64;
        let most = self.most.map_or(limit, |most| most.min(limit));
        if count as f64 > most {
            return Err(MessageCode::TooManyCharacters.with("most", most));
        }
        self.format.map_or(Ok(()), |format| format.check(text))
    }

    fn check_number(&self, value: &Value) -> Result<Value, CodedMessage> {
        let number = value.as_f64().ok_or(MessageCode::NotANumber)?;
        if self.field_type == ElicitationFieldType::Integer && number.fract() != 0.0 {
            return Err(MessageCode::NotAWholeNumber.into());
        }
        let is_exact = value.is_i64() || value.is_u64() || number.abs() < INEXACT_FROM;
        if self.field_type == ElicitationFieldType::Integer && !is_exact {
            // A larger number with a fraction or an exponent stands for several whole numbers.
            let most = INEXACT_FROM as i64 - 1;
            return Err(match number < 0.0 {
                true => MessageCode::TooSmall.with("least", -most),
                false => MessageCode::TooLarge.with("most", most),
            });
        }
        if let Some(least) = self.least.filter(|least| number < *least) {
            return Err(MessageCode::TooSmall.with("least", least));
        }
        if let Some(most) = self.most.filter(|most| number > *most) {
            return Err(MessageCode::TooLarge.with("most", most));
        }
        Ok(match self.field_type {
            // `3.0` is a whole number, but some servers accept only `3`.
            ElicitationFieldType::Integer if !value.is_i64() && !value.is_u64() => Value::from(number as i64),
            _ => value.clone(),
        })
    }

    fn check_choices(&self, value: &Value) -> Result<Value, CodedMessage> {
        let chosen = value.as_array().ok_or(MessageCode::NotAllowedValue)?;
        let is_known = |value: &Value| value.as_str().is_some_and(|value| self.has_option(value));
        // The value may be a server's own default of any size: the bound comes before the search for duplicates, which is
        // quadratic.
        if chosen.len() > self.options.len() || !chosen.iter().all(is_known) {
            return Err(MessageCode::NotAllowedValue.into());
        }
        if (1..chosen.len()).any(|at| chosen[..at].contains(&chosen[at])) {
            return Err(MessageCode::NotAllowedValue.into());
        }
        if let Some(least) = self.least.filter(|least| (chosen.len() as f64) < *least) {
            return Err(MessageCode::TooFewChosen.with("least", least));
        }
        if let Some(most) = self.most.filter(|most| chosen.len() as f64 > *most) {
            return Err(MessageCode::TooManyChosen.with("most", most));
        }
        Ok(value.clone())
    }

    fn has_option(&self, value: &str) -> bool {
        self.options.iter().any(|option| option.value == value)
    }

    /// Parses the values that a form submits for this field. `None` if nothing was entered; an unticked checkbox is
    /// `false`.
    pub fn parse_form_values(&self, values: &[String]) -> Option<Value> {
        let first = || values.first().map(String::as_str).unwrap_or_default();
        match self.field_type {
            ElicitationFieldType::Boolean => Some(Value::Bool(!first().is_empty())),
            // A choice of nothing is an answer where one is required and no number of options is.
            ElicitationFieldType::Choices if values.is_empty() => {
                let can_be_empty = self.is_required && self.least.is_none_or(|least| least <= 0.0);
                can_be_empty.then(|| Value::Array(Vec::new()))
            }
            ElicitationFieldType::Choices => Some(values.iter().cloned().map(Value::String).collect()),
            _ if first().is_empty() => None,
            ElicitationFieldType::Number | ElicitationFieldType::Integer => {
                let typed = first().trim();
                let whole = typed.parse::<i64>().ok().map(Number::from);
                let whole = whole.or_else(|| typed.parse::<u64>().ok().map(Number::from));
                let number = whole.or_else(|| typed.parse::<f64>().ok().and_then(Number::from_f64));
                Some(number.map_or_else(|| Value::from(typed), Value::Number))
            }
            ElicitationFieldType::Text | ElicitationFieldType::Choice => Some(Value::from(first())),
        }
    }

    /// Returns a value as text for people, with the labels of options.
    pub fn display_value(&self, value: &Value) -> String {
        let label = |value: &str| {
            let known = self.options.iter().find(|option| option.value == value);
            known.map_or_else(|| value.to_owned(), |option| option.label().to_owned())
        };
        match value {
            Value::String(text) => label(text),
            Value::Array(values) => values.iter().filter_map(Value::as_str).map(label).collect::<Vec<_>>().join(", "),
            other => other.to_string(),
        }
    }

    /// Returns the texts that the form shows first: the default value, one for each chosen option.
    pub fn default_texts(&self) -> Vec<String> {
        match &self.default {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Bool(is_set)) => is_set.then(|| "1".to_owned()).into_iter().collect(),
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(other) => vec![other.to_string()],
        }
    }
}
