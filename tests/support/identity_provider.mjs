// An identity provider from npm (oidc-provider), for the tests of the sign-in of people. Arguments: the folder of the
// packages. It prints its port. `PUT /people/NAME` sets the claims about a person, and with `authenticated_at` the time at
// which they authenticate, if that is not now. A request names its person by `login_hint`; they authenticate and agree
// whenever the provider asks. It asks nothing in a browser that it knows by its cookies, refuses requests without PKCE, and
// tells when a person authenticated only where it has to.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(join(modules, "oidc-provider/lib/index.js")).href);

const server = createServer();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;
const people = new Map();

const key = (kid, ...kind) => ({ ...generateKeyPairSync(...kind).privateKey.export({ format: "jwk" }), kid, use: "sig" });
const keys = [key("r", "rsa", { modulusLength: 2048 }), key("e", "ec", { namedCurve: "P-256" })];

// Each ID token for the second client has the time at which the person authenticated, and the other signature.
const clients = ["corp", "timed"].map((id) => ({
  client_id: id,
  client_secret: "a secret, of this:client",
  redirect_uris: [`http://127.0.0.1:3000/sign-in/${id}/callback`],
  grant_types: ["authorization_code"],
  response_types: ["code"],
  require_auth_time: id === "timed",
  id_token_signed_response_alg: id === "timed" ? "ES256" : "RS256",
}));

const provider = new Provider(origin, {
  claims: {
    openid: ["sub"],
    email: ["email", "email_verified"],
    groups: ["groups"],
    profile: ["preferred_username"],
  },
  clients,
  cookies: { keys: ["only for tests"] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_, id) => people.has(id) && { accountId: id, claims: () => ({ sub: id, ...people.get(id).claims }) },
  jwks: { keys },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
  scopes: ["openid"],
});
const handle = provider.callback();

async function agree(request, response) {
  const { params, prompt, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    const accountId = params.login_hint;
    const login = { accountId, ts: people.get(accountId)?.authenticatedAt };
    return provider.interactionFinished(request, response, { login });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

async function describe(request, response, name) {
  let body = "";
  for await (const piece of request) body += piece;
  const { authenticated_at: authenticatedAt, ...claims } = JSON.parse(body);
  people.set(name, { claims, authenticatedAt });
  response.writeHead(204);
  response.end();
}

server.on("request", (request, response) => {
  const [, place, name] = request.url.split("?")[0].split("/");
  const handlers = { interaction: agree, people: describe };
  Promise.resolve((handlers[place] ?? handle)(request, response, name)).catch((error) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
});
console.log(server.address().port);
