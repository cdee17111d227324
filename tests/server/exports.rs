//! Chats exported as a page and as a git repository, which git itself reads, and the stored origin of an imported
//! chat, on either database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use axum::body::Body;
use http::{Request, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use turnleaf::domain::transfer::export::ExportOptions;
use turnleaf::domain::{BranchId, ChatId, Content, ImportDifferenceKind, ImportOrigin, TurnId};
use turnleaf::server::http::transfer::exports::standalone_page;
use turnleaf_interchange::Input;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::branches::BranchChange;
use turnleaf_service::chats::ChatChange;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::ImportRequest;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;

use crate::fake_file_reader::{FakeFileReader, PNG};
use crate::http_api::TestApi;
use crate::interchange::{export_archive, import_file, replies, varied_chat};
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};

/// Runs git on a repository and returns its output. Returns `None`, and prints a note, where git is not installed.
pub fn git(repository: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(repository).args(arguments).env_clear().env("HOME", repository);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("GIT_CONFIG_NOSYSTEM", "1");
    match command.output() {
        Ok(output) => {
            let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "git {arguments:?}: {output_text}{errors}");
            Some(format!("{output_text}{errors}"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: there is no git that could read the repository");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Writes a chat's repository into a folder of the server's directory, and lets git check it strictly.
async fn repository(instance: &TestServer, chat: ChatId, name: &str) -> Option<std::path::PathBuf> {
    let folder = instance.dir.path().join(name);
    instance.service.export_git_folder(instance.owner, chat, &folder).await.unwrap().unwrap();
    let output_text = git(&folder, &["fsck", "--strict", "--full", "--no-dangling"])?;
    // A repository without commits is valid.
    let faults: Vec<&str> = output_text.lines().filter(|line| !line.starts_with("notice: ")).collect();
    assert_eq!(faults, [""; 0], "git has nothing to say of it");
    Some(folder)
}

fn lines(output_text: &str) -> Vec<&str> {
    output_text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[tokio::test]
async fn git_reads_chat_with_its_turns_its_branches_and_their_models() {
    for instance in TestServer::on_every_database(|| replies(8)).await {
        let chat = varied_chat(&instance).await;
        let Some(folder) = repository(&instance, chat, "first.git").await else { return instance.close().await };

        // The commit graph is the tree: each commit's parent is the commit of the previous turn.
        let log =
            git(&folder, &["log", "--all", "--topo-order", "--format=%H %P|%an|%at|%s|%(trailers:key=Turn,valueonly)"]);
        let log = log.unwrap();
        let mut commits: BTreeMap<TurnId, (String, Option<String>, String, i64, String)> = BTreeMap::new();
        for line in lines(&log) {
            let mut parts = line.split('|');
            let mut ids = parts.next().unwrap().split_whitespace().map(str::to_owned);
            let (commit, parent) = (ids.next().unwrap(), ids.next());
            assert_eq!(ids.next(), None, "no turn hangs on two");
            let [name, at, subject, turn] = [(); 4].map(|()| parts.next().unwrap_or_default().to_owned());
            commits.insert(turn.parse().unwrap(), (commit, parent, name, at.parse().unwrap(), subject));
        }
        let archive: Value = serde_json::from_slice(&export_archive(&instance, ExportScope::Chat(chat)).await).unwrap();
        let turns = archive["chats"][0]["turns"].as_array().unwrap();
        assert_eq!((commits.len(), turns.len()), (8, 8));
        for turn in turns {
            let id: TurnId = turn["id"].as_str().unwrap().parse().unwrap();
            let (_, parent, name, at, _) = &commits[&id];
            let before = turn["prev_turn_id"].as_str().map(|before| commits[&before.parse().unwrap()].0.clone());
            assert_eq!(*parent, before);
            assert_eq!(name, turn["model_used"].as_str().unwrap_or("User"));
            let began: chrono::DateTime<chrono::Utc> = turn["created_at"].as_str().unwrap().parse().unwrap();
            assert_eq!(*at, began.timestamp());
        }
        let subjects: BTreeSet<&str> = commits.values().map(|commit| commit.4.as_str()).collect();
        for words in ["Hello", "Go on", "Or else", "With another model", "reply 0"] {
            assert!(subjects.contains(words), "{words}: {subjects:?}");
        }
        let graph = git(&folder, &["log", "--graph", "--all", "--oneline"]).unwrap();
        assert!(graph.contains("|/") && graph.matches('*').count() == 8, "{graph}");

        // A branch is a ref; its provider and model stand in `turnleaf.json` and `branch.json`.
        let refs = git(&folder, &["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads"]).unwrap();
        let refs: BTreeMap<&str, &str> = lines(&refs).into_iter().map(|line| line.split_once(' ').unwrap()).collect();
        let metadata: Value = serde_json::from_slice(&std::fs::read(folder.join("turnleaf.json")).unwrap()).unwrap();
        assert_eq!(metadata["chat"]["title"], "Hello");
        let branches = instance.service.branches(instance.owner, chat).await.unwrap();
        assert_eq!((refs.len(), metadata["branches"].as_object().unwrap().len()), (branches.len(), branches.len()));
        for branch in &branches {
            let (name, branch_metadata) = metadata["branches"]
                .as_object()
                .unwrap()
                .iter()
                .find(|(_, branch_metadata)| branch_metadata["id"] == branch.id.to_string())
                .unwrap();
            assert_eq!(
                (branch_metadata["provider"].as_str(), branch_metadata["model"].as_str()),
                (Some("scripted"), Some(branch.lock.model.as_str()))
            );
            assert_eq!(refs[name.as_str()], commits[&branch.head_turn_id.unwrap()].0);
            let lock = git(&folder, &["show", &format!("{name}:branch.json")]).unwrap();
            let lock: Value = serde_json::from_str(&lock).unwrap();
            assert_eq!(lock["model"], branch.lock.model);
        }
        // `HEAD` is the path that is shown, so a clone checks it out.
        let head = git(&folder, &["log", "-1", "--format=%s", "HEAD"]).unwrap();
        assert_eq!(head.trim(), "reply 3");

        // A commit's tree has a folder for each turn up to it, readable for people and for programs.
        let files = git(&folder, &["ls-tree", "-r", "--name-only", "HEAD"]).unwrap();
        let files = lines(&files);
        assert_eq!(files.len(), 1 + 2 * 6, "{files:?}");
        let markdown = git(&folder, &["show", "HEAD:turns/00001-00100/00002-assistant/turn.md"]).unwrap();
        assert!(markdown.contains("<summary>") && markdown.contains("reply 0"), "{markdown}");
        let turn_json = git(&folder, &["show", "HEAD:turns/00001-00100/00002-assistant/turn.json"]).unwrap();
        let turn_json: Value = serde_json::from_str(&turn_json).unwrap();
        assert_eq!(&turn_json, turns.iter().find(|turn| turn["id"] == turn_json["id"]).unwrap());

        // Exporting is deterministic: a second export, and one after the chat was continued and lost a branch, gives
        // the same commits.
        let again = repository(&instance, chat, "again.git").await.unwrap();
        for file in ["HEAD", "packed-refs", "turnleaf.json"] {
            assert_eq!(std::fs::read(folder.join(file)).unwrap(), std::fs::read(again.join(file)).unwrap(), "{file}");
        }
        let gone = branches.iter().find(|branch| branch.lock.model == "model-b").unwrap();
        instance.service.delete_branch(instance.owner, gone.id).await.unwrap();
        let root = branches.iter().find(|branch| branch.parent_branch_id.is_none()).unwrap();
        let place = PlacementRequest { prev_turn_id: root.head_turn_id, ..PlacementRequest::default() };
        let more = TurnRequest { chat_id: Some(chat), place, ..message_to_send("And on") };
        let started = instance.service.start_turn(instance.owner, more).await.unwrap();
        instance.wait_until_ended(started.assistant_turn.id).await;
        let grown = repository(&instance, chat, "grown.git").await.unwrap();
        let all = |folder: &Path| -> BTreeSet<String> {
            let revisions = git(folder, &["rev-list", "--all"]).unwrap();
            lines(&revisions).into_iter().map(str::to_owned).collect()
        };
        let (before, after) = (all(&folder), all(&grown));
        assert_eq!((after.len(), after.intersection(&before).count()), (8, 6), "two were deleted, two are new");
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn branches_of_any_name_are_refs_and_long_chat_keeps_its_folders() {
    let instance = TestServer::new(replies(120)).await;
    let first = instance.send("Root").await;
    instance.wait_until_ended(first.assistant_turn.id).await;
    let chat = first.chat.id;
    let names = ["版本 二", "a..b", "x.lock", "HEAD", "-rf /", "a", "A", "a/b", "@{-1}", "~^:?*[", &"长".repeat(80)];
    for name in names {
        let place = PlacementRequest {
            prev_turn_id: Some(first.assistant_turn.id),
            may_branch: true,
            ..PlacementRequest::default()
        };
        let turn = TurnRequest { chat_id: Some(chat), place, ..message_to_send(name) };
        let started = instance.service.start_turn(instance.owner, turn).await.unwrap();
        instance.wait_until_ended(started.assistant_turn.id).await;
        rename(&instance, started.branch.id, name).await;
    }
    let mut last = first.assistant_turn.id;
    for number in 0..55 {
        let place = PlacementRequest { prev_turn_id: Some(last), may_branch: true, ..PlacementRequest::default() };
        let turn = TurnRequest { chat_id: Some(chat), place, ..message_to_send(&format!("Number {number}")) };
        let started = instance.service.start_turn(instance.owner, turn).await.unwrap();
        last = instance.wait_until_ended(started.assistant_turn.id).await.id;
    }
    let Some(folder) = repository(&instance, chat, "names.git").await else { return };
    let refs = git(&folder, &["for-each-ref", "--format=%(refname)"]).unwrap();
    let branches = instance.service.branches(instance.owner, chat).await.unwrap();
    assert_eq!(lines(&refs).len(), branches.len(), "{refs}");
    for name in lines(&refs) {
        git(&folder, &["check-ref-format", name]).unwrap();
    }
    assert!(lines(&refs).contains(&"refs/heads/版本-二"), "{refs}");
    let files = git(&folder, &["ls-tree", "-d", "-r", "--name-only", "HEAD"]).unwrap();
    let folders = lines(&files);
    assert!(
        folders.contains(&"turns/00001-00100/00100-assistant")
            && folders.contains(&"turns/00101-00200/00112-assistant"),
        "{folders:?}"
    );
    assert_eq!(folders.iter().filter(|path| path.matches('/').count() == 2).count(), 112);
    // The repository can be cloned like any other.
    let clone = instance.dir.path().join("clone");
    let (from, to) = (folder.display().to_string(), clone.display().to_string());
    git(&folder, &["clone", "--quiet", &from, &to]).unwrap();
    assert!(clone.join("turns/00101-00200/00112-assistant/turn.md").exists());
}

async fn rename(instance: &TestServer, branch: BranchId, name: &str) {
    let change = BranchChange { name: Some(name.to_owned()), ..BranchChange::default() };
    instance.service.change_branch(instance.owner, branch, change).await.unwrap();
}

/// Starts a chat whose message has an image.
async fn with_picture(instance: &TestServer) -> (ChatId, String) {
    let reading = instance.service.clone().with_reader(Arc::new(FakeFileReader));
    let sha256 = reading.upload_file(instance.owner, "leaf.png", [PNG, b"leaf"].concat().into()).await.unwrap().sha256;
    let content = vec![
        MessageBlock::Text { text: "What is this?".into() },
        MessageBlock::Image { blob: sha256.clone(), alt: Some("A leaf".into()) },
    ];
    let started =
        instance.service.start_turn(instance.owner, TurnRequest { content, ..TurnRequest::default() }).await.unwrap();
    instance.wait_until_ended(started.assistant_turn.id).await;
    (started.chat.id, sha256)
}

/// Unpacks a ZIP archive and returns the folder.
fn unpack_repository(dir: &Path, zip: &[u8]) -> std::path::PathBuf {
    let to = dir.join("unpacked");
    let mut input = Input::open("a.zip", Box::new(std::io::Cursor::new(zip.to_vec()))).unwrap();
    let names: Vec<String> = input.parts().all().iter().map(|part| part.name.clone()).collect();
    for name in names {
        let path = to.join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, input.read_part(&name, 1 << 20).unwrap()).unwrap();
    }
    // The archive also has empty folders, which the reader skips; without this one, git recognizes no repository.
    let folder = b"What-is-this.git/refs/heads/";
    assert!(zip.windows(folder.len()).any(|bytes| bytes == folder));
    std::fs::create_dir_all(to.join("What-is-this.git/refs/heads")).unwrap();
    to
}

#[tokio::test]
async fn page_over_http_includes_images_and_repository_is_zip() {
    for instance in TestServer::on_every_database(|| replies(4)).await {
        let (chat, sha256) = with_picture(&instance).await;
        let api = TestApi::with_server(instance);
        let get = async |path: String| {
            let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
            let response = api.send(request).await;
            let (parts, body) = response.into_parts();
            (parts.status, parts.headers, axum::body::to_bytes(body, usize::MAX).await.unwrap())
        };
        let (status, headers, body) = get(format!("/api/chats/{chat}/export?format=html")).await;
        assert_eq!(
            (status, headers[header::CONTENT_TYPE].as_bytes()),
            (StatusCode::OK, &b"text/html; charset=utf-8"[..])
        );
        assert!(
            headers[header::CONTENT_DISPOSITION]
                .to_str()
                .unwrap()
                .starts_with("attachment; filename=\"What is this_.html\"")
        );
        let html = String::from_utf8(body.to_vec()).unwrap();
        assert!(html.contains("src=\"data:image/png;base64,") && html.contains("alt=\"A leaf\""), "{html}");
        assert!(!html.contains("<script") && !html.contains("/api/") && !html.contains("<button"), "{html}");
        assert!(html.contains("data-segment=\"reasoning\"") && html.contains("reply 0"), "{html}");
        let (_, _, body) = get(format!("/api/chats/{chat}/export?format=html&reasoning=left_out&tools=full")).await;
        assert!(!String::from_utf8_lossy(&body).contains("data-segment=\"reasoning\""));

        // The page to print is the same document: shown rather than saved, and only this site may frame it.
        let (status, headers, body) = get(format!("/c/{chat}/print")).await;
        assert_eq!((status, headers.get(header::CONTENT_DISPOSITION)), (StatusCode::OK, None));
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.ends_with("frame-ancestors 'self'"), "{policy}");
        assert_eq!(String::from_utf8(body.to_vec()).unwrap(), html);
        let (status, _, _) = get(format!("/c/{chat}/print?leaf={}", uuid::Uuid::nil())).await;
        assert_eq!(status, StatusCode::NOT_FOUND);

        let (status, headers, body) = get(format!("/api/chats/{chat}/export?format=git")).await;
        assert_eq!((status, headers[header::CONTENT_TYPE].as_bytes()), (StatusCode::OK, &b"application/zip"[..]));
        let (_, _, again) = get(format!("/api/chats/{chat}/export?format=git")).await;
        assert_eq!(body, again, "the same chat is the same file");
        let folder = unpack_repository(api.instance.dir.path(), &body).join("What-is-this.git");
        if let Some(problems) = git(&folder, &["fsck", "--strict", "--full"]) {
            assert_eq!(problems.trim(), "");
            let path = format!("HEAD:turns/00001-00100/00001-user/{sha256}.png");
            assert_eq!(git(&folder, &["cat-file", "-t", &path]).unwrap().trim(), "blob");
            let markdown = git(&folder, &["show", "HEAD:turns/00001-00100/00001-user/turn.md"]).unwrap();
            assert!(markdown.contains(&format!("![A leaf]({sha256}.png)")), "{markdown}");
        }
        // The same file is imported again, with its image.
        let file = api.instance.dir.path().join("repository.zip");
        std::fs::write(&file, &body).unwrap();
        let import = |owner, dry_run| {
            let (file, name) = (file.clone(), "What-is-this.git.zip".to_owned());
            ImportRequest { owner, file, name, format: None, options: Default::default(), dry_run }
        };
        let report = api.instance.service.import(import(api.instance.owner, true), &mut |_| true).await.unwrap();
        assert_eq!((report.format, report.known, report.stopped), (Some("git"), 1, None));
        let other = TestServer::new(replies(1)).await;
        let report = other.service.import(import(other.owner, false), &mut |_| true).await.unwrap();
        assert_eq!((report.imported, report.files, report.stopped), (1, 1, None), "{:?}", report.findings);
        assert_eq!(report.findings, []);
        other.close().await;
        let stranger = ChatId::from_uuid(uuid::Uuid::from_u128(7));
        for format in ["html", "git", "markdown", "json"] {
            let (status, ..) = get(format!("/api/chats/{stranger}/export?format={format}")).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{format}");
        }
        let (_, _, page) = get(format!("/c/{chat}/export")).await;
        let page = String::from_utf8_lossy(&page);
        assert!(page.contains("value=\"html\"") && page.contains("format=git"), "{page}");
        assert!(!page.contains("Source"));
        api.instance.close().await;
    }
}

/// A key that was stored before it was known as a key: in text, which is escaped, and in code, which highlighting
/// splits into spans. Its parts are none of an id.
#[tokio::test]
async fn page_contains_no_currently_known_key() {
    let key = "k<3&\"9x8y-7w6z-5v4u\"=='let x'";
    let instance = TestServer::new(ScriptedProvider::new(
        "scripted",
        [streamed_answer([text_step(&format!("It is {key}.\n\n```rust\n{key}\n```\n"))])],
    ));
    let instance = instance.await;
    let message = format!("My key is {key}");
    let sent = instance.send(&message).await;
    instance.wait_until_ended(sent.assistant_turn.id).await;
    let chat = sent.user_turn.chat_id;
    let change = ChatChange { title: Some(message), ..ChatChange::default() };
    instance.service.change_chat(instance.owner, chat, change).await.unwrap();
    instance.service.supervisor().registry().remember_credentials([key.to_owned().into()]);
    let page =
        standalone_page(&instance.service, String::new(), instance.owner, chat, None, ExportOptions::default()).await;
    let page = page.map_err(|error| error.detail().to_owned()).unwrap();
    for part in ["9x8y", "7w6z", "5v4u"] {
        assert!(!page.contains(part), "{page}");
    }
    assert!(page.contains("My key is") && page.contains("[removed]"), "{page}");
    let archive = String::from_utf8(export_archive(&instance, ExportScope::Chat(chat)).await).unwrap();
    assert!(!archive.contains("9x8y"), "{archive}");
    instance.close().await;
}

#[tokio::test]
async fn chat_without_turns_is_empty_repository_and_folder_must_be_empty() {
    let instance = TestServer::new(replies(1)).await;
    let chat = instance.service.create_chat(instance.owner, Default::default()).await.unwrap().value.0.id;
    let Some(folder) = repository(&instance, chat, "empty.git").await else { return };
    assert_eq!(git(&folder, &["rev-list", "--all"]).unwrap(), "");
    let taken = instance.service.export_git_folder(instance.owner, chat, &folder).await.unwrap().unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AlreadyExists);
    let html = instance.service.export_markdown(instance.owner, chat, None, ExportOptions::default()).await.unwrap();
    assert!(!html.is_empty());
    let (send, mut receive) = mpsc::channel(1);
    let service = instance.service.clone();
    let writing = tokio::spawn(async move { service.export_git(service.local_owner(), chat, send).await });
    // A reader that stops reading is no failure.
    drop(receive.recv().await);
    drop(receive);
    writing.await.unwrap().unwrap();
}

/// Returns a ChatGPT export with a canvas, an image that is missing and a GPT.
fn imported_archive() -> Value {
    let node = |id: &str, parent: Value, children: Value, role: &str, content: Value| {
        json!({
            "id": id, "parent": parent, "children": children,
            "message": {"id": id, "author": {"role": role}, "create_time": 1_700_000_000.0, "content": content,
                "metadata": {"model_slug": "gpt-4o"}},
        })
    };
    let picture = json!({"content_type": "multimodal_text", "parts": [
        "Look", {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-gone"}]});
    json!([{
        "id": "conv-1", "conversation_id": "conv-1", "title": "A tree", "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0, "current_node": "a1", "gizmo_type": "gpt",
        "mapping": {
            "root": {"id": "root", "message": null, "parent": null, "children": ["u1"]},
            "u1": node("u1", json!("root"), json!(["a1"]), "user", picture),
            "a1": node("a1", json!("u1"), json!([]), "assistant", json!({"content_type": "text", "parts": ["A leaf."]})),
        },
    }, {
        "id": "conv-2", "conversation_id": "conv-2", "title": "Whole", "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0, "current_node": "u1",
        "mapping": {
            "u1": node("u1", Value::Null, json!([]), "user", json!({"content_type": "text", "parts": ["Hi."]})),
        },
    }])
}

#[tokio::test]
async fn import_losses_stay_with_chat_and_are_in_every_export() {
    for instance in TestServer::on_every_database(|| replies(1)).await {
        let report =
            import_file(&instance, "conversations.json", &serde_json::to_vec(&imported_archive()).unwrap(), false)
                .await;
        assert_eq!(report.imported, 2, "{report:?}");
        let (chat, whole) = (report.chats[0].id.unwrap(), report.chats[1].id.unwrap());
        let kept = instance.service.imported_from(instance.owner, chat).await.unwrap().unwrap();
        assert_eq!((kept.format.as_str(), kept.file.as_str()), ("chatgpt", "conversations.json"));
        let of_chat: Vec<_> = report.findings.iter().filter(|one| one.place.contains("conv-1")).cloned().collect();
        assert_eq!(kept.differences, of_chat);
        let lost = kept.differences.iter().filter(|one| one.kind == ImportDifferenceKind::Lost).count();
        assert!(lost >= 2, "the picture and the GPT: {kept:?}");
        let of_whole = instance.service.imported_from(instance.owner, whole).await.unwrap().unwrap();
        assert_eq!(of_whole.differences, []);
        let stranger = turnleaf::domain::UserId::from_uuid(uuid::Uuid::from_u128(1));
        assert_eq!(instance.service.imported_from(stranger, chat).await.unwrap(), None);

        let markdown =
            instance.service.export_markdown(instance.owner, chat, None, ExportOptions::default()).await.unwrap();
        let markdown = String::from_utf8(markdown).unwrap();
        assert!(
            markdown.contains("**Imported from:** chatgpt") && markdown.contains("- **not preserved**"),
            "{markdown}"
        );
        let style = String::new();
        let html = turnleaf::server::http::transfer::exports::standalone_page(
            &instance.service,
            style,
            instance.owner,
            chat,
            None,
            ExportOptions::default(),
        );
        let html = html.await.unwrap();
        assert!(html.contains("Imported from ChatGPT") && html.contains("not preserved"), "{html}");
        let archive = export_archive(&instance, ExportScope::Chat(chat)).await;
        let exported: Value = serde_json::from_slice(&archive).unwrap();
        let in_archive: ImportOrigin = serde_json::from_value(exported["chats"][0]["imported_from"].clone()).unwrap();
        assert_eq!(in_archive, kept);

        // The origin is exported and imported unchanged.
        let target = TestServer::new(replies(1)).await;
        let report = import_file(&target, "a.json", &archive, false).await;
        let imported_chat = report.chats[0].id.unwrap();
        assert_eq!(target.service.imported_from(target.owner, imported_chat).await.unwrap(), Some(kept));
        target.check_invariants().await;

        // An image whose bytes are missing from the archive is a difference of its own.
        let (pictured, sha256) = with_picture(&instance).await;
        assert_eq!(instance.service.imported_from(instance.owner, pictured).await.unwrap(), None);
        let mut exported: Value =
            serde_json::from_slice(&export_archive(&instance, ExportScope::Chat(pictured)).await).unwrap();
        exported["blobs"] = json!([]);
        let report = import_file(&target, "b.json", &serde_json::to_vec(&exported).unwrap(), false).await;
        let imported_chat = report.chats[0].id.unwrap();
        let kept = target.service.imported_from(target.owner, imported_chat).await.unwrap().unwrap();
        assert_eq!((kept.format.as_str(), kept.differences.len()), ("turnleaf", 1), "{kept:?} {sha256}");
        let path = target.service.path(target.owner, imported_chat, None, 9).await.unwrap();
        assert!(path.turns[0].blocks.iter().all(|block| !matches!(block.content, Content::Image { .. })));

        let api = TestApi::with_server(instance);
        let request = Request::builder().uri(format!("/c/{chat}/export")).header("host", "127.0.0.1:3000");
        let page = api.send(request.body(Body::empty()).unwrap()).await;
        let page = axum::body::to_bytes(page.into_body(), usize::MAX).await.unwrap();
        let page = String::from_utf8_lossy(&page);
        assert!(page.contains("Source") && page.contains("not preserved"), "{page}");
        api.instance.close().await;
    }
}
