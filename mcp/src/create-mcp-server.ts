import { McpServer } from '@modelcontextprotocol/server';
import { hasScope, type Scope } from '@simplane/contract';
import type { Simplane } from '@simplane/sdk';
import { registerPrompt } from './prompt.ts';
import { registerResources } from './resources.ts';
import { registerTool, type Tool } from './tool.ts';
import { createInstallLink } from './tools/create-install-link.ts';
import { createWebhookEndpoint } from './tools/create-webhook-endpoint.ts';
import { getBatch } from './tools/get-batch.ts';
import { getEsim } from './tools/get-esim.ts';
import { getExecution } from './tools/get-execution.ts';
import { getInstallProfile } from './tools/get-install-profile.ts';
import { getRequest } from './tools/get-request.ts';
import { getWebhookEndpoint } from './tools/get-webhook-endpoint.ts';
import { listDeliveries } from './tools/list-deliveries.ts';
import { listEventTypes } from './tools/list-event-types.ts';
import { listEvents } from './tools/list-events.ts';
import { listProducts } from './tools/list-products.ts';
import { provisionBatch } from './tools/provision-batch.ts';
import { provisionEsim } from './tools/provision-esim.ts';
import { sendTestEvent } from './tools/send-test-event.ts';
import { waitForEvent } from './tools/wait-for-event.ts';
import { version } from './version.ts';

const tools: readonly Tool[] = [
  createWebhookEndpoint,
  provisionEsim,
  sendTestEvent,
  listEvents,
  listProducts,
  getExecution,
  getEsim,
  getInstallProfile,
  createInstallLink,
  getWebhookEndpoint,
  listDeliveries,
  listEventTypes,
  waitForEvent,
  getRequest,
  provisionBatch,
  getBatch,
];

/** The prompt is not offered to a key that may not use all of these. */
const promptTools: readonly Tool[] = [createWebhookEndpoint, provisionEsim, sendTestEvent, listEvents];

const instructions =
  'Simplane provisions eSIMs. Provisioning is asynchronous: provision_esim returns an execution, get_execution with ' +
  'wait_seconds waits for it, and get_install_profile then returns the QR code, and create_install_link a link for the end user. wait_for_event waits for what happens next, ' +
  'such as the first attach. list_deliveries shows whether an event arrived at its receivers. get_request explains a request id from an error or a log. Pass an idempotency_key to any write that you may repeat. Signing secrets (whsec_…), install profiles and install links are secrets: share them only with the user.';

export type McpServerOptions = {
  /** Scopes of the API key. Tools and prompts that it may not use are left out. If unknown, all are offered. */
  scopes?: readonly Scope[] | undefined;
  /** Aborted at shutdown: waits then return the current status early. */
  stopping?: AbortSignal;
  /** Called with every tool call when it starts. */
  onCall?(call: Promise<unknown>): void;
  /** Receives unexpected errors. The agent gets a generic message without details. */
  onError?(error: unknown): void;
};

/** An MCP server whose tools, prompt and resources call the API through the given client. */
export function createMcpServer(
  simplane: Simplane,
  { scopes, ...options }: McpServerOptions = {},
): McpServer {
  const isUsable = ({ scope }: Tool) => scopes === undefined || hasScope(scopes, scope);
  const missing = tools.filter((tool) => !isUsable(tool));
  const server = new McpServer(
    { name: 'simplane', title: 'Simplane', version },
    {
      instructions: missing.length === 0 ? instructions : `${instructions} ${explainMissing(missing)}`,
      // The lists never change while the server runs, so there is nothing to subscribe to.
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false },
      },
    },
  );
  for (const tool of tools.filter(isUsable)) registerTool(server, { simplane, ...options }, tool);
  const prompt = registerPrompt(server, simplane);
  if (!promptTools.every(isUsable)) prompt.disable();
  registerResources(server, simplane);
  return server;
}

function explainMissing(missing: readonly Tool[]): string {
  const names = missing.map(({ name }) => name).join(', ');
  const scopes = [...new Set(missing.map(({ scope }) => scope))].join(', ');
  return `This API key lacks scopes (${scopes}), so ${names} are not available. If they are needed, ask the user for another key.`;
}
