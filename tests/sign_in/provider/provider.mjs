// An OpenID Connect provider for the tests: `oidc-provider` with a few accounts, which signs in without a password.
//
//   node provider.mjs CONFIGURATION     prints the issuer when it listens
//
// CONFIGURATION is JSON: port, clients, accounts (by id: claims), claims (by scope).
// A request to /interaction/:id signs in the account that the cookie `account` names.

import { createServer } from "node:http";
import Provider from "oidc-provider";

const configuration = JSON.parse(process.argv[2]);
const issuer = `http://127.0.0.1:${configuration.port}`;

const provider = new Provider(issuer, {
  clients: configuration.clients,
  claims: configuration.claims,
  scopes: Object.keys(configuration.claims),
  conformIdTokenClaims: configuration.conformIdTokenClaims ?? true,
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: true },
    backchannelLogout: { enabled: true },
  },
  pkce: { required: () => true },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) =>
    configuration.accounts[id] && { accountId: id, claims: () => ({ sub: id, ...configuration.accounts[id] }) },
  // Consent is given in advance.
  loadExistingGrant: async (ctx) => {
    const grant = new ctx.oidc.provider.Grant({
      clientId: ctx.oidc.client.clientId,
      accountId: ctx.oidc.session.accountId,
    });
    grant.addOIDCScope(Object.keys(configuration.claims).join(" "));
    await grant.save();
    return grant;
  },
  // Its own dispatcher refuses addresses of this machine, and its signal limits the time.
  fetch: (url, { dispatcher, signal, ...options }) => globalThis.fetch(url, options),
  cookies: { keys: ["of the tests"] },
  ttl: { Session: 3600, Interaction: 3600, Grant: 3600, IdToken: 3600, AccessToken: 3600 },
});

const callback = provider.callback();

createServer(async (request, response) => {
  if (!request.url.startsWith("/interaction/")) {
    return callback(request, response);
  }
  const accountId = /(?:^|; )account=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
  const result = accountId
    ? { login: { accountId } }
    : { error: "access_denied", error_description: "The user has cancelled." };
  try {
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(configuration.port, "127.0.0.1", () => console.log(issuer));
