// Every page of the gallery, compared with the approved pictures: all components in all states.
// UX-02, UX-15 of docs/acceptance.md.
import { checkPictures, test } from "../../support/pictures.ts";

const SHEETS = [
  ["basics", "parts"],
  ["writing", "reasoning"],
  ["tools", "lists"],
  ["failures", "results"],
  ["chat", "menus", "plain"],
  ["composer-empty", "composer-written", "composer-answering"],
  ["composer-files", "composer-full", "composer-gone"],
  ["composer-sending", "composer-stopping", "composer-arriving"],
  ["composer-pasted", "composer-refused", "composer-leaving"],
];

test.use({ withProvider: false });

for (const sheets of SHEETS) {
  test(`the gallery: ${sheets.join(", ")}`, async ({ page, turnleaf }, info) => {
    for (const sheet of sheets) {
      await checkPictures(page, turnleaf.url, `gallery-${sheet}`, `/settings/about/gallery/${sheet}`, info);
    }
  });
}
