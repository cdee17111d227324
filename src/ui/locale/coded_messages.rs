//! The sentences of the server's codes in the reader's language. The English templates are those of the codes
//! (`domain::messages::coded_message`), because the API has them, too; the Chinese ones are here. Only the server calls
//! [`coded_sentence`], so that the table of codes is not in the browser's bundle: the browser gets whole sentences.

mod chinese;
mod chinese_account_codes;
mod chinese_drop_reasons;

use self::chinese::chinese_template;
use self::chinese_drop_reasons::chinese_drop_reason;
use crate::domain::InvalidField;
use crate::domain::messages::coded_message::{CodedMessage, MessageCode, with_optional_parts};
use crate::domain::messages::drop_reason::{AT_LEAST, BETWEEN, DropReason, RANGE};
use crate::domain::messages::message_template::{MessageArgs, fill_template};
use crate::ui::locale::{Locale, locale, localized_sentence};

/// Returns the sentence in the reader's language.
pub fn coded_sentence(coded: &CodedMessage) -> String {
    localized_sentence(|| coded.to_string(), || chinese_sentence(coded).unwrap_or_else(|| coded.to_string()))
}

/// Returns the sentence in the reader's language if that is not the English text.
pub fn translated_sentence(coded: &CodedMessage) -> Option<String> {
    (locale() != Locale::English && !coded.is_uncoded()).then(|| coded_sentence(coded))
}

/// Returns the problem of a field with the field's name, which stays as it is.
pub fn field_error_sentence(invalid: &InvalidField) -> String {
    labelled_sentence(&invalid.field, &invalid.reason)
}

/// Returns a sentence about a field, or only the sentence if there is no field.
pub fn labelled_sentence(field: &str, coded: &CodedMessage) -> String {
    let sentence = coded_sentence(coded);
    if field.is_empty() { sentence } else { message!("{field}: {sentence}", "{field}：{sentence}") }
}

/// Returns that something exceeds a limit.
pub fn too_large_sentence(field: &str, limit: &CodedMessage) -> String {
    let limit = coded_sentence(limit);
    message!("{field} is too large: {limit}", "{field} 太大：{limit}")
}

/// Returns why a parameter cannot be sent, as a part of a sentence; `None` if an argument is missing.
pub fn drop_reason_sentence(reason: DropReason, mut args: MessageArgs) -> Option<String> {
    // The Chinese words for a range follow 必须, which takes a verb only with two bounds.
    let range = localized_template(BETWEEN, "为 {least} 至 {most}", &args).or_else(|| range_sentence(&args));
    args.extend(range.map(|range| (RANGE.to_owned(), range)));
    localized_template(reason.template(), chinese_drop_reason(reason), &args)
}

/// Returns the words for a range from its arguments `least` and `most`; `None` if they are missing.
pub fn range_sentence(args: &MessageArgs) -> Option<String> {
    localized_template(BETWEEN, "{least} 至 {most}", args)
        .or_else(|| localized_template(AT_LEAST, "不小于 {least}", args))
}

/// Fills the template of the current language. Returns `None` if an argument is missing.
pub fn localized_template(english: &str, chinese: &str, args: &MessageArgs) -> Option<String> {
    let english = fill_template(english, args)?;
    Some(localized_sentence(|| english, || fill_template(chinese, args).unwrap_or_default()))
}

fn chinese_sentence(coded: &CodedMessage) -> Option<String> {
    if let MessageCode::Param(reason) = coded.code {
        return drop_reason_sentence(reason, coded.args.clone());
    }
    let cause = coded.args.get(CodedMessage::DETAIL).map(|detail| {
        let cause = coded.cause().and_then(|cause| chinese_sentence(&cause));
        format!("：{}", cause.as_deref().unwrap_or(detail))
    });
    let hint = coded.args.get(CodedMessage::SUGGESTION).map(|address| format!("你是否想用 {address}？"));
    fill_template(chinese_template(coded.code), &with_optional_parts(&coded.args, cause, hint))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::messages::message_template::next_placeholder;
    use crate::ui::locale::with_locale;

    fn placeholders(mut template: &'static str) -> BTreeSet<&'static str> {
        let mut names = BTreeSet::new();
        while let Some((_, name, behind)) = next_placeholder(template) {
            names.insert(name);
            template = behind;
        }
        names
    }

    #[test]
    fn both_languages_have_same_arguments() {
        for code in MessageCode::OWN.iter().copied().chain(DropReason::ALL.map(MessageCode::Param)) {
            assert_eq!(placeholders(code.template()), placeholders(chinese_template(code)), "{}", code.code());
            assert!(code == MessageCode::Other || code.template() != chinese_template(code), "{}", code.code());
        }
    }

    #[test]
    fn sentence_is_that_of_the_language() {
        let both = |coded: CodedMessage| {
            [Locale::English, Locale::Chinese].map(|locale| with_locale(locale, || coded_sentence(&coded)))
        };
        for (coded, english, chinese) in [
            (MessageCode::Empty.into(), "must not be empty", "不能为空"),
            (MessageCode::NotBetween.with("least", 1).with("most", 9), "must be between 1 and 9", "必须在 1 与 9 之间"),
            (
                MessageCode::Param(DropReason::OutOfRange).with("least", 0).with("most", 2),
                "must be between 0 and 2 for this model",
                "此模型的取值必须为 0 至 2",
            ),
            (
                MessageCode::Param(DropReason::OutOfRange).with("least", 1),
                "must be at least 1 for this model",
                "此模型的取值必须不小于 1",
            ),
            (
                MessageCode::NoModelList.with("status", 404).with(CodedMessage::SUGGESTION, "http://a/v1"),
                "No model list found at this address (404). Did you mean http://a/v1?",
                "此地址没有模型列表（404）。你是否想用 http://a/v1？",
            ),
            (
                MessageCode::NotConnected.with(CodedMessage::DETAIL, "connection refused"),
                "Could not connect: connection refused.",
                "无法连接：connection refused。",
            ),
            (
                CodedMessage::from(MessageCode::NotConnected)
                    .with_cause(MessageCode::NoListener.with("error", "os error 111")),
                "Could not connect: no server is listening there (os error 111).",
                "无法连接：该地址没有服务器在监听（os error 111）。",
            ),
            (CodedMessage::uncoded("expected {x}"), "expected {x}", "expected {x}"),
        ] {
            assert_eq!(both(coded), [english, chinese]);
        }
        let field = InvalidField::new("title", MessageCode::Empty);
        assert_eq!(with_locale(Locale::Chinese, || field_error_sentence(&field)), "title：不能为空");
        assert_eq!(with_locale(Locale::English, || translated_sentence(&field.reason)), None);
    }
}
