// A call that waits for a sign-in to its server, and continues after it.
import { expectStatus, latestReply, sendMessage, textOf, waitForHydration } from "../../support/chat.ts";
import { expect, test } from "../../support/fixtures.ts";
import { MODEL } from "../../support/model_server.ts";
import { SignInServer } from "../../support/sign_in_server.ts";
import { approvalPrompt, decisionButton, toolCards } from "../../support/tools.ts";

test("a refused call asks for a sign-in once and then runs", async ({ page, model, turnleaf, watch }) => {
  const server = await SignInServer.start();
  watch.expect(new RegExp(`request to ${server.url}`));
  const post = async (path: string, body: unknown, method = "POST") => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${turnleaf.url}${path}`, { method, headers, body: JSON.stringify(body) });
    expect(answer.ok, `${path}: ${answer.status}`).toBe(true);
    return (await answer.json()) as { id: string };
  };
  await post("/api/tool-servers", { name: "Files", url: `${server.url}/mcp`, local_network: true });
  const signIn = async () => {
    await page.getByRole("link", { name: `Go to ${server.host}` }).click();
    await page.getByRole("link", { name: "Agree" }).click();
  };
  // The page shows what is known; the server answers a moment later that it needs a sign-in.
  const state = async () => {
    const servers = (await (await fetch(`${turnleaf.url}/api/tool-servers`)).json()) as { id: string; status: { state: string } }[];
    return servers.find(({ id }) => id === "files")?.status.state;
  };
  await expect.poll(state).toBe("sign_in_needed");
  await page.goto("/settings/tools");
  await page.getByRole("button", { name: "Sign in Files" }).click();
  await signIn();
  await expect(page.getByText("Signed in to Files.")).toBeVisible();
  await post("/api/tool-servers/files/policy", { policy: "allow" }, "PUT");

  const chat = await post("/api/chats", { provider: "openai", model: MODEL, title: "Sign-in", tools: { on: ["files/*"] } });
  await page.goto(`/c/${chat.id}`);
  await waitForHydration(page);
  server.tokens.clear();
  await sendMessage(page, "Go");
  (await model.nextReply()).finishWithToolCalls(["files__look", ""]);
  await expect(approvalPrompt(page)).toContainText("waits for you to sign in");
  await expect(decisionButton(page, "Allow once")).toHaveCount(0);
  expect(server.calls).toBe(0);
  await approvalPrompt(page).getByRole("button", { name: "Sign in" }).click();
  await signIn();
  await expect(page).toHaveURL(new RegExp(`/c/${chat.id}`));
  (await model.nextReply()).finishWithText("Done.");
  await expect(textOf(latestReply(page)).last()).toHaveText("Done.");
  await expectStatus(latestReply(page), "complete");
  await expect(toolCards(page)).toHaveCount(1);
  expect(server.calls).toBe(1);
  await server.stop();
});
