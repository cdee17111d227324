//! OpenAPI descriptions of providers and their models.

use crate::server::http::openapi::operation::{ApiOperation, INVALID_VALUE};
use crate::server::http::providers::api::{
    ListModelsQuery, ModelDetails, ProviderWithNotices, SaveProviderRequest, SetDefaultModelRequest,
};
use serde_json::json;
use turnleaf_service::providers::{ProviderStatusView, ProviderView};

const LOCKED: &str = "`provider_locked`: it is set by the environment or the configuration file, or was found \
    automatically.";

pub fn list_models(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "list_models", "Lists available models.")
        .query_parameters::<ListModelsQuery>()
        .list_response::<ModelDetails>("The models, with the parameters each supports.")
}

pub fn set_default_model(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "set_default_model", "Sets the default model for new chats.")
        .request_body::<SetDefaultModelRequest>(json!({ "provider": "demo", "model": "demo" }))
        .empty_response(204, "It is set.")
        .problem_response(422, INVALID_VALUE)
}

pub fn clear_default_model(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "clear_default_model", "Resets to the first provider's default.")
        .empty_response(204, "It is reset.")
}

pub fn list_providers(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "list_providers", "Lists the providers.")
        .list_response::<ProviderView>("The providers.")
}

pub fn add_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "add_provider", "Adds a provider.")
        .add_description("Its models are fetched automatically.")
        .needs_recent_password()
        .request_body_requiring::<SaveProviderRequest>(
            "AddProviderRequest",
            &["name", "api", "base_url"],
            json!({
                "name": "My server",
                "api": "openai_chat",
                "base_url": "http://127.0.0.1:8080/v1",
                "local_network": true,
            }),
        )
        .created_response::<ProviderWithNotices>("The provider.")
        .problem_response(422, INVALID_VALUE)
}

pub fn change_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "change_provider", "Updates a provider. Omitted fields stay unchanged.")
        .add_description(
            "`\"key\": null` removes the API key. A new address deletes the key and the headers unless they are sent \
            with it. A session needs a recent password for them, as for a new provider.",
        )
        .request_body::<SaveProviderRequest>(json!({ "is_enabled": false }))
        .response::<ProviderWithNotices>(200, "The updated provider.")
        .problem_response(409, LOCKED)
        .problem_response(422, INVALID_VALUE)
}

pub fn remove_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "remove_provider", "Removes a provider and its API key.")
        .add_description("Branches that use it stay readable and can continue with another model.")
        .needs_recent_password()
        .empty_response(204, "It is gone.")
        .problem_response(409, LOCKED)
}

pub fn test_provider(operation: ApiOperation) -> ApiOperation {
    operation
        .describe("Providers", "test_provider", "Tests a provider.")
        .response::<ProviderStatusView>(200, "The provider's state.")
        .problem_response(409, "`provider_off`: it is disabled, or its API key cannot be decrypted.")
}
