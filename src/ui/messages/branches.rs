//! Names of branches. Those that Turnleaf gives are stored in English, because programs and exports refer to them;
//! pages show them in the language of the reader.

use crate::ui::locale::{localized_word, message, parenthesized};

/// The start of the name of a rerun's branch.
const RERUN: &str = "again · ";

/// Returns the name of a branch in the language of the page. The name that a person gave stays as it is.
pub fn branch_name(stored: &str) -> String {
    match stored.strip_prefix(RERUN) {
        Some(message) => {
            let message = translated_default(message).unwrap_or_else(|| message.to_owned());
            message!("again · {message}", "重新运行 · {message}")
        }
        None => translated_default(stored).unwrap_or_else(|| stored.to_owned()),
    }
}

/// Translates a default name with the number that tells equal names apart; `None` for any other name.
fn translated_default(stored: &str) -> Option<String> {
    let (name, number) = match stored.strip_suffix(')').and_then(|start| start.rsplit_once(" (")) {
        Some((name, number)) if is_number(number) => (name, Some(number)),
        _ => (stored, None),
    };
    let translated = match name {
        "main" => localized_word("main", "主分支").to_owned(),
        "branch" => localized_word("branch", "分支").to_owned(),
        _ => {
            // The branches of an import are counted.
            let count = name.strip_prefix("branch ").filter(|count| is_number(count))?;
            message!("branch {count}", "分支 {count}")
        }
    };
    Some(translated + &number.map(parenthesized).unwrap_or_default())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};

    #[test]
    fn default_names_follow_language_and_others_stay() {
        for (stored, chinese) in [
            ("main", "主分支"),
            ("main (2)", "主分支（2）"),
            ("branch", "分支"),
            ("branch (12)", "分支（12）"),
            ("branch 3", "分支 3"),
            ("again · Where does a leaf come from?", "重新运行 · Where does a leaf come from?"),
            ("again · branch", "重新运行 · 分支"),
            ("Where does a leaf come from?", "Where does a leaf come from?"),
            ("mainly", "mainly"),
            ("branch of a tree", "branch of a tree"),
            ("branch (two)", "branch (two)"),
            ("branch ", "branch "),
            ("", ""),
        ] {
            assert_eq!(branch_name(stored), stored);
            assert_eq!(with_locale(Locale::Chinese, || branch_name(stored)), chinese);
        }
    }
}
