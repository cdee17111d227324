//! How the API describes providers and their models.

use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::providers::api::{
    ListModelsQuery, ModelDetails, ProviderWithNotices, SaveProviderRequest, SetDefaultModelRequest,
};
use serde_json::json;
use turnleaf_service::providers::{ProviderStatusView, ProviderView};

const LOCKED: &str = "`provider_locked`: it is set by the environment or the configuration, or was found by itself.";

pub fn list_models(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "list_models", "Lists the models that can be chosen.")
        .query_parameters::<ListModelsQuery>()
        .list_response::<ModelDetails>("The models, with what each takes.")
}

pub fn set_default_model(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "set_default_model", "Sets what new chats get.")
        .request_body::<SetDefaultModelRequest>(json!({ "provider": "demo", "model": "demo" }))
        .empty_response(204, "It is set.")
        .problem_response(422, INVALID_VALUE)
}

pub fn clear_default_model(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "clear_default_model", "Goes back to the first provider's own.")
        .empty_response(204, "It is back.")
}

pub fn list_providers(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "list_providers", "Lists the connections.")
        .list_response::<ProviderView>("The connections.")
}

pub fn add_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "add_provider", "Adds a connection.")
        .add_description("`name`, `api` and `base_url` are needed. It is asked for its models by itself.")
        .request_body::<SaveProviderRequest>(json!({
            "name": "My server",
            "api": "openai_chat",
            "base_url": "http://127.0.0.1:8080/v1",
            "local_network": true,
        }))
        .created_response::<ProviderWithNotices>("The connection.")
        .problem_response(422, INVALID_VALUE)
}

pub fn change_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "change_provider", "Changes a connection; what is not named stays.")
        .add_description(
            "`\"key\": null` removes the key. A new address clears the key and the headers unless they come with it.",
        )
        .request_body::<SaveProviderRequest>(json!({ "is_enabled": false }))
        .response::<ProviderWithNotices>(200, "The connection as it is now.")
        .problem_response(409, LOCKED)
        .problem_response(422, INVALID_VALUE)
}

pub fn remove_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "remove_provider", "Removes a connection and its key.")
        .add_description("Branches keep their lock; they can be read, and go on with another model.")
        .empty_response(204, "It is gone.")
        .problem_response(409, LOCKED)
}

pub fn test_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "test_provider", "Asks a provider now.")
        .response::<ProviderStatusView>(200, "How the connection is.")
        .problem_response(409, "`provider_off`: it is switched off, or its key cannot be opened.")
}
