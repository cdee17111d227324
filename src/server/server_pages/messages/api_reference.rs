//! Messages of the API reference page, in both languages.

use crate::ui::locale::{define_messages, localized_word, message};

define_messages! {
    document: "Machine-readable version (OpenAPI 3.1, JSON)", "供程序使用的版本（OpenAPI 3.1，JSON）";
    contents: "Contents", "目录";
    parameters: "Parameters", "参数";
    body: "Body", "请求体";
    answers: "Responses", "响应";
    schemas: "Schemas", "数据结构";
    fields: "Fields", "字段";
    name: "Name", "名称";
    place_label: "In", "位置";
    kind: "Type", "类型";
    meaning: "Description", "含义";
    status: "Status", "状态码";
    schema: "Schema", "结构";
    presence: "Present", "出现";
    needed: "(required)", "（必填）";
    always: "always", "始终";
    may_be_left_out: "(optional)", "（可省略）";
    deprecated: "Deprecated. Kept for older clients.", "已弃用，仅供旧版客户端使用。";
    all_of: "All of", "包含其全部字段：";
    list_of: "list of", "列表，元素为";
    anything: "any JSON", "任意 JSON";
}

/// The heading of an example for a program, such as curl.
pub fn example(program: &str) -> String {
    message!("Example ({program})", "示例（{program}）")
}

/// Returns the word for the location of a parameter.
pub fn parameter_place(name: &str) -> &'static str {
    match name {
        "path" => localized_word("path", "路径"),
        "query" => localized_word("query", "查询参数"),
        _ => localized_word("header", "请求头"),
    }
}

pub fn at_most_characters(most: u64) -> String {
    message!("at most {most} characters", "最多 {most} 个字符")
}
