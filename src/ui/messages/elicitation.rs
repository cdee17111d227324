//! Messages of questions that tool servers ask the user during a call, in both languages.

use crate::domain::tools::elicitation::ElicitationOutcome;
use crate::ui::locale::{define_messages, localized_word, message, plural_message};

define_messages! {
    send: "Send", "发送";
    decline: "Decline", "拒绝";
    cancel: "Cancel", "取消";
    open_page: "Open page", "打开页面";
    finished: "I’m done", "我已完成";
    no_choice: "No selection", "未选择";
    optional: "optional", "可选";
    required: "required", "必填";
    check_answers: "Nothing was sent. Correct the marked field.", "尚未发送。请改正标出的项。";
    opens_outside: "This page is on another site, which can see that you opened it. What you enter there does not become \
        part of this chat.", "此页面位于其他网站，对方能看到你打开了它。你在那里填写的内容不会成为此对话的一部分。";
    asked: "Questions from the server", "服务器的提问";
}

/// The title of a question, and of its page.
pub fn title(server: &str) -> String {
    message!("“{server}” has a question for you", "“{server}”向你提问")
}

/// The warning at every form: who gets the answer, and what must not be entered.
pub fn goes_to(server: &str) -> String {
    message!(
        "Your answer goes to the tool server “{server}” and is kept in this chat. Don’t enter passwords or other \
        secrets.",
        "你的回答会发给工具服务器“{server}”，并保存在此对话中。请勿填写密码或其他机密。"
    )
}

/// The warning at a form that seems to ask for a secret.
pub fn asks_for_secret(server: &str) -> String {
    message!(
        "“{server}” seems to ask for a secret. Tool servers must not do that here: your answer would be stored \
        unencrypted and shown in this chat. Decline if you are not sure.",
        "“{server}”似乎在索要机密信息。工具服务器不应在此索要：回答会以明文保存并显示在此对话中。如不确定，请拒绝。"
    )
}

/// The hint of a text with a format.
pub fn for_example(example: &str) -> String {
    message!("For example: {example}", "例如：{example}")
}

/// Returns a bound as JSON has it, and a whole one without a fraction. The browser writes numbers of JSON anyway; the
/// standard library's way to write a fraction would be another 12 KB.
pub fn bound(number: f64) -> String {
    let whole = number as i64;
    if whole as f64 == number {
        return whole.to_string();
    }
    serde_json::Number::from_f64(number).map(|number| number.to_string()).unwrap_or_default()
}

/// The bounds of a number or of a length.
pub fn bounds(least: Option<f64>, most: Option<f64>) -> Option<String> {
    match (least.map(bound), most.map(bound)) {
        (Some(least), Some(most)) => Some(message!("{least} to {most}", "{least} 至 {most}")),
        (Some(least), None) => Some(message!("at least {least}", "至少 {least}")),
        (None, Some(most)) => Some(message!("at most {most}", "最多 {most}")),
        (None, None) => None,
    }
}

/// The bounds of a text.
pub fn length(least: Option<f64>, most: Option<f64>) -> Option<String> {
    let range = bounds(least, most)?;
    let count = most.or(least).unwrap_or_default();
    Some(plural_message!(count as u64; "{range} character", "{range} characters"; "{range} 个字符"))
}

/// The host that a page of the URL mode leads to.
pub fn leads_to(host: &str) -> String {
    message!("Opens {host}", "将打开 {host}")
}

/// Describes the outcome of a question. Without one, the question is open, or its call ended before an answer.
pub fn outcome(outcome: Option<ElicitationOutcome>, is_open: bool) -> &'static str {
    match outcome {
        None if is_open => localized_word("Waiting for your answer", "正在等待你的回答"),
        None => localized_word("Expired: the call ended before you answered", "已过期：调用在你回答之前结束"),
        Some(ElicitationOutcome::Accepted) => localized_word("You answered", "你已回答"),
        Some(ElicitationOutcome::Declined) => localized_word("You declined", "你已拒绝"),
        Some(ElicitationOutcome::Cancelled) => localized_word("You cancelled", "你已取消"),
        Some(ElicitationOutcome::Completed) => {
            localized_word("Completed on the server’s page", "已在服务器的页面上完成")
        }
        Some(ElicitationOutcome::Withdrawn) => localized_word("Withdrawn by the server", "服务器已撤回"),
        Some(ElicitationOutcome::Required) => {
            localized_word("The tool can run after you have opened this page", "打开此页面后，工具才能运行")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_one_is_singular() {
        for (least, most, expected) in [
            (Some(1.0), None, "at least 1 character"),
            (None, Some(1.0), "at most 1 character"),
            (Some(1.0), Some(3.0), "1 to 3 characters"),
            (Some(2.0), None, "at least 2 characters"),
        ] {
            assert_eq!(length(least, most).as_deref(), Some(expected));
        }
    }

    #[test]
    fn bound_is_written_without_needless_fraction() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-3.0, "-3"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (9_007_199_254_740_992.0, "9007199254740992"),
        ] {
            assert_eq!(bound(number), text);
        }
        // Beyond whole numbers of 64 bits, as an input field reads it.
        assert_eq!(bound(1e300).parse::<f64>().ok(), Some(1e300));
    }
}
