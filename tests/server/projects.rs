//! Projects: what a new chat begins with, moving chats, the scope of lists and of the search, deletion, archives, and
//! other owners; the API and the pages, on every database.

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::ProjectId;
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_service::chats::{ChatChange, NewChat};
use turnleaf_service::projects::{NewProject, ProjectChats, ProjectUpdate};
use turnleaf_service::transfer::exports::ExportScope;

use crate::http_api::TestApi;
use crate::interchange::{export_archive, import_file};
use crate::test_server::{TestServer, streamed_answer, text_step};

fn scripted(answers: usize) -> ScriptedProvider {
    ScriptedProvider::new("scripted", (0..answers).map(|_| streamed_answer([text_step("ok")])))
}

async fn apis(answers: usize) -> Vec<TestApi> {
    TestServer::on_every_database(|| scripted(answers)).await.into_iter().map(TestApi::with_server).collect()
}

impl TestApi {
    /// Creates something, and returns its id.
    async fn create(&self, path: &str, body: Value) -> String {
        let (status, made) = self.call("POST", path, Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        made["id"].as_str().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> Value {
        let (status, answer) = self.call("GET", path, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        answer
    }

    async fn chat_ids(&self, query: &str) -> Vec<String> {
        let chats = self.get(&format!("/api/chats{query}")).await;
        chats.as_array().unwrap().iter().map(|chat| chat["id"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn new_chat_in_project_copies_its_instructions_and_model() {
    for api in apis(0).await {
        let (status, refused) = api.call("POST", "/api/projects", Some(json!({ "name": " " }))).await;
        assert_eq!((status, &refused["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("name")));
        let elsewhere = json!({ "name": "Boat", "default_model": { "provider": "none", "model": "m" } });
        assert_eq!(api.call("POST", "/api/projects", Some(elsewhere)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
        let project = api
            .create(
                "/api/projects",
                json!({
                    "name": "Boat",
                    "color": "blue",
                    "instructions": "Metric units.",
                    "default_model": { "provider": "scripted", "model": "of-the-boat" },
                }),
            )
            .await;
        let chat = api.create("/api/chats", json!({ "project_id": project })).await;
        let found = api.get(&format!("/api/chats/{chat}")).await;
        assert_eq!(found["system_prompt"], "Metric units.");
        assert_eq!((&found["project_id"], &found["project_version"]), (&json!(project), &json!(1)));
        assert_eq!(found["branches"][0]["model"], "of-the-boat");
        // The values of the request come first.
        let own = json!({ "project_id": project, "system_prompt": "Mine.", "provider": "scripted", "model": "other" });
        let own = api.create("/api/chats", own).await;
        let own = api.get(&format!("/api/chats/{own}")).await;
        assert_eq!((&own["system_prompt"], &own["branches"][0]["model"]), (&json!("Mine."), &json!("other")));
        assert_eq!(own.get("project_version"), None);

        // The project changes; the chat keeps what it began with, and its page offers the other instructions.
        let address = format!("/api/projects/{project}");
        let (_, renamed) = api.call("PATCH", &address, Some(json!({ "name": "Boats", "color": "red" }))).await;
        assert_eq!((&renamed["version"], &renamed["chats"]), (&json!(1), &json!(2)));
        let notice = "The project's instructions differ from this chat's.";
        assert!(!api.get_page(&format!("/c/{chat}/settings")).await.contains(notice));
        let other = json!({ "instructions": "Imperial units.", "default_model": null });
        let (_, changed) = api.call("PATCH", &address, Some(other)).await;
        assert_eq!((&changed["version"], changed.get("default_model")), (&json!(2), None));
        assert_eq!(api.get(&format!("/api/chats/{chat}")).await["system_prompt"], "Metric units.");
        assert!(api.get_page(&format!("/c/{chat}/settings")).await.contains(notice));
        let (status, to) = api.post_form("/forms/projects/use", &[("chat_id", chat.as_str())]).await;
        assert_eq!((status, to), (StatusCode::SEE_OTHER, format!("/c/{chat}/settings?saved=1")));
        let found = api.get(&format!("/api/chats/{chat}")).await;
        assert_eq!((&found["system_prompt"], &found["project_version"]), (&json!("Imperial units."), &json!(2)));
        assert!(!api.get_page(&format!("/c/{chat}/settings")).await.contains(notice));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn chats_move_by_api_and_forms_and_lists_are_scoped() {
    for api in apis(0).await {
        let project = api.create("/api/projects", json!({ "name": "Boat" })).await;
        let (one, two) = (
            api.create("/api/chats", json!({ "title": "Oak", "system_prompt": "Mine." })).await,
            api.create("/api/chats", json!({ "title": "Ash trees" })).await,
        );
        let (status, moved) =
            api.call("PATCH", &format!("/api/chats/{one}"), Some(json!({ "project_id": project }))).await;
        assert_eq!((status, &moved["project_id"]), (StatusCode::OK, &json!(project)));
        assert_eq!((&moved["system_prompt"], moved.get("project_version")), (&json!("Mine."), None));
        assert_eq!(api.chat_ids(&format!("?project={project}")).await, std::slice::from_ref(&one));
        assert_eq!(api.chat_ids("").await.len(), 2, "the list of all chats has those of projects");
        let page = api.get_page(&format!("/chats?project={project}")).await;
        assert!(
            page.contains("Oak") && !page.contains("Ash trees") && page.contains("Chats of the project “Boat”"),
            "{page}"
        );
        assert!(api.get_page(&format!("/projects/{project}")).await.contains("Oak"));

        let bulk = [("deed", "move"), ("project", project.as_str()), ("chat", two.as_str()), ("back", "/chats")];
        let (status, to) = api.post_form("/forms/chats", &bulk).await;
        assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/chats?done=move&count=1"));
        assert!(api.get_page("/chats?done=move&count=1").await.contains("Moved 1 chat."));
        assert_eq!(api.chat_ids(&format!("?project={project}")).await.len(), 2);
        assert_eq!(api.post_form("/forms/projects/move", &[("chat_id", two.as_str())]).await.0, StatusCode::SEE_OTHER);
        let (_, out) = api.call("PATCH", &format!("/api/chats/{one}"), Some(json!({ "project_id": null }))).await;
        assert_eq!(out.get("project_id"), None);
        assert_eq!(api.chat_ids(&format!("?project={project}")).await, Vec::<String>::new());

        // A new chat in the project opens once, until something is written in it. One that was moved there keeps its own
        // prompt.
        let moved = api.create("/api/chats", json!({ "system_prompt": "Mine." })).await;
        api.call("PATCH", &format!("/api/chats/{moved}"), Some(json!({ "project_id": project }))).await;
        let (_, first) = api.post_form("/forms/projects/chat", &[("project_id", project.as_str())]).await;
        let (_, again) = api.post_form("/forms/projects/chat", &[("project_id", project.as_str())]).await;
        assert_eq!(first, again);
        let chat = first.strip_prefix("/c/").unwrap();
        assert_ne!(chat, moved);
        assert_eq!(api.get(&format!("/api/chats/{chat}")).await["project_id"], json!(project));
        api.instance.close().await;
    }
}

#[tokio::test]
async fn search_in_project_finds_only_its_chats() {
    for api in apis(2).await {
        let project = api.create("/api/projects", json!({ "name": "Boat" })).await;
        let inside = api.create("/api/chats", json!({ "title": "Pine masts", "project_id": project })).await;
        let outside = api.create("/api/chats", json!({ "title": "Pine trees" })).await;
        for chat in [&inside, &outside] {
            let started = api.instance.send_to(chat.parse().unwrap(), "is pine light?").await;
            api.instance.wait_until_ended(started.assistant_turn.id).await;
        }
        let document = json!({ "title": "Pine", "content": "pine" });
        api.create("/api/documents", document).await;
        let found = async |query: &str| -> Vec<Value> {
            api.get(&format!("/api/search?q=pine{query}")).await["hits"].as_array().unwrap().clone()
        };
        assert_eq!(found("").await.len(), 5);
        let hits = found(&format!("&project={project}")).await;
        assert_eq!(hits.len(), 2, "{hits:?}");
        assert!(hits.iter().all(|hit| hit["chat_id"] == json!(inside)), "{hits:?}");
        assert_eq!(found(&format!("&project={}", ids::mint::<ProjectId>())).await, Vec::<Value>::new());
        let page = api.get_page(&format!("/search?q=pine&project={project}")).await;
        assert!(page.contains("Only in project “Boat”") && !page.contains(&outside), "{page}");
        let recent = api.get_page(&format!("/search?project={project}")).await;
        assert!(recent.contains(&inside) && !recent.contains(&outside), "{recent}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn deleting_project_never_deletes_archived_or_other_chats_unless_chosen() {
    for api in apis(0).await {
        let project = async |name: &str| {
            let project = api.create("/api/projects", json!({ "name": name })).await;
            let listed = api.create("/api/chats", json!({ "title": "listed", "project_id": project })).await;
            let archived = api.create("/api/chats", json!({ "title": "archived", "project_id": project })).await;
            let change = Some(json!({ "archived": true }));
            assert_eq!(api.call("PATCH", &format!("/api/chats/{archived}"), change).await.0, StatusCode::OK);
            (project, listed, archived)
        };
        let other = api.create_chat().await;
        let (kept, listed, archived) = project("kept").await;
        let page = api.get_page(&format!("/projects/{kept}/delete")).await;
        for part in ["Delete the project “kept”?", "2 chats", "1 archived chat", "value=\"keep\""] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let (status, to) =
            api.post_form("/forms/projects/delete", &[("project_id", kept.as_str()), ("chats", "keep")]).await;
        assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/projects?done=deleted"));
        for chat in [&listed, &archived, &other] {
            assert_eq!(api.get(&format!("/api/chats/{chat}")).await.get("project_id"), None);
        }
        assert_eq!(api.chat_ids("?archived=true").await, std::slice::from_ref(&archived));
        assert_eq!(api.get("/api/trash").await, json!([]));

        let (with_chats, in_list, in_archive) = project("with chats").await;
        let path = format!("/api/projects/{with_chats}?trash_chats=true");
        assert_eq!(api.call("DELETE", &path, None).await.0, StatusCode::NO_CONTENT);
        for chat in [&in_list, &in_archive] {
            assert_eq!(api.call("GET", &format!("/api/chats/{chat}"), None).await.0, StatusCode::NOT_FOUND);
        }
        for chat in [&listed, &archived, &other] {
            api.get(&format!("/api/chats/{chat}")).await;
        }
        // A chat comes back without its project.
        let (status, restored) = api.call("POST", &format!("/api/chats/{in_list}/restore"), None).await;
        assert_eq!((status, restored.get("project_id")), (StatusCode::OK, None), "{restored}");
        assert_eq!(api.call("DELETE", &path, None).await.0, StatusCode::NOT_FOUND);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn project_of_another_owner_cannot_be_named() {
    for api in apis(0).await {
        let (service, owner, stranger) = (&api.instance.service, api.instance.owner, ids::mint());
        let new = NewProject { name: "Boat".into(), ..NewProject::default() };
        let project = service.create_project(owner, new).await.unwrap().value.project.id;
        let is_missing = |found: Result<(), ServiceError>| assert!(matches!(found, Err(ServiceError::NotFound)));
        is_missing(service.project(stranger, project).await.map(drop));
        is_missing(service.change_project(stranger, project, ProjectUpdate::default()).await.map(drop));
        is_missing(service.delete_project(stranger, project, ProjectChats::Trash).await);
        is_missing(service.begin_chat_in_project(stranger, project).await.map(drop));
        let new = NewChat { project_id: Some(project), ..NewChat::default() };
        is_missing(service.create_chat(stranger, new).await.map(drop));
        assert!(service.projects(stranger).await.unwrap().is_empty());
        service.project(owner, project).await.unwrap();

        // Nor can a project that does not exist.
        let (chat, unknown): (String, ProjectId) = (api.create_chat().await, ids::mint());
        let change = ChatChange { project_id: Some(Some(unknown)), ..ChatChange::default() };
        is_missing(service.change_chat(owner, chat.parse().unwrap(), change).await.map(drop));
        let not_found = async |method: &str, path: String, body: Option<Value>| {
            let (status, answer) = api.call(method, &path, body).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}: {answer}");
        };
        not_found("PATCH", format!("/api/chats/{chat}"), Some(json!({ "project_id": unknown }))).await;
        not_found("POST", "/api/chats".into(), Some(json!({ "project_id": unknown }))).await;
        not_found("GET", format!("/api/chats?project={unknown}"), None).await;
        not_found("GET", format!("/chats?project={unknown}"), None).await;
        not_found("GET", format!("/projects/{unknown}"), None).await;
        let (unknown, both) = (unknown.to_string(), ["move", "/chats"]);
        let bulk = [("deed", both[0]), ("project", unknown.as_str()), ("chat", chat.as_str()), ("back", both[1])];
        assert_eq!(api.post_form("/forms/chats", &bulk).await.0, StatusCode::NOT_FOUND);
        assert_eq!(api.get(&format!("/api/chats/{chat}")).await.get("project_id"), None);
        api.instance.close().await;
    }
}

#[tokio::test]
async fn archive_carries_projects_also_those_without_chats() {
    for source in apis(1).await {
        let body = json!({ "name": "Boat", "color": "green", "instructions": "Metric units." });
        let boat = source.create("/api/projects", body).await;
        source.create("/api/projects", json!({ "name": "Empty" })).await;
        let chat = source.create("/api/chats", json!({ "title": "Masts", "project_id": boat })).await;
        let started = source.instance.send_to(chat.parse().unwrap(), "go").await;
        source.instance.wait_until_ended(started.assistant_turn.id).await;
        let all = export_archive(&source.instance, ExportScope::Everything).await;
        let one = export_archive(&source.instance, ExportScope::Chat(chat.parse().unwrap())).await;
        let names = |archive: &[u8]| -> Vec<Value> {
            let archive: Value = serde_json::from_slice(archive).unwrap();
            archive["projects"].as_array().unwrap().iter().map(|project| project["name"].clone()).collect()
        };
        assert_eq!((names(&all), names(&one)), (vec![json!("Boat"), json!("Empty")], vec![json!("Boat")]));

        let target = TestApi::with_server(TestServer::new(scripted(0)).await);
        // The second import of the same archive adds nothing.
        for _ in 0..2 {
            let report = import_file(&target.instance, "all.json", &all, false).await;
            assert_eq!((report.stopped, report.lost), (None, 0));
            let projects = target.get("/api/projects").await;
            let projects = projects.as_array().unwrap();
            assert_eq!(projects.len(), 2, "{projects:?}");
            assert_eq!((&projects[0]["name"], &projects[0]["chats"]), (&json!("Boat"), &json!(1)));
            assert_eq!((&projects[0]["color"], &projects[0]["version"]), (&json!("green"), &json!(1)));
        }
        let imported = target.chat_ids("").await;
        let found = target.get(&format!("/api/chats/{}", imported[0])).await;
        assert_eq!((&found["system_prompt"], &found["project_version"]), (&json!("Metric units."), &json!(1)));
        // The instance that made the archive knows its chats and projects.
        import_file(&source.instance, "again.json", &all, false).await;
        assert_eq!(source.get("/api/projects").await.as_array().unwrap().len(), 2);
        let mut without: Value = serde_json::from_slice(&all).unwrap();
        // The instructions of a project change whatever its version in the archive.
        without["projects"][0]["version"] = json!(i64::MAX);
        let high = TestApi::with_server(TestServer::new(scripted(0)).await);
        import_file(&high.instance, "high.json", &serde_json::to_vec(&without).unwrap(), false).await;
        let id = high.get("/api/projects").await[0]["id"].as_str().unwrap().to_owned();
        let other = Some(json!({ "instructions": "Other." }));
        assert_eq!(high.call("PATCH", &format!("/api/projects/{id}"), other).await.0, StatusCode::OK);
        without.as_object_mut().unwrap().remove("projects");
        // A chat without its project is in none.
        let bare = TestApi::with_server(TestServer::new(scripted(0)).await);
        import_file(&bare.instance, "bare.json", &serde_json::to_vec(&without).unwrap(), false).await;
        let chats = bare.chat_ids("").await;
        let found = bare.get(&format!("/api/chats/{}", chats[0])).await;
        assert_eq!((found.get("project_id"), found.get("project_version")), (None, None));
        for api in [source, target, bare, high] {
            api.instance.check_invariants().await;
            api.instance.close().await;
        }
    }
}
