// Passkeys: forms with data-passkey ask the browser to make one ("create") or to use one ("get"), and send its answer.
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const withBytes = (listed) => listed?.map((one) => ({ ...one, id: toBytes(one.id) }));

const readOptions = (json) => ({
  ...json,
  challenge: toBytes(json.challenge),
  ...(json.user && { user: { ...json.user, id: toBytes(json.user.id) } }),
  allowCredentials: withBytes(json.allowCredentials),
  excludeCredentials: withBytes(json.excludeCredentials),
});

// As JSON, since not all password managers that answer instead of the browser have toJSON.
const written = ({ id, rawId, type, response }, results) => {
  const parts = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];
  const found = parts.filter((name) => response[name]).map((name) => [name, toText(response[name])]);
  return JSON.stringify({
    id,
    rawId: toText(rawId),
    type,
    response: { ...Object.fromEntries(found), transports: response.getTransports?.() },
    clientExtensionResults: results,
  });
};

// Instead of options there was a page, which says why: the last sign-in was too long ago, for example.
class OtherPage extends Error {}

const ask = async (form, more = {}) => {
  // Ended as well: a challenge that arrives late would take the place of the one that is answered.
  const reply = await fetch(form.dataset.options, { headers: { Accept: "application/json" }, signal: more.signal });
  if (!reply.headers.get("Content-Type").startsWith("application/json")) throw new OtherPage();
  const options = await reply.json();
  if (location.hostname !== (options.rpId ?? options.rp.id)) throw new DOMException("", "SecurityError");
  const request = { publicKey: readOptions(options), ...more };
  return form.dataset.passkey === "create" ? navigator.credentials.create(request) : navigator.credentials.get(request);
};

const send = (form, credential) => {
  form.elements.answer.value = written(credential, credential.getClientExtensionResults());
  if (form.elements.shared)
    form.elements.shared.value = document.querySelector("[type=checkbox][name=shared]:checked")?.value ?? "";
  form.submit();
};

const PROBLEMS = { NotAllowedError: "cancelled", InvalidStateError: "known", SecurityError: "elsewhere" };

const say = (form, name) => {
  const line = form.querySelector("[data-problem]");
  line.textContent = name && form.dataset[name];
  line.hidden = !name;
};

// Offers passkeys among the names that the browser fills in. A challenge is valid for five minutes.
const OFFER_FOR_MS = 4 * 60 * 1000;
let offers = false;
let offered = new AbortController();

const offer = async (form) => {
  offered = new AbortController();
  const { signal } = offered;
  const next = setTimeout(() => {
    offered.abort();
    offer(form);
  }, OFFER_FOR_MS);
  signal.addEventListener("abort", () => clearTimeout(next));
  try {
    send(form, await ask(form, { mediation: "conditional", signal }));
  } catch {
    // Nobody has asked for a passkey: the button says what is wrong.
    clearTimeout(next);
  }
};

const start = async (form) => {
  offered.abort();
  say(form, "");
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    send(form, await ask(form));
  } catch (error) {
    if (error instanceof OtherPage) location.reload();
    else say(form, PROBLEMS[error.name] ?? "failed");
    if (offers) offer(form);
  }
  button.disabled = false;
};

for (const form of document.querySelectorAll("[data-passkey]")) {
  form.querySelector("button").disabled = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if ("PublicKeyCredential" in window) start(form);
    else say(form, "missing");
  });
}

const field = document.querySelector("input[autocomplete=username]:not([hidden])");
const form = document.querySelector("[data-passkey=get]");
if (field && form && (await window.PublicKeyCredential?.isConditionalMediationAvailable?.())) {
  field.autocomplete = "username webauthn";
  offers = true;
  offer(form);
}
