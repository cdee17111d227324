//! `turnleaf fsck --repair` in the real program: unreadable values are moved into quarantine, and nothing is repaired
//! while a server runs.

use std::path::Path;

use serde_json::Value;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::{CliServer, run, text};

/// Damages the account's name and stores a setting that is no JSON, as a bad disk would.
async fn damage(file: &Path) {
    let options = SqliteConnectOptions::new().filename(file).pragma("ignore_check_constraints", "ON");
    let mut conn = SqliteConnection::connect_with(&options).await.unwrap();
    let damages = "UPDATE users SET name = CAST(X'6dff65' AS TEXT); \
        INSERT INTO settings (owner_id, key, value, updated_at) SELECT id, 'look', '{\"theme\":', created_at FROM users";
    sqlx::raw_sql(damages).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

#[tokio::test]
async fn unreadable_rows_are_quarantined_and_rest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let server = CliServer::start(dir.path());
    let refused = run(dir.path(), &["fsck", "--repair"]);
    assert_eq!(refused.status.code(), Some(75), "{}", text(&refused.stderr));
    drop(server);
    damage(&dir.path().join("turnleaf.db")).await;
    let found = run(dir.path(), &["fsck"]);
    assert_eq!(found.status.code(), Some(74));
    let found = text(&found.stdout);
    for named in ["users ", ": its name cannot be read", "settings ", ": its value cannot be read", "fsck --repair"] {
        assert!(found.contains(named), "{named}: {found}");
    }

    let repaired = run(dir.path(), &["fsck", "--repair", "--json"]);
    let printed: Value = serde_json::from_slice(&repaired.stdout).unwrap();
    assert_eq!(repaired.status.code(), Some(0), "{printed}");
    assert_eq!(printed["findings"], serde_json::json!([]));
    assert_eq!(printed["repairs"].as_array().unwrap().len(), 2, "{printed}");
    assert_eq!(text(&run(dir.path(), &["fsck"]).stdout), "No problems found.\n");
    let again = run(dir.path(), &["fsck", "--repair"]);
    assert_eq!((again.status.code(), text(&again.stdout).as_str()), (Some(0), "No problems found.\n"));

    let kept = text(&run(dir.path(), &["fsck", "--quarantine"]).stdout);
    let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |table: &str| kept.iter().find(|value| value["table"] == table).unwrap();
    assert_eq!((&of("users")["column"], &of("users")["hex"]), (&"name".into(), &"6dff65".into()));
    assert_eq!(of("settings")["column"], "", "without its value a setting is none: {kept:?}");
    let whole: Value = serde_json::from_str(of("settings")["text"].as_str().unwrap()).unwrap();
    assert_eq!(whole["value"], "7b227468656d65223a");

    // The output for people states what was done with which value, and where its bytes are.
    damage(&dir.path().join("turnleaf.db")).await;
    let output = text(&run(dir.path(), &["fsck", "--repair"]).stdout);
    let lines: Vec<&str> = output.lines().collect();
    let [name, setting, sum, order] = lines.as_slice() else { panic!("{output}") };
    assert!(name.starts_with("users ") && name.contains(", name: invalid bytes replaced with U+FFFD."), "{output}");
    assert!(setting.starts_with("settings ") && setting.contains(", value: the whole row removed."), "{output}");
    for line in [name, setting] {
        let entry = line.rsplit_once("Original: quarantine ").unwrap().1;
        assert!(entry.parse::<uuid::Uuid>().is_ok(), "{output}");
    }
    assert_eq!(*sum, "Repaired: 2. Not repaired: 0. Run `turnleaf fsck --quarantine` to print the original bytes.");
    assert_eq!(*order, "No problems found.");
    CliServer::start(dir.path());
}
