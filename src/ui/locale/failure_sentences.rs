//! Sentences of failures in the reader's language, by their codes. The English templates are those of the codes
//! (`domain`), because the API has them, too. Failures of older versions and of newer ones whose sentence is unknown are
//! shown as they are stored.

use super::coded_messages::localized_template;
use crate::domain::{Failure, FailureKind};

/// Why a reply failed.
pub fn failure_sentence(failure: &Failure) -> String {
    let known = failure.sentence_args().and_then(|args| {
        let has_seconds = args.contains_key(Failure::SECONDS);
        localized_template(
            failure.kind.sentence_template(has_seconds),
            chinese_failure(failure.kind, has_seconds),
            &args,
        )
    });
    known.unwrap_or_else(|| failure.message.clone())
}

fn chinese_failure(kind: FailureKind, has_seconds: bool) -> &'static str {
    match kind {
        FailureKind::ProviderUnreachable => "无法连接 {provider}。",
        FailureKind::ProviderAuth => "{provider} 拒绝了 API 密钥。",
        FailureKind::ProviderQuota => "你的 {provider} 账户额度已用尽。",
        FailureKind::ProviderRateLimited => "{provider} 正在限制请求。",
        FailureKind::ProviderOverloaded => "{provider} 过载，已收到的部分已保存。",
        FailureKind::ProviderError => "{provider} 在生成回复时出错。",
        FailureKind::ProviderRefusedRequest => "{provider} 拒绝了请求。",
        FailureKind::ModelNotFound => "{provider} 没有这个模型。",
        FailureKind::ContextTooLong => "对话超出了模型的上下文长度。",
        FailureKind::ContentFiltered => "服务商中止了此回复。",
        FailureKind::ProviderTruncated => "与 {provider} 的连接中断。",
        FailureKind::ProviderStalled if has_seconds => "{provider} 已 {seconds} 秒无响应。",
        FailureKind::ProviderStalled => "{provider} 长时间无响应。",
        FailureKind::ProviderProtocol => "{provider} 返回了无效的响应。",
        FailureKind::NoTitle => "{provider} 没有给出标题。",
        FailureKind::LimitEvent
        | FailureKind::LimitOutput
        | FailureKind::LimitRounds
        | FailureKind::LimitToolArgs
        | FailureKind::LimitTime => "回复达到了此服务器设置的限制。",
        FailureKind::BudgetDayCost => "你今天的费用预算已用尽，将于 UTC 午夜重置。",
        FailureKind::BudgetDayTokens => "你今天的 token 预算已用尽，将于 UTC 午夜重置。",
        FailureKind::BudgetDayRequests => "你今天的请求次数预算已用尽，将于 UTC 午夜重置。",
        FailureKind::BudgetMonthCost => "你本月的费用预算已用尽，将于下月第一天（UTC）重置。",
        FailureKind::BudgetMonthTokens => "你本月的 token 预算已用尽，将于下月第一天（UTC）重置。",
        FailureKind::BudgetMonthRequests => "你本月的请求次数预算已用尽，将于下月第一天（UTC）重置。",
        FailureKind::BudgetUnreadable => "你账号的一项预算无法读取，因此没有发送任何内容。",
        FailureKind::ServerRestarted => "生成此回复时服务器重启了。",
        FailureKind::StorageFull => "服务器磁盘已满。",
        FailureKind::Internal | FailureKind::Unknown => "服务器出错了。",
    }
}
