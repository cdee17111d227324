//! An MCP server over HTTP that repeats the credentials of the request and returns images with hidden data: the real
//! toolbox redacts the credentials and re-encodes the images.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use turnleaf::domain::BlockId;
use turnleaf::domain::tools::tool::ToolOrigin;
use turnleaf::domain::tools::tool_output;
use turnleaf_convert::Converter;
use turnleaf_platform::config::tool_servers::{ToolServerConfig, ToolServerTransport};
use turnleaf_platform::ids;
use turnleaf_providers::base64;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_tools::toolbox::{CallOutcome, CallResult, ToolCall, ToolCaller, Toolbox};

use crate::made::{photo, png_head};
use crate::test_server::TestServer;

const TOKEN: &str = "9f8e7d6c5b4a3f2e1d0c";

async fn answer(headers: HeaderMap, body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({ "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} }, "serverInfo": { "name": "web", "version": "2" } }),
        "tools/list" => json!({ "tools": [{ "name": "look", "inputSchema": { "type": "object" } }] }),
        "tools/call" => {
            let key = headers[header::AUTHORIZATION].to_str().unwrap();
            let image =
                |bytes: &[u8]| json!({ "type": "image", "data": base64::encode(bytes), "mimeType": "image/jpeg" });
            json!({
                "content": [
                    { "type": "text", "text": format!("you came with {key} and an ordinary title") },
                    image(&photo(300, 200)), image(&png_head(50_000, 50_000, 8)),
                ],
                "structuredContent": { key.rsplit(' ').next().unwrap(): [key] },
            })
        }
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

async fn start_mcp_server() -> SocketAddr {
    let app = Router::new().route("/mcp", post(answer).fallback(|| async { StatusCode::METHOD_NOT_ALLOWED }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn call_look_tool(instance: &mut TestServer) -> CallResult {
    let headers = vec![
        ("Authorization".to_owned(), format!("Bearer {TOKEN}").into()),
        ("X-Title".to_owned(), "an ordinary title".into()),
    ];
    let reach =
        ToolServerTransport::Http { url: format!("http://{}/mcp", start_mcp_server().await).parse().unwrap(), headers };
    let (id, name) = ("web".to_owned(), "Web".to_owned());
    let server = ToolServerConfig { id, name, reach, start: None, idle: None, total: None, trusted_tools: Vec::new() };
    let converter = Converter::new(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")));
    let tools = ServiceToolbox::new(instance.db.clone(), vec![server], Arc::new(converter));
    instance.service = instance.service.clone().with_tools(tools.clone());
    instance.service.load_tools(instance.owner).await.unwrap();
    let caller =
        ToolCaller { owner: instance.owner, chat: ids::mint(), turn: ids::mint(), block: ids::mint::<BlockId>() };
    let origin = ToolOrigin::Server { server: "web".into(), tool: "look".into() };
    tools.run(ToolCall { caller, origin, arguments: json!({}), is_from_view: false }).result.await
}

#[tokio::test]
async fn server_result_contains_neither_credentials_nor_hidden_image_data() {
    let mut instance = TestServer::new(ScriptedProvider::new("unused", [])).await;
    let outcome = call_look_tool(&mut instance).await;
    let result_text = outcome.result.to_string();
    assert_eq!(outcome.outcome, CallOutcome::Done, "{result_text}");
    assert!(result_text.contains("[removed] and an ordinary title") && !result_text.contains(TOKEN), "{result_text}");
    let images = tool_output::result_images(&outcome.metadata.clone().into());
    assert_eq!(images.iter().map(|image| image.mime.as_str()).collect::<Vec<_>>(), ["image/jpeg"]);
    assert_eq!(outcome.metadata["files"][0]["mime"], "application/octet-stream");
    let image = outcome.blobs.iter().find(|blob| blob.sha256 == images[0].blob).unwrap();
    for hidden in [&b"Exif"[..], b"GPS!", b"<script>"] {
        assert!(!image.bytes.windows(hidden.len()).any(|some| some == hidden), "{hidden:?}");
    }
}

#[tokio::test]
async fn server_credentials_are_redacted_from_exports_and_other_values_kept() {
    let mut instance = TestServer::new(ScriptedProvider::new("unused", [])).await;
    call_look_tool(&mut instance).await;
    let page = instance.service.redact_keys(format!("<p>{TOKEN}</p><p>an ordinary title</p>"));
    assert_eq!(page, "<p>[removed]</p><p>an ordinary title</p>");
}
