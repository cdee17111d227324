//! Messages of the model picker, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};
use crate::ui::messages::amounts::{number, short_count};

define_messages! {
    find_model: "Find a model", "查找模型";
    models: "Models", "模型";
    recently_used: "Recently used", "最近使用";
    chosen: ", selected", "，当前已选";
    thinks: "Thinking", "思考";
    takes_images: "Images", "图片";
    calls_tools: "Tools", "工具";
}

/// The size of a context window.
pub fn context(tokens: u64) -> String {
    let size = short_count(tokens);
    message!("{size} context", "{size} 上下文")
}

/// The prices of a million tokens, in millionths of a US dollar.
pub fn prices(input: u64, output: u64) -> String {
    let (input, output) = (dollars(input), dollars(output));
    message!("{input} in, {output} out per 1M", "每百万 token 输入 {input}，输出 {output}")
}

/// Formats dollars with two digits where there are cents: "$3", "$0.25", "$0.075".
fn dollars(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    let digits = format!("{rest:06}");
    let kept = digits.trim_end_matches('0');
    match kept.len() {
        0 => format!("${whole}"),
        1 => format!("${whole}.{kept}0"),
        _ => format!("${whole}.{kept}"),
    }
}

pub fn no_models_found(typed: &str) -> String {
    message!("No models match “{typed}”.", "没有与“{typed}”匹配的模型。")
}

pub fn found(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "1 model", "{many} models"; "{many} 个模型")
}

/// The number of models that are not shown.
pub fn more_models(count: usize) -> String {
    let many = number(count as u64);
    plural_message!(count; "1 more: type to find it.", "{many} more: type to find them."; "另有 {many} 个，输入名称即可查找。")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_dollars_of_a_million_tokens() {
        assert_eq!(prices(3_000_000, 15_000_000), "$3 in, $15 out per 1M");
        assert_eq!(prices(75_000, 1_200_000), "$0.075 in, $1.20 out per 1M");
    }
}
