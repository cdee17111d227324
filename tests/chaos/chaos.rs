//! `cargo xtask chaos`: breaks the dependencies of a server (its process, providers, database, rows, clients, disk,
//! stored times) while it works, and checks the real program's guarantees. Every scenario runs on SQLite and on
//! PostgreSQL, in a cluster of its own. The random choices follow from a seed, which is printed: `--seed` repeats a
//! run.

#![expect(clippy::unwrap_used, reason = "a scenario fails by panicking")]

#[path = "../support/damage_values.rs"]
mod damages;
#[path = "../support/fake_provider.rs"]
#[expect(dead_code, reason = "tests wait for requests and for clients that close")]
mod fakeprov;
#[path = "../support/own_cluster.rs"]
#[expect(dead_code, reason = "the tests ask whether they are to run on PostgreSQL")]
mod own_cluster;
#[path = "../support/postgres_proxy.rs"]
#[expect(dead_code, reason = "connections that are cut or die alone are for the tests of the server")]
mod postgres_proxy;
#[path = "../support/small_disk.rs"]
mod small_disk;

mod chat_client;
mod client_faults;
mod clock_jumps;
mod damaged_rows;
mod full_disk;
mod installation;
mod kills;
mod model_server;
mod outages;
mod provider_faults;
mod report;
mod scenario_context;
mod seeded_rng;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use futures::future::BoxFuture;

use report::{ReportRow, ScenarioFindings, ScenarioOutcome};
use scenario_context::{ScenarioContext, ScenarioDatabase, SharedCluster};
use seeded_rng::SeededRng;

/// The time limit of a scenario on one database, after which it counts as hanging.
const SCENARIO_TIME: Duration = Duration::from_secs(9 * 60);

#[derive(Parser)]
#[command(name = "cargo xtask chaos", bin_name = "cargo xtask chaos")]
struct Arguments {
    /// The server binary to test.
    #[arg(long)]
    binary: PathBuf,
    /// Repeat the run that printed this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// The scenarios to run; all if none is named.
    scenarios: Vec<String>,
}

/// One scenario: a way of breaking things.
struct Scenario {
    name: &'static str,
    /// The guarantees that must hold, in the words of the table.
    criteria: &'static str,
    databases: &'static [ScenarioDatabase],
    run: fn(ScenarioContext) -> BoxFuture<'static, ScenarioFindings>,
    /// The scenario waits more than it works, so others run beside it.
    is_patient: bool,
}

