//! `turnleaf user budget`: shows and sets budgets.

use serde_json::{Value, json};

use crate::domain::{Budget, BudgetKind, BudgetState, BudgetTarget, InvalidField, MessageCode};
use crate::server::cli::accounts::named_account::find_account;
use crate::server::cli::args::BudgetArgs;
use crate::server::cli::database::block_on;
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::groups::find_group;
use crate::server::cli::{installation, output};
use turnleaf_platform::config::Config;
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::usage::budgets::BudgetChanges;

/// The word that removes a budget.
const NONE: &str = "none";

/// Runs `turnleaf user budget`.
pub(super) fn run(args: &BudgetArgs, config: &Config, json: bool) -> Result<(), CliError> {
    let changes = requested_changes(args)?;
    if changes.is_empty() {
        return show(args, config, json);
    }
    block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let target = named_target(&service, args).await?;
        let set = service.set_budgets(Actor::default(), target, changes).await;
        service.supervisor().db().close().await;
        set.map_err(|error| CliError::could_not("set the budgets", error))
    })
}

/// Returns the budgets that the options set.
fn requested_changes(args: &BudgetArgs) -> Result<BudgetChanges, CliError> {
    let texts = [
        &args.day_cost,
        &args.day_tokens,
        &args.day_requests,
        &args.month_cost,
        &args.month_tokens,
        &args.month_requests,
    ];
    let given = BudgetKind::ALL.into_iter().zip(texts).filter_map(|(kind, text)| Some((kind, text.as_deref()?)));
    given
        .map(|(kind, text)| match text {
            NONE => Ok((kind, None)),
            text => {
                let empty = || InvalidField::new(kind.as_str(), MessageCode::Empty);
                let most = kind.parse_amount(text).and_then(|most| most.ok_or_else(empty));
                Ok((kind, Some(most.map_err(|invalid| CliError::new(CliExitCode::Failed, invalid))?)))
            }
        })
        .collect()
}

async fn named_target(service: &Service, args: &BudgetArgs) -> Result<BudgetTarget, CliError> {
    match (&args.name, &args.of_group) {
        (Some(name), _) => find_account(service, name).await.map(BudgetTarget::Account),
        (None, Some(name)) => find_group(service, name).await.map(BudgetTarget::Group),
        (None, None) => Ok(BudgetTarget::Default),
    }
}

fn show(args: &BudgetArgs, config: &Config, json: bool) -> Result<(), CliError> {
    let lines = block_on(async {
        let (service, _, _looked_in) = installation::open_read_only(config).await?;
        let failed = |error| CliError::could_not("read the budgets", error);
        let (target, stored) = (named_target(&service, args).await?, service.stored_budgets().await.map_err(failed)?);
        if stored.unreadable.contains(&target) {
            eprintln!("a budget cannot be read, so nothing can be sent; set all of them again");
        }
        match target {
            BudgetTarget::Account(account) => {
                // This process serves nobody, so that it has to be told.
                service.enforce_budgets();
                let budgets = service.budgets(account).await.map_err(failed)?;
                Ok(budgets.iter().map(state_line).collect::<Vec<_>>())
            }
            target => {
                let of_target: Vec<Budget> =
                    stored.budgets.into_iter().filter(|budget| budget.target == target).collect();
                Ok(Budget::in_force(&of_target).iter().map(stored_line).collect())
            }
        }
    })?;
    if json {
        return output::print_json(&lines.into_iter().map(|(value, _)| value).collect::<Vec<Value>>());
    }
    lines.into_iter().try_for_each(|(_, line)| output::print_line(line))
}

fn state_line(budget: &BudgetState) -> (Value, String) {
    let kind = budget.kind;
    let (used, most) = (kind.format_amount(budget.used), kind.format_amount(budget.most));
    let source = match (budget.is_default, budget.is_of_group) {
        (true, _) => ", default",
        (false, true) => ", group",
        (false, false) => "",
    };
    let line = format!(
        "{}: {used} of {most} ({}%{source}); resets {}",
        kind.as_str(),
        budget.percent(),
        budget.resets_at.format("%Y-%m-%d %H:%M UTC")
    );
    (json!(budget), line)
}

fn stored_line(budget: &Budget) -> (Value, String) {
    let kind = budget.kind;
    let line = format!("{}: {}", kind.as_str(), kind.format_amount(budget.most));
    (json!({ "kind": kind, "most": budget.most }), line)
}
