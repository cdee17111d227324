// The host of documents in sandboxed frames: MCP Apps, version 2026-01-26 (SEP-1865). It tells a document about the
// call that it is for, and answers its requests. A document is untrusted: only messages of a frame of this page count,
// their size and rate are bounded, nothing is sent in the person's name, and no tool runs.

const PROTOCOL = "2026-01-26";
/** The longest message, as JSON, and the longest text for the message box. */
const MESSAGE_CHARS = 1 << 20;
const TEXT_CHARS = 16_000;
/** The messages of one frame: at once, and per second. */
const BURST = 60;
const PER_SECOND = 30;
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

/** Answers the messages of frames from now on; `early` came before this script. */
export function begin(early) {
  addEventListener("message", receive);
  early.forEach(receive);
  new MutationObserver(tellContext).observe(document.documentElement, { attributeFilter: ["data-theme", "lang"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellContext);
}

function frames() {
  return [...document.querySelectorAll("iframe.sandboxed-frame[data-call]")];
}

function sessionOf(frame) {
  let session = sessions.get(frame);
  if (!session) {
    session = { tokens: BURST, at: performance.now(), isReady: false, call: undefined, height: 0, told: "" };
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

/** Returns whether this is a request or a notification of bounded size. Responses are not needed. */
function isMessage(message) {
  if (message === null || typeof message !== "object" || message.jsonrpc !== "2.0") return false;
  if (typeof message.method !== "string" || message.method.length > 100) return false;
  try {
    return JSON.stringify(message).length <= MESSAGE_CHARS;
  } catch {
    return false;
  }
}

function send(frame, message) {
  // There is no other name for an opaque origin. The page's policy keeps the frame at documents of this server.
  frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

async function answer(frame, session, { id, method, params }) {
  const isRequest = typeof id === "string" || typeof id === "number";
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
    // What is told is what was stored, so it is fetched once.
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
      hostCapabilities: { openLinks: {}, message: { text: {} }, sandbox: {} },
      hostContext: { ...context, toolInfo: { tool: { name: call.tool, inputSchema: { type: "object" } } } },
    };
  },

  async "ui/notifications/initialized"(frame, session) {
    const call = await session.call;
    if (!call || session.isReady) return;
    session.isReady = true;
    send(frame, { method: "ui/notifications/tool-input", params: { arguments: call.arguments } });
    send(frame, { method: "ui/notifications/tool-result", params: call.result });
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

  async "ui/open-link"(_, session, { url }) {
    const target = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
    if (!target || !["http:", "https:", "mailto:"].includes(target.protocol)) {
      throw new Refusal(INVALID_PARAMS, "Only http, https and mailto links can be opened.");
    }
    refuseWithoutClick();
    const turn = (await session.call)?.turn;
    // This page shows the address and asks before anything is loaded from it.
    const leave = new URLSearchParams({ to: target.href, ...(turn && { turn }) });
    window.open(`/leave?${leave}`, "_blank", "noopener");
  },

  "ui/message"(_, __, { role, content }) {
    const parts = Array.isArray(content) ? content : [content];
    const isText = (part) => part?.type === "text" && typeof part.text === "string";
    if (role !== "user" || !parts.length || !parts.every(isText)) {
      throw new Refusal(INVALID_PARAMS, "Only texts of the user are accepted.");
    }
    const text = visible(parts.map((part) => part.text).join("\n\n")).trim();
    if (!text || text.length > TEXT_CHARS) throw new Refusal(INVALID_PARAMS, "The text is empty or too long.");
    refuseWithoutClick();
    writeMessage(text);
  },

  "tools/call"() {
    throw new Refusal(REFUSED, "Turnleaf does not run tools for a view. The person can ask for it in the chat.");
  },
};

/** Refuses what only a person may cause: they have just clicked or typed. */
function refuseWithoutClick() {
  if (!navigator.userActivation?.isActive) throw new Refusal(REFUSED, "This is possible only after a click.");
}

/** Returns a text without characters that a person does not see in a box. Joiners stay, because letters and emoji need them. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (c) => ("\n\t\u200c\u200d".includes(c) ? c : ""));
}

/** Writes a text behind that of the message box, for the person to send. */
function writeMessage(text) {
  const box = document.getElementById("message");
  if (!(box instanceof HTMLTextAreaElement) || box.disabled || box.readOnly) {
    throw new Refusal(REFUSED, "There is no message box.");
  }
  const before = box.value.trimEnd();
  box.focus();
  box.setRangeText(before ? `\n\n${text}` : text, before.length, box.value.length, "end");
  box.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertText" }));
}

async function fetchCall(address) {
  const response = await fetch(address, { headers: { accept: "application/json" } });
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
