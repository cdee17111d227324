//! Tests of the lock of a new branch, for every combination of inputs.

use super::*;
use crate::fixtures;

#[test]
fn lock_of_new_branch_is_resolved_by_table() {
    let source = ModelLock::new("openai", "g1");
    let configured = ModelLock::new("demo", "demo-scripted");
    let default_of = |provider: &str| match provider {
        "openai" => Some("g-default".to_owned()),
        "anthropic" => Some("c-default".to_owned()),
        _ => None,
    };
    type LockCase<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a ModelLock>, Option<(&'a str, &'a str)>);
    let table: [LockCase<'_>; 10] = [
        // Provider and model are given: used as given, even if the server does not know them.
        (Some("anthropic"), Some("c1"), Some(&source), Some(("anthropic", "c1"))),
        (Some("nobody"), Some("n1"), None, Some(("nobody", "n1"))),
        // The source's provider is given: the source's model, not the provider's default.
        (Some("openai"), None, Some(&source), Some(("openai", "g1"))),
        // Another provider: its default, if it has one.
        (Some("anthropic"), None, Some(&source), Some(("anthropic", "c-default"))),
        (Some("openai"), None, None, Some(("openai", "g-default"))),
        (Some("nobody"), None, Some(&source), None),
        // Only a model: at the source's provider, else at the configured one.
        (None, Some("g2"), Some(&source), Some(("openai", "g2"))),
        (None, Some("demo-2"), None, Some(("demo", "demo-2"))),
        // Nothing is given: inherited, else configured.
        (None, None, Some(&source), Some(("openai", "g1"))),
        (None, None, None, Some(("demo", "demo-scripted"))),
    ];
    for (provider, model, source, expected) in table {
        let lock = resolve_lock(provider, model, source, default_of, &configured);
        let expected = expected.map(|(provider, model)| ModelLock::new(provider, model));
        assert_eq!(lock, expected, "{provider:?} {model:?} {source:?}");
    }
}

#[test]
fn branch_serializes_its_lock_flat() {
    let (id, chat) = (BranchId::from_uuid(fixtures::uuid(1)), ChatId::from_uuid(fixtures::uuid(2)));
    let root = Branch::new(id, chat, "main", ModelLock::new("openai", "g1"), fixtures::time(0));
    let branch = Branch { origin: BranchOrigin::ModelSwitch, ..root };
    let json = serde_json::to_value(&branch).unwrap();
    assert_eq!(
        (&json["provider"], &json["model"], &json["origin"]),
        (&"openai".into(), &"g1".into(), &"model_switch".into())
    );
    assert_eq!(serde_json::from_value::<Branch>(json).unwrap(), branch);
}
