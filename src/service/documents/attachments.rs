//! Files that become attachments of a message: an image as an image, everything else as a document.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::uploads::UploadKind;
use super::{DocumentTextSource, NewDocumentRequest};
use crate::turns::messages::MessageBlock;
use crate::{Service, ServiceError};
use turnleaf_domain::UserId;
use turnleaf_domain::documents::attachment::DOCUMENT_REF_TYPE;
use turnleaf_platform::hex::hex;

impl Service {
    /// Stores a file and returns its block in a message. A file that is a document with its name already stays that
    /// document. With the idempotency key of a request, the file becomes one document, however often the request is
    /// repeated and whatever its position among other files; another file becomes another document.
    pub async fn store_attachment(
        &self,
        owner: UserId,
        (name, bytes): (&str, Bytes),
        request: Option<&str>,
    ) -> Result<MessageBlock, ServiceError> {
        let uploaded = self.upload_file(owner, name, bytes).await?;
        Ok(match uploaded.kind {
            UploadKind::Image => MessageBlock::Image { blob: uploaded.sha256, alt: None },
            UploadKind::File => {
                let client_request_id = request.map(|request| {
                    let file = Sha256::digest(format!("{} {}", uploaded.sha256, uploaded.name));
                    format!("{request}-{}", hex(&file[..8]))
                });
                let source = DocumentTextSource::Blob { sha256: uploaded.sha256, encoding: None };
                let new = NewDocumentRequest { title: Some(uploaded.name), kind: None, source, client_request_id };
                let document = self.find_or_create_document(owner, new).await?.value;
                let (ref_id, ref_type) = (document.id.to_string(), DOCUMENT_REF_TYPE.to_owned());
                MessageBlock::Reference { ref_id, ref_type, version_timestamp: None }
            }
        })
    }
}
