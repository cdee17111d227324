// The service worker caches the offline page and its style sheets, whose addresses contain the build. It caches no
// personal data: no chat, no document, no API response. It also opens the chat of a clicked notification.
const BUILD = "{build}";
const OFFLINE = "/offline";
const CACHE = `turnleaf-${BUILD}`;
const STYLE_SHEETS = ["turnleaf.css", "plain.css"].map((name) => `/pkg/${BUILD}/${name}`);

addEventListener("install", (event) => {
  const fillCache = async () => (await caches.open(CACHE)).addAll([OFFLINE, ...STYLE_SHEETS]);
  event.waitUntil(fillCache());
});

// The worker activates once no page of an older build is open, so the caches that it deletes are no longer used.
addEventListener("activate", (event) => {
  const activate = async () => {
    const outdated = (await caches.keys()).filter((name) => name.startsWith("turnleaf-") && name !== CACHE);
    await Promise.all(outdated.map((name) => caches.delete(name)));
    await registration.navigationPreload?.enable();
    await clients.claim();
  };
  event.waitUntil(activate());
});

addEventListener("fetch", (event) => {
  const { request, preloadResponse } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") {
    event.respondWith(fetchPage(request, preloadResponse));
  } else if (STYLE_SHEETS.includes(pathname)) {
    event.respondWith(fetchCached(request));
  }
});

// A notification was clicked.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openChat(event.notification.data));
});

// An open page navigates to the chat itself, without a reload. A client that does not answer is suspended, or is not a
// page of the application.
async function openChat(chat) {
  for (const page of await clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (await requestNavigation(page, chat)) return page.focus();
  }
  return clients.openWindow(`/c/${chat}`);
}

function requestNavigation(page, chat) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(true);
    setTimeout(resolve, 300, false);
    page.postMessage(chat, [port2]);
  });
}

async function fetchPage(request, preloadResponse) {
  try {
    return (await preloadResponse) ?? (await fetch(request));
  } catch (error) {
    const page = await caches.match(OFFLINE);
    if (page) return page;
    throw error;
  }
}

async function fetchCached(request) {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}
