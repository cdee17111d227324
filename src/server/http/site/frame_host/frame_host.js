// The host of documents in sandboxed frames: MCP Apps, version 2026-01-26 (SEP-1865). It tells a document about the
// call that it is for, and answers its requests. A document is untrusted: only messages of a frame of this page count,
// their rate and what is read of them are bounded, nothing is sent in the person's name, only tools run that run
// without an approval anyway, and only resources of the document's own server are read.

const PROTOCOL = "2026-01-26";
/** The longest names of methods and tools, ids of requests, addresses of links and resources, and texts for the message box
    or for the model with their parts; names of files for the model. */
const METHOD_CHARS = 100;
const TOOL_CHARS = 200;
const NAME_CHARS = 100;
const ID_CHARS = 200;
const URL_CHARS = 2000;
const TEXT_CHARS = 16_000;
const TEXT_PARTS = 64;
/** The arguments of a tool as JSON, of which the server accepts no more. */
const ARGUMENT_CHARS = 64 << 10;
/** The time after a key in a box of this page during which no frame gets the focus or causes anything. */
const TYPING_MS = 1000;
/** The time for which browsers count a page as activated after a click or a key. */
const ACTIVE_MS = 5000;
/** The messages of one frame: at once, and per second. */
const BURST = 60;
const PER_SECOND = 30;
/** The tools that run and the resources that are read for one frame at once. */
const CALLS_AT_ONCE = 4;
/** The heights that a document may ask for, in CSS pixels. */
const LOWEST = 48;
const HIGHEST = 800;

/** The JSON-RPC errors that are sent. */
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const REFUSED = -32000;

/** A request that is answered with an error. */
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What is known about each frame. A document that is loaded again in its frame begins with `ui/initialize` again. */
const sessions = new WeakMap();

/** When the person last clicked or pressed a key in this page itself, and when they last wrote in a box, and which. */
let touchedAt = -Infinity;
let typed = { at: -Infinity, box: null };

