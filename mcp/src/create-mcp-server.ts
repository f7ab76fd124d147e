import { McpServer } from '@modelcontextprotocol/server';
import type { Simplane } from '@simplane/sdk';
import { registerPrompt } from './prompt.ts';
import { registerResources } from './resources.ts';
import { registerTool, type Tool } from './tool.ts';
import { createWebhookEndpoint } from './tools/create-webhook-endpoint.ts';
import { getExecution } from './tools/get-execution.ts';
import { getInstallProfile } from './tools/get-install-profile.ts';
import { listEvents } from './tools/list-events.ts';
import { listProducts } from './tools/list-products.ts';
import { provisionEsim } from './tools/provision-esim.ts';
import { sendTestEvent } from './tools/send-test-event.ts';
import { version } from './version.ts';

const tools: readonly Tool[] = [
  createWebhookEndpoint,
  provisionEsim,
  sendTestEvent,
  listEvents,
  listProducts,
  getExecution,
  getInstallProfile,
];

const instructions =
  'Simplane provisions eSIMs. Provisioning is asynchronous: provision_esim answers with an execution, get_execution with ' +
  'wait_seconds waits for it, get_install_profile then has the QR code. Pass an idempotency_key to any write that may be ' +
  'repeated. Signing secrets (whsec_…) and install profiles are secrets: give them to the user, and to nothing else.';

export type McpServerOptions = {
  /** Ends waits early, with how things stand, when the process is about to end. */
  stopping?: AbortSignal;
  /** Hears of every tool call that begins. */
  onCall?(call: Promise<unknown>): void;
  /** Hears of what broke; the agent hears only that something did. */
  onError?(error: unknown): void;
};

/** Simplane for one agent: tools, a prompt and resources, each a call of the given client and no more. */
export function createMcpServer(simplane: Simplane, options: McpServerOptions = {}): McpServer {
  const server = new McpServer(
    { name: 'simplane', title: 'Simplane', version },
    {
      instructions,
      // What there is does not change while a server runs, so there is nothing to subscribe to.
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false },
      },
    },
  );
  for (const tool of tools) registerTool(server, { simplane, ...options }, tool);
  registerPrompt(server, simplane);
  registerResources(server, simplane);
  return server;
}
