//! The Chinese templates of the reasons why a parameter was dropped.

use crate::domain::messages::drop_reason::DropReason;

/// Returns the template of a reason why a parameter was dropped.
pub(super) fn chinese_drop_reason(reason: DropReason) -> &'static str {
    match reason {
        DropReason::TemperatureOrTopP => "此模型不能同时使用 temperature 和 top_p",
        DropReason::ModelNeverThinks => "此模型不支持思考",
        DropReason::ModelAlwaysThinks => "此模型的思考无法关闭",
        DropReason::ThinkingCannotBeSet => "此模型的思考强度无法设置",
        DropReason::Unsupported => "此模型不支持",
        DropReason::UnsupportedWhileThinking => "此模型在开启思考时不支持",
        DropReason::UnsupportedWithoutThinking => "此模型仅在开启思考时支持",
        DropReason::NoRoomForBudget => "它没有给思考预算留出余地",
        DropReason::NoRoomForThinking => "max_tokens 没有给它留出余地",
        DropReason::OtherLevel => "此模型不支持“{requested}”，已改用“{sent}”",
        DropReason::OutOfRange => "此模型的取值必须{range}",
        DropReason::OutOfRangeWhileThinking => "此模型开启思考时的取值必须{range}",
        DropReason::OutOfRangeWithoutThinking => "此模型未开启思考时的取值必须{range}",
        DropReason::BudgetOutOfRange => "此模型的思考预算必须{range} token",
        DropReason::BudgetNotBelowMaxTokens => "思考预算必须小于 max_tokens（{limit}）",
        DropReason::TooManyStopSequences => "此模型最多 {most} 个",
        DropReason::BlankStopSequence => "此模型不支持空白的停止序列",
    }
}
