// The panel of previews: the content of a preview's page in a dialog over the chat. The page itself is what is shown
// without this script, and where it fails.

/** The pages whose links stay in the panel. */
const PAGE = /^\/turns\/[^/]+\/previews\/[^/]+$/;

/** Shows the preview that a link leads to. */
export async function open(link) {
  if (document.querySelector(".preview-dialog")) return;
  const dialog = document.createElement("dialog");
  dialog.className = "dialog preview-dialog";
  document.body.append(dialog);
  const address = link.getAttribute("href");
  if (!(await load(dialog, link.href))) {
    dialog.remove();
    location.assign(link.href);
    return;
  }
  dialog.addEventListener("click", (event) => follow(dialog, event));
  // Keys here are not those of the chat. Esc closes without a listener.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => {
    dialog.remove();
    // A reply that grows renders its links again.
    const again = [...document.querySelectorAll("a.md-preview")].find((other) => other.getAttribute("href") === address);
    (link.isConnected ? link : again)?.focus({ preventScroll: true });
  });
  dialog.showModal();
}

/** The number of pages that were asked for. */
let asked = 0;

/** Fills the dialog with the content of a preview's page. Returns whether it could, or need not any more: the panel was
    closed meanwhile, or another link of it followed. */
async function load(dialog, address) {
  const request = ++asked;
  const html = await read(address).catch(() => "");
  if (request !== asked || !dialog.isConnected) return true;
  const content = new DOMParser().parseFromString(html, "text/html").querySelector(".preview");
  if (!content) return false;
  const title = document.createElement("h2");
  title.textContent = content.dataset.title;
  title.dir = "auto";
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button bare";
  close.textContent = content.dataset.close;
  close.addEventListener("click", () => dialog.close());
  const head = document.createElement("div");
  head.className = "dialog-head";
  head.append(title, close);
  dialog.setAttribute("aria-label", content.dataset.title);
  dialog.replaceChildren(head, document.importNode(content, true));
  return true;
}

async function read(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  return response.ok ? response.text() : "";
}

async function follow(dialog, event) {
  if (event.target === dialog) {
    // The backdrop is the dialog's, too.
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    const isInside = event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
    if (!isInside) dialog.close();
    return;
  }
  const link = event.target.closest("a[href]");
  const isPlain = !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || link.target || !isPlain || link.origin !== location.origin || !PAGE.test(link.pathname)) return;
  event.preventDefault();
  const address = link.getAttribute("href");
  if (!(await load(dialog, link.href))) {
    location.assign(link.href);
    return;
  }
  // The view that is shown and its version have one address: the focus goes to the link of the same name.
  const again = [...dialog.querySelectorAll("a[href]")].filter((other) => other.getAttribute("href") === address);
  (again.find((other) => other.textContent === link.textContent) ?? again[0])?.focus();
}
