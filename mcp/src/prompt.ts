import type { McpServer } from '@modelcontextprotocol/server';
import type { Product, Simplane } from '@simplane/sdk';
import { describeProduct, firstProducts } from './products.ts';
import { orProtocolError } from './protocol-error.ts';
import { type ObjectSchema, shown } from './schema.ts';

type Args = { webhook_url?: string; product_id?: string };

const args: ObjectSchema = {
  type: 'object',
  properties: {
    webhook_url: {
      type: 'string',
      description: 'Where events are delivered to. Left out, the user is asked.',
    },
    product_id: { type: 'string', description: 'What to provision. Left out, the first of the catalog.' },
  },
};

/** The whole way from nothing to an eSIM whose webhook arrived, as instructions for a model. */
export function registerPrompt(server: McpServer, simplane: Simplane): void {
  server.registerPrompt(
    'provision_esim_with_webhooks',
    {
      title: 'Provision an eSIM with webhooks',
      description:
        'Registers a webhook endpoint, provisions an eSIM, sends a test event and reads the event log, in that order.',
      argsSchema: shown<Args>(args),
    },
    async (given) => {
      const catalog = await orProtocolError(simplane, () => firstProducts(simplane));
      return { messages: [{ role: 'user', content: { type: 'text', text: textOf(given, catalog) } }] };
    },
  );
}

type Catalog = { products: Product[]; hasMore: boolean };

function textOf({ webhook_url, product_id }: Args, { products, hasMore }: Catalog): string {
  const productId = product_id || products[0]?.id;
  return [
    'Provision an eSIM with Simplane and prove that its webhooks arrive. Use the tools in this order:',
    '',
    `1. create_webhook_endpoint with url ${webhook_url ? JSON.stringify(webhook_url) : '<the URL of my receiver; ask me if you do not know it>'} and ` +
      'enabled_event_types ["*"]. The answer holds the signing secret, this once: give it to me or put it into the ' +
      'receiver’s configuration, and do not repeat it later.',
    `2. provision_esim with product_id ${productId ? JSON.stringify(productId) : '<an id from list_products>'}. The answer is an execution: ` +
      'call get_execution with its id and wait_seconds until status is succeeded. If it failed, tell me why and stop.',
    '3. send_test_event with type "esim.provisioned" and data {"iccid": <the iccid of step 2>}. This is a synthetic event ' +
      'that shows whether the receiver verifies signatures; a live deployment refuses it, then go on without.',
    '4. list_events. Look for the esim.provisioned event that carries the execution_id of step 2: that is the real one.',
    '',
    'At the end tell me the id of the endpoint, the ICCID, and the ids of both events. get_install_profile has the QR code ' +
      'for the person who installs the eSIM.',
    '',
    `Products that exist${hasMore ? ' (the first of them; list_products has the rest)' : ''}:`,
    ...products.map((product) => `- ${describeProduct(product)}`),
    ...(products.length === 0 ? ['- none: the catalog is empty, so ask the operator to fill it'] : []),
  ].join('\n');
}
