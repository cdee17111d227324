//! Messages of the model picker, in both languages.

use crate::ui::locale::{define_messages, message, plural_message};
use crate::ui::messages::amounts::number;

define_messages! {
    find_model: "Find a model", "查找模型";
    models: "Models", "模型";
    recently_used: "Recently used", "最近使用";
    chosen: ", selected", "，当前已选";
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
