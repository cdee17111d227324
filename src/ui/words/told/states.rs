//! How a provider or a server of tools is.

use super::pair::Pair;

/// How a provider or a server of tools is (`registry::check`, the views of the service).
pub(super) const STATES: &[Pair] = &[
    ("{!} Did you mean {}?", "{!}你是否想用 {}？"),
    ("Working, but it lists no models.", "正常，但没有列出模型。"),
    ("Working · {} models", "正常 · {} 个模型"),
    ("Working · {} model", "正常 · {} 个模型"),
    ("Working · {} answers; there is no list of models", "正常 · {} 可以回答；没有模型列表"),
    ("Working", "正常"),
    ("{} did not answer within {} seconds.", "{} 在 {} 秒内没有应答。"),
    ("It asks for a key, and none is set.", "它需要密钥，但尚未设置。"),
    ("There is no list of models at this address ({}): {}.", "此地址没有模型列表（{}）：{}。"),
    ("There is no list of models at this address ({}).", "此地址没有模型列表（{}）。"),
    ("It points elsewhere ({}): {}.", "它指向了别处（{}）：{}。"),
    ("It points elsewhere ({}).", "它指向了别处（{}）。"),
    ("It refused the key ({}): {}.", "它拒绝了密钥（{}）：{}。"),
    ("It refused the key ({}).", "它拒绝了密钥（{}）。"),
    ("It answered, but not with a list of models: {}.", "它有应答，但不是模型列表：{}。"),
    ("It answered, but not with a list of models.", "它有应答，但不是模型列表。"),
    ("It answered with status {}: {}.", "它应答的状态为 {}：{}。"),
    ("It answered with status {}.", "它应答的状态为 {}。"),
    ("The key cannot be sent: {}.", "无法发送密钥：{}。"),
    ("The key cannot be sent.", "无法发送密钥。"),
    ("It cannot be reached: {}.", "无法连接：{}。"),
    ("It cannot be reached.", "无法连接。"),
    ("It has not been asked yet.", "尚未检测。"),
    ("It is switched off.", "已停用。"),
    ("It is starting.", "正在启动。"),
    ("It works.", "正常。"),
    ("It does not answer.", "没有应答。"),
    ("It failed too often; begin it again when it is mended.", "它多次出错；修好后请重新启动。"),
    ("It was not begun yet.", "尚未启动。"),
    ("The address changed, so the headers were cleared.", "地址已更改，请求头已清除。"),
];