/** Answers the messages of frames from now on; `early` came before this script. */
export function begin(early) {
  addEventListener("message", receive);
  early.forEach(receive);
  new MutationObserver(tellContext).observe(document.documentElement, { attributeFilter: ["data-theme", "lang"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellContext);
  addEventListener("pointerdown", () => (touchedAt = performance.now()), true);
  addEventListener("keydown", noteKey, true);
  // Some browsers have moved the focus only after the event.
  addEventListener("blur", () => setTimeout(keepFocusWhileTyping));
}

function frames() {
  return [...document.querySelectorAll("iframe.sandboxed-frame[data-call]")];
}

function sessionOf(frame) {
  let session = sessions.get(frame);
  if (!session) {
    session = { tokens: BURST, at: performance.now(), isReady: false, call: undefined, running: 0, height: 0, told: "" };
    sessions.set(frame, session);
    new ResizeObserver(() => tell(frame, session)).observe(frame);
  }
  return session;
}

function receive(event) {
  // A sandboxed document has no origin, so it is known by its window.
  if (event.origin !== "null") return;
  const frame = frames().find((frame) => frame.contentWindow === event.source);
  if (!frame) return;
  const session = sessionOf(frame);
  if (!takeToken(session) || !isMessage(event.data)) return;
  void answer(frame, session, event.data);
}

/** Takes one of the tokens that a frame has for its messages. */
function takeToken(session) {
  const now = performance.now();
  session.tokens = Math.min(BURST, session.tokens + ((now - session.at) / 1000) * PER_SECOND);
  session.at = now;
  if (session.tokens < 1) return false;
  session.tokens -= 1;
  return true;
}

/** Returns whether this is a request or a notification. Responses are not needed. Measuring the rest would cost what it
    measures, so each handler bounds what it reads. */
function isMessage(message) {
  if (message === null || typeof message !== "object" || message.jsonrpc !== "2.0") return false;
  return typeof message.method === "string" && message.method.length <= METHOD_CHARS;
}

function send(frame, message) {
  // There is no other name for an opaque origin. The page's policy keeps the frame at documents of this server.
  frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

async function answer(frame, session, { id, method, params }) {
  const isRequest = typeof id === "number" || (typeof id === "string" && id.length <= ID_CHARS);
  try {
    const handle = Object.hasOwn(HANDLERS, method) ? HANDLERS[method] : undefined;
    if (!handle) throw new Refusal(METHOD_NOT_FOUND, `Method not found: ${method}`);
    const result = await handle(frame, session, params ?? {});
    if (isRequest) send(frame, { id, result: result ?? {} });
  } catch (error) {
    if (!isRequest) return;
    const isRefusal = error instanceof Refusal;
    const message = isRefusal ? error.message : "The request failed.";
    send(frame, { id, error: { code: isRefusal ? error.code : REFUSED, message } });
  }
}

const HANDLERS = {
  ping: () => ({}),

  async "ui/initialize"(frame, session) {
    session.isReady = false;
    // The call is stored data, so it is fetched once.
    session.call ??= fetchCall(frame.dataset.call);
    let call;
    try {
      call = await session.call;
    } catch {
      session.call = undefined;
      throw new Refusal(REFUSED, "The call is not available.");
    }
    const context = contextOf(frame);
    session.told = JSON.stringify(context);
    return {
      protocolVersion: PROTOCOL,
      hostInfo: { name: "Turnleaf", version: call.version },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        ...(messageBox() && { message: { text: {} }, updateModelContext: { text: {}, structuredContent: {} } }),
        sandbox: {},
      },
      hostContext: { ...context, toolInfo: { tool: { name: call.tool, inputSchema: { type: "object" } } } },
    };
  },

  async "ui/notifications/initialized"(frame, session) {
    const call = await session.call;
    if (!call || session.isReady) return;
    session.isReady = true;
    send(frame, { method: "ui/notifications/tool-input", params: { arguments: call.arguments } });
    if (call.result) send(frame, { method: "ui/notifications/tool-result", params: call.result });
    else send(frame, { method: "ui/notifications/tool-cancelled", params: { reason: "The person stopped the call." } });
    tell(frame, session);
  },

  "ui/notifications/size-changed"(frame, session, { height }) {
    if (!Number.isFinite(height)) return;
    const isScheduled = session.height > 0;
    session.height = Math.min(HIGHEST, Math.max(LOWEST, Math.ceil(height)));
    if (isScheduled) return;
    // Of several sizes within one frame of the page, the last one counts.
    requestAnimationFrame(() => {
      frame.style.blockSize = `${session.height}px`;
      session.height = 0;
    });
  },

  "ui/request-display-mode": () => ({ mode: "inline" }),

  async "ui/open-link"(frame, session, { url }) {
    const isShort = typeof url === "string" && url.length <= URL_CHARS;
    const target = isShort && URL.canParse(url) ? new URL(url) : null;
    if (!target || !["http:", "https:", "mailto:"].includes(target.protocol)) {
      throw new Refusal(INVALID_PARAMS, "Only http, https and mailto links can be opened.");
    }
    refuseUnasked(frame);
    const turn = (await session.call)?.turn;
    // This page shows the address and asks before anything is loaded from it.
    const leave = new URLSearchParams({ to: target.href, ...(turn && { turn }) });
    window.open(`/leave?${leave}`, "_blank", "noopener");
  },

  "ui/message"(frame, _, { role, content }) {
    if (role !== "user") throw new Refusal(INVALID_PARAMS, "Only texts of the user are accepted.");
    const text = textOf(Array.isArray(content) ? content : [content]);
    if (!text || text.length > TEXT_CHARS) throw new Refusal(INVALID_PARAMS, "The text is empty or too long.");
    refuseUnasked(frame);
    writeMessage(frame, text);
  },

  /** What the model should know becomes a file of the next message, where the person sees it and can remove it. */
  "ui/update-model-context"(frame, _, { content, structuredContent }) {
    const text = Array.isArray(content) && content.length ? textOf(content) : "";
    const data = structuredContent === undefined ? "" : jsonOf(structuredContent, TEXT_CHARS, 2);
    if (text.length + data.length > TEXT_CHARS) throw new Refusal(INVALID_PARAMS, "The context is too long.");
    refuseUnasked(frame);
    attachContext(frame, [text, visible(data)].filter(Boolean).join("\n\n"));
  },

  /** The server decides whether the tool may run, and keeps what ran. */
  async "tools/call"(frame, session, { name, arguments: given }) {
    if (typeof name !== "string" || name.length > TOOL_CHARS) throw new Refusal(INVALID_PARAMS, "Unknown tool.");
    jsonOf(given ?? {}, ARGUMENT_CHARS);
    const reason = "This view may not call that tool without an approval. The person can ask for it in the chat.";
    return ask(session, frame.dataset.call, { name, arguments: given ?? {} }, reason);
  },

  async "resources/read"(frame, session, { uri }) {
    if (typeof uri !== "string" || uri.length > URL_CHARS) throw new Refusal(INVALID_PARAMS, "Unknown resource.");
    const address = frame.dataset.call.replace(/call$/, "resource");
    return ask(session, address, { uri }, "This resource cannot be read.");
  },
};

/** Returns a value as JSON. A small message can hold the same object very often, so what is read is counted on the way. */
function jsonOf(value, most, space) {
  let left = most;
  function count(key, part) {
    left -= (Array.isArray(this) ? 0 : key.length) + (typeof part === "string" ? part.length : 1);
    if (left < 0) throw new Refusal(INVALID_PARAMS, "The data is too long.");
    return part;
  }
  return JSON.stringify(value, count, space);
}

/** Returns the visible text of parts, which must be texts. */
function textOf(parts) {
  const isText = (part) => part?.type === "text" && typeof part.text === "string" && part.text.length <= TEXT_CHARS;
  if (!parts.length || parts.length > TEXT_PARTS || !parts.every(isText)) {
    throw new Refusal(INVALID_PARAMS, "Only texts are accepted.");
  }
  return visible(parts.map((part) => part.text).join("\n\n")).trim();
}

/** Asks the document's tool server something, through ours. */
async function ask(session, address, body, reason) {
  if (!(await session.call)) throw new Refusal(REFUSED, "The view has not begun.");
  if (session.running >= CALLS_AT_ONCE) throw new Refusal(REFUSED, "Too many requests of this view are open.");
  session.running += 1;
  try {
    return await post(address, body, reason);
  } finally {
    session.running -= 1;
  }
}

/** Refuses what only the person may cause: they have just clicked or typed, and in this frame. What they do elsewhere
    in the page activates it, too, and the document can take the focus then; so the pointer must be over the frame, or
    that must be some time ago. Fingers hover over nothing, and scroll before they tap. */
function refuseUnasked(frame) {
  const isPointed = frame.matches(":hover") || !matchMedia("(hover: hover)").matches;
  const isHere = isPointed || performance.now() - touchedAt > ACTIVE_MS;
  const isAsked = navigator.userActivation?.isActive && document.activeElement === frame && isHere && !isTyping();
  if (!isAsked) throw new Refusal(REFUSED, "This is possible only after a click.");
}

function noteKey({ key, target }) {
  const isBox = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
  // The tab key leads out of a box and into a frame.
  if (key !== "Tab") touchedAt = performance.now();
  typed = isBox && key !== "Tab" ? { at: performance.now(), box: target } : { at: -Infinity, box: null };
}

function isTyping() {
  return performance.now() - typed.at < TYPING_MS;
}

/** A document can take the focus for itself. What the person is writing meanwhile is not meant for it. */
function keepFocusWhileTyping() {
  if (isTyping() && frames().includes(document.activeElement)) typed.box.focus({ preventScroll: true });
}

/** Characters that a person does not see in a box; joiners and variation selectors where nothing needs them. The rules
    are those of `domain::hidden_text`, but for flags of nations. */
const HIDDEN =
  /[\u3164\uffa0]|(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]|(?<=^|[\u200c\u200d\0-\x7f])[\u200c\u200d]|(?<=^|\p{VS}|[\0-"$-)+-\/:-\x7f])\p{VS}/gu;

function visible(text) {
  return text.replace(HIDDEN, "");
}

/** Returns the box for the next message, if there is one that the person could write in. */
function messageBox() {
  const box = document.getElementById("message");
  return box instanceof HTMLTextAreaElement && !box.disabled && !box.readOnly ? box : null;
}

/** Writes a text behind that of the message box, for the person to send. The focus stays where it is: a key that is on
    its way to the frame must not send the text. */
function writeMessage(frame, text) {
  const box = messageBox();
  if (!box) throw new Refusal(REFUSED, "There is no message box.");
  const before = box.value.trimEnd();
  const added = before ? `\n\n${text}` : text;
  if (before.length + added.length > TEXT_CHARS) throw new Refusal(REFUSED, "The message box is full.");
  box.setRangeText(added, before.length, box.value.length, "end");
  box.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertText" }));
  announce(frame.dataset.written);
}

/** Attaches a text to the next message, in the place of the one that this frame gave before. An empty text only takes
    that away. */
function attachContext(frame, text) {
  const input = document.getElementById("attach-files");
  if (!messageBox() || !(input instanceof HTMLInputElement)) throw new Refusal(REFUSED, "There is no message box.");
  // Views of one server have the same title; the call makes the name unique.
  const call = frame.dataset.call.split("/").at(-3) ?? "";
  const title = [...frame.title.replace(/[^\p{L}\p{N} _-]/gu, "")].slice(0, NAME_CHARS).join("");
  const name = `${title} ${call.slice(-4)}`;
  for (const item of document.querySelectorAll("form.composer .attached-item")) {
    if (item.querySelector(".chip-text")?.textContent.startsWith(name)) item.querySelector("button[name=detach]")?.click();
  }
  if (!text) return;
  const files = new DataTransfer();
  files.items.add(new File([text], `${name}.md`, { type: "text/markdown" }));
  input.files = files.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Has screen readers say this, in the region that `ui::announce` serves. */
function announce(text) {
  const region = document.getElementById("say");
  if (!region || !text) return;
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = text));
}

async function fetchCall(address) {
  const response = await fetch(address, { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

async function post(address, body, reason) {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  if ([404, 409, 422].includes(response.status)) throw new Refusal(REFUSED, reason);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

/** Returns what a document should know about the page around it. */
function contextOf(frame) {
  const root = document.documentElement;
  const chosen = getComputedStyle(root).colorScheme;
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  return {
    theme: isDark ? "dark" : "light",
    locale: root.lang,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    displayMode: "inline",
    availableDisplayModes: ["inline"],
    containerDimensions: { width: frame.clientWidth, maxHeight: HIGHEST },
    platform: "web",
    deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
  };
}

/** Tells a document the context if it is another one. */
function tell(frame, session) {
  if (!session.isReady || !frame.isConnected || !frame.clientWidth) return;
  const context = contextOf(frame);
  const now = JSON.stringify(context);
  if (now === session.told) return;
  session.told = now;
  send(frame, { method: "ui/notifications/host-context-changed", params: context });
}

function tellContext() {
  for (const frame of frames()) {
    const session = sessions.get(frame);
    if (session) tell(frame, session);
  }
}
