import type { McpServer, RegisteredPrompt } from '@modelcontextprotocol/server';
import type { Product, Simplane } from '@simplane/sdk';
import { describeProduct, firstProducts } from './products.ts';
import { orProtocolError } from './protocol-error.ts';
import { type ObjectSchema, unvalidated } from './schema.ts';

type Args = { webhook_url?: string; product_id?: string };

const args: ObjectSchema = {
  type: 'object',
  properties: {
    webhook_url: {
      type: 'string',
      description: 'URL that receives events. If omitted, the model asks the user.',
    },
    product_id: {
      type: 'string',
      description: 'Product to provision. Defaults to the first of the catalog.',
    },
  },
};

/** Instructions that take a model from an empty account to an eSIM whose webhook arrived. */
export function registerPrompt(server: McpServer, simplane: Simplane): RegisteredPrompt {
  return server.registerPrompt(
    'provision_esim_with_webhooks',
    {
      title: 'Provision an eSIM with webhooks',
      description:
        'Registers a webhook endpoint, provisions an eSIM, sends a test event and reads the event log, in that order.',
      argsSchema: unvalidated<Args>(args),
    },
    async (given) => {
      const catalog = await orProtocolError(simplane, () => firstProducts(simplane));
      return { messages: [{ role: 'user', content: { type: 'text', text: promptText(given, catalog) } }] };
    },
  );
}

type Catalog = { products: Product[]; hasMore: boolean };

function promptText({ webhook_url, product_id }: Args, { products, hasMore }: Catalog): string {
  const productId = product_id || products[0]?.id;
  return [
    'Provision an eSIM with Simplane and prove that its webhooks arrive. Use the tools in this order:',
    '',
    `1. create_webhook_endpoint with url ${webhook_url ? JSON.stringify(webhook_url) : '<the URL of my receiver; ask me if you do not know it>'} and ` +
      'enabled_event_types ["*"]. The response contains the signing secret, and only this once: give it to me or put it ' +
      'in the receiver’s configuration, and do not repeat it later.',
    `2. provision_esim with product_id ${productId ? JSON.stringify(productId) : '<an id from list_products>'}. The response is an execution: ` +
      'call get_execution with its id and wait_seconds until its status is succeeded. If it failed, tell me why and stop.',
    '3. send_test_event with type "esim.provisioned" and data {"iccid": <the iccid from step 2>}. This synthetic event ' +
      'shows whether the receiver verifies signatures. A live deployment refuses it; if so, continue with step 4.',
    '4. list_events with type ["esim.provisioned"]. Find the event with the execution_id from step 2: that is the real one.',
    '',
    'Then prove that the events arrived: call list_deliveries with the event_id of each. The delivery to the endpoint from ' +
      'step 1 must have the status succeeded, with the receiver’s status_code in its last attempt. If it is pending, wait a ' +
      'few seconds and call again, up to five times. If it is still pending or has failed, tell me the error and response ' +
      'of the last attempt; get_webhook_endpoint says whether the endpoint was disabled.',
    '',
    'At the end, tell me the endpoint id, the ICCID, the ids of both events and the status of their deliveries. get_install_profile returns the QR code ' +
      'for the person who installs the eSIM; wait_for_event with the ICCID then waits for what the device does.',
    '',
    `Products that exist${hasMore ? ' (the first ones; list_products returns the rest)' : ''}:`,
    ...products.map((product) => `- ${describeProduct(product)}`),
    ...(products.length === 0 ? ['- none: the catalog is empty; ask the operator to add products'] : []),
  ].join('\n');
}
