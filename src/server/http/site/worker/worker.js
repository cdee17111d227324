// Keeps one page for when there is no network, and the style sheets of that page, whose addresses say what is in them.
// Nothing of a person is kept: no chat, no document, no answer of the API. And leads from notes to their chats.
const BUILD = "{build}";
const OFFLINE = "/offline";
const KEPT = `turnleaf-${BUILD}`;
const SHEETS = ["turnleaf.css", "plain.css"].map((name) => `/pkg/${BUILD}/${name}`);

addEventListener("install", (event) => {
  const keep = async () => (await caches.open(KEPT)).addAll([OFFLINE, ...SHEETS]);
  event.waitUntil(keep());
});

// This one takes over when no page of an older build is open any more, so nobody misses what is thrown away here.
addEventListener("activate", (event) => {
  const begin = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("turnleaf-") && name !== KEPT);
    await Promise.all(old.map((name) => caches.delete(name)));
    await registration.navigationPreload?.enable();
    await clients.claim();
  };
  event.waitUntil(begin());
});

addEventListener("fetch", (event) => {
  const { request, preloadResponse } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") {
    event.respondWith(visit(request, preloadResponse));
  } else if (SHEETS.includes(pathname)) {
    event.respondWith(kept(request));
  }
});

// A note of the page was pressed.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

// A page that works goes there itself and loses nothing. Who does not answer is asleep, or is no page of the application.
async function show(chat) {
  for (const page of await clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (await goes(page, chat)) return page.focus();
  }
  return clients.openWindow(`/c/${chat}`);
}

function goes(page, chat) {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(true);
    setTimeout(done, 300, false);
    page.postMessage(chat, [port2]);
  });
}

async function visit(request, early) {
  try {
    return (await early) ?? (await fetch(request));
  } catch (error) {
    const page = await caches.match(OFFLINE);
    if (page) return page;
    throw error;
  }
}

async function kept(request) {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}
