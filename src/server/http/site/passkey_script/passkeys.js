// Passkeys on server pages: shows what is about them, and completes a form with the answer of an authenticator. The form
// itself is sent as any other one, so that the server's next page says what came of it.

const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

const encode = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Makes the passkey that the page is about. */
async function create(form) {
  const options = JSON.parse(form.dataset.options);
  options.challenge = decode(options.challenge);
  options.user.id = decode(options.user.id);
  for (const known of options.excludeCredentials) known.id = decode(known.id);
  const { response } = await navigator.credentials.create({ publicKey: options });
  return { client_data: encode(response.clientDataJSON), attestation: encode(response.attestationObject) };
}

/** Uses a passkey for a challenge, for which the server is asked now: it does not count for long. */
async function get(form) {
  const begun = await fetch("/forms/passkey/begin", { method: "POST" });
  if (!begun.ok) throw new Error(`no challenge: ${begun.status}`);
  const { ceremony, options } = await begun.json();
  form.querySelector("[data-ceremony]").value = ceremony;
  options.challenge = decode(options.challenge);
  const { rawId, response } = await navigator.credentials.get({ publicKey: options });
  return {
    id: encode(rawId),
    client_data: encode(response.clientDataJSON),
    authenticator_data: encode(response.authenticatorData),
    signature: encode(response.signature),
    user_handle: encode(response.userHandle ?? []),
  };
}

async function complete(form) {
  const problem = form.querySelector(".problem");
  problem.textContent = "";
  try {
    const answer = await (form.dataset.passkey === "create" ? create(form) : get(form));
    form.querySelector("[data-answer]").value = JSON.stringify(answer);
    // Not a field with this name.
    HTMLFormElement.prototype.submit.call(form);
  } catch {
    // The person has cancelled, the authenticator has no passkey or one already, or the server gave no challenge.
    problem.textContent = form.dataset.problem;
  }
}

for (const part of document.querySelectorAll("[data-passkeys]")) {
  if (!window.PublicKeyCredential || part.dataset.passkeys !== location.origin) continue;
  part.hidden = false;
  const form = part.querySelector("form[data-passkey]");
  // Browsers refuse a second request while the first one waits for the person.
  let waits = false;
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (waits) return;
    waits = true;
    await complete(form);
    waits = false;
  });
}
