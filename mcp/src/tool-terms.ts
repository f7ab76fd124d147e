import { type OperationId, operations } from '@simplane/contract';

/** The tool that an agent uses where the API's messages name an operation. */
const toolNames: Partial<Record<OperationId, string>> = {
  createWebhookEndpoint: 'create_webhook_endpoint',
  getWebhookEndpoint: 'get_webhook_endpoint',
  createEsim: 'provision_esim',
  getEsim: 'get_esim',
  getInstallProfile: 'get_install_profile',
  createInstallLink: 'create_install_link',
  sendTestEvent: 'send_test_event',
  listEvents: 'list_events',
  readEventFeed: 'wait_for_event',
  listEventTypes: 'list_event_types',
  listEventDeliveries: 'list_deliveries',
  listEndpointDeliveries: 'list_deliveries',
  listProducts: 'list_products',
  getProduct: 'list_products',
  getExecution: 'get_execution',
  listExecutions: 'get_execution',
  getRequest: 'get_request',
};

const patterns = Object.entries(toolNames).map(([id, tool]) => {
  const { method, path } = operations[id as OperationId];
  return { tool, pattern: new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`) };
});

/** Rewrites a message of the API or the SDK: tools instead of paths, arguments instead of headers and bodies. */
export function inToolTerms(text: string): string {
  return text
    .replace(/\b([A-Z]+ \/v1\/[^\s?;,.()"]+)(\?[^\s;,.()"]*)?/g, (whole, route: string) => {
      return patterns.find(({ pattern }) => pattern.test(route))?.tool ?? whole;
    })
    .replaceAll('Idempotency-Key', 'idempotency_key')
    .replace(/^The body\b/, 'The object of arguments');
}
