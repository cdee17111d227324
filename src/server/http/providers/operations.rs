//! How the API describes providers and their models.

use crate::server::http::openapi::operation::{NO_VALUE, Operation};
use crate::server::http::providers::api::{ChangedBody, DefaultBody, ModelBody, ModelsQuery, ProviderBody};
use serde_json::json;
use turnleaf_service::providers::{ProviderView, StatusView};

const LOCKED: &str = "`provider_locked`: it is set by the environment or the configuration, or was found by itself.";

pub fn list_models(operation: Operation) -> Operation {
    operation
        .of("Providers", "list_models", "Lists the models that can be chosen.")
        .query::<ModelsQuery>()
        .lists::<ModelBody>("The models, with what each takes.")
}

pub fn set_default_model(operation: Operation) -> Operation {
    operation
        .of("Providers", "set_default_model", "Sets what new chats get.")
        .takes::<DefaultBody>(json!({ "provider": "demo", "model": "demo" }))
        .done(204, "It is set.")
        .refuses(422, NO_VALUE)
}

pub fn clear_default_model(operation: Operation) -> Operation {
    operation.of("Providers", "clear_default_model", "Goes back to the first provider's own.").done(204, "It is back.")
}

pub fn list_providers(operation: Operation) -> Operation {
    operation.of("Providers", "list_providers", "Lists the connections.").lists::<ProviderView>("The connections.")
}

pub fn add_provider(operation: Operation) -> Operation {
    operation
        .of("Providers", "add_provider", "Adds a connection.")
        .note("`name`, `api` and `base_url` are needed. It is asked for its models by itself.")
        .takes::<ProviderBody>(json!({
            "name": "My server",
            "api": "openai_chat",
            "base_url": "http://127.0.0.1:8080/v1",
            "local_network": true,
        }))
        .makes::<ChangedBody>("The connection.")
        .refuses(422, NO_VALUE)
}

pub fn change_provider(operation: Operation) -> Operation {
    operation
        .of("Providers", "change_provider", "Changes a connection; what is not named stays.")
        .note("`\"key\": null` removes the key. A new address clears the key and the headers unless they come with it.")
        .takes::<ProviderBody>(json!({ "is_enabled": false }))
        .gives::<ChangedBody>(200, "The connection as it is now.")
        .refuses(409, LOCKED)
        .refuses(422, NO_VALUE)
}

pub fn remove_provider(operation: Operation) -> Operation {
    operation
        .of("Providers", "remove_provider", "Removes a connection and its key.")
        .note("Branches keep their lock; they can be read, and go on with another model.")
        .done(204, "It is gone.")
        .refuses(409, LOCKED)
}

pub fn test_provider(operation: Operation) -> Operation {
    operation
        .of("Providers", "test_provider", "Asks a provider now.")
        .gives::<StatusView>(200, "How the connection is.")
        .refuses(409, "`provider_off`: it is switched off, or its key cannot be opened.")
}
