// The service worker caches the offline page and its style sheets, whose addresses name the build. It stores nothing
// of a person: no chat, no document, no API response. It also opens the chat of a pressed notification.
const BUILD = "{build}";
const OFFLINE = "/offline";
const KEPT = `turnleaf-${BUILD}`;
const SHEETS = ["turnleaf.css", "plain.css"].map((name) => `/pkg/${BUILD}/${name}`);

addEventListener("install", (event) => {
  const keep = async () => (await caches.open(KEPT)).addAll([OFFLINE, ...SHEETS]);
  event.waitUntil(keep());
});

// The worker activates when no page of an older build is open, so nobody misses the caches that it deletes.
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

// A notification of the page was pressed.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

// A working page navigates by itself and loses nothing. A client that does not answer is suspended, or is no page of
// the application.
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