const BOTH: &[ScenarioDatabase] = &[ScenarioDatabase::Sqlite, ScenarioDatabase::Postgres];

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "rows",
        criteria: "the server starts, lists, reads the other chat and exports; fsck runs and names what it cannot read",
        databases: BOTH,
        run: |ground| Box::pin(damaged_rows::run(ground)),
        is_patient: false,
    },
    Scenario {
        name: "kills",
        criteria: "accepted is stored; shown 250 ms ago is stored; every turn ends; fsck is clean",
        databases: BOTH,
        run: |ground| Box::pin(kills::run(ground)),
        is_patient: false,
    },
    Scenario {
        name: "providers",
        criteria: "every turn ends with a code; what came is kept; asked as often as promised; the next is answered",
        databases: BOTH,
        run: |ground| Box::pin(provider_faults::run(ground)),
        is_patient: true,
    },
    Scenario {
        name: "outages",
        criteria: "nothing acknowledged or shown is lost; well again 5 s after the healing; fsck is clean",
        databases: &[ScenarioDatabase::Postgres],
        run: |ground| Box::pin(outages::run(ground)),
        is_patient: true,
    },
    Scenario {
        name: "clients",
        criteria: "an honest client is served in time all along; fsck is clean",
        databases: BOTH,
        run: |ground| Box::pin(client_faults::run(ground)),
        is_patient: false,
    },
    Scenario {
        name: "disk",
        criteria: "running replies end whole, new ones are refused with 507; both work again when there is room",
        databases: BOTH,
        run: |ground| Box::pin(full_disk::run(ground)),
        is_patient: false,
    },
    Scenario {
        name: "clock",
        criteria: "the order of turns stays; running replies complete; none hangs after a start; fsck is clean",
        databases: BOTH,
        run: |ground| Box::pin(clock_jumps::run(ground)),
        is_patient: false,
    },
];

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let names: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    if let Some(unknown) = arguments.scenarios.iter().find(|name| !names.contains(&name.as_str())) {
        eprintln!("chaos: there is no scenario {unknown}; there are {}", names.join(", "));
        return ExitCode::FAILURE;
    }
    let seed = arguments.seed.unwrap_or_else(seeded_rng::fresh_seed);
    println!("seed {seed} (`cargo xtask chaos --seed {seed}` repeats this run)");
    let cluster = tokio::task::spawn_blocking(SharedCluster::start).await.unwrap().map(Arc::new);
    if cluster.is_none() {
        println!("SKIPPED on PostgreSQL: there is no initdb on this machine");
    }
    let place = tempfile::Builder::new().prefix("turnleaf-chaos-").tempdir().unwrap().keep();
    let is_selected = |scenario: &&Scenario| {
        arguments.scenarios.is_empty() || arguments.scenarios.iter().any(|name| name == scenario.name)
    };
    let run = |scenario: &'static Scenario, database: ScenarioDatabase| {
        let (cluster, binary) = (cluster.clone(), arguments.binary.clone());
        let dir = place.join(format!("{}-{}", scenario.name, database.name().to_lowercase()));
        async move {
            if database == ScenarioDatabase::Postgres && cluster.is_none() {
                return ReportRow::from_outcome(
                    scenario.name,
                    database,
                    scenario.criteria,
                    ScenarioOutcome::Skipped,
                    Duration::ZERO,
                );
            }
            let randomness = SeededRng::from_seed(seed, &format!("{}/{}", scenario.name, database.name()));
            let ground = ScenarioContext::new(binary, dir.clone(), database, cluster, scenario.name, randomness).await;
            let kept = ground.database_copy();
            let started = Instant::now();
            let ran = tokio::time::timeout(SCENARIO_TIME, tokio::spawn((scenario.run)(ground))).await;
            let outcome = match ran {
                Ok(Ok(findings)) => ScenarioOutcome::Ran(findings),
                Ok(Err(panicked)) => ScenarioOutcome::Panicked(report::panic_message(panicked)),
                Err(_) => ScenarioOutcome::Panicked(format!("it took longer than {} s", SCENARIO_TIME.as_secs())),
            };
            let row = ReportRow::from_outcome(scenario.name, database, scenario.criteria, outcome, started.elapsed());
            eprintln!("{}", row.table_line());
            if row.has_failed() {
                kept.write(&dir);
                row.kept_in(dir)
            } else {
                let _ = std::fs::remove_dir_all(&dir);
                row
            }
        }
    };
    let scenarios: Vec<&'static Scenario> = SCENARIOS.iter().filter(is_selected).collect();
    let patient = scenarios.iter().copied().filter(|scenario| scenario.is_patient);
    let concurrent =
        patient.flat_map(|scenario| scenario.databases.iter().map(move |database| run(scenario, *database)));
    let concurrent = futures::future::join_all(concurrent.collect::<Vec<_>>());
    let one_by_one = async {
        let mut rows = Vec::new();
        for scenario in scenarios.iter().copied().filter(|scenario| !scenario.is_patient) {
            let on_each = scenario.databases.iter().map(|database| run(scenario, *database));
            rows.extend(futures::future::join_all(on_each).await);
        }
        rows
    };
    let (mut rows, more) = tokio::join!(one_by_one, concurrent);
    rows.extend(more);
    // The folder stays if a failed scenario has left something in it.
    let _ = std::fs::remove_dir(&place);
    report::print_report(&rows, seed)
}
