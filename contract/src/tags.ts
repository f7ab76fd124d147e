/** The groups of operations, in the order of the reference. */
export const tags: Record<string, string> = {
  Identity: 'Which account and key a request uses.',
  Overview: 'How the account is doing, and where to find things.',
  Products: 'The catalog: data plans that can be ordered.',
  eSIMs: 'Order eSIMs, install them, and follow them until they are terminated.',
  'Install links': 'Pages for end users, which install an eSIM on their phone and show when it is online.',
  Bundles: 'Data allowances of an eSIM: what was bought, what is used, and top-ups.',
  Usage: 'Reports of the network that carries the eSIMs.',
  Batches: 'Up to 1,000 orders at once: accepted together, followed and canceled as one.',
  Executions: 'Asynchronous work. Every order returns an execution, which succeeds or fails.',
  Events: 'The log of everything that happened. Webhooks deliver the same events.',
  'Event feed':
    'The event log in its final order, for programs that follow it: polling, streams, and consumers.',
  'Webhook endpoints': 'URLs of yours that receive events.',
  Webhooks: 'What your endpoints receive.',
  Deliveries: 'Every attempt to deliver an event to an endpoint.',
  'API keys': 'The account’s keys: who may do what, from where and until when.',
  Sessions: 'Who is signed in to the dashboard with keys of the account.',
  'Operator deployment': 'For the operator: load, processes, networks, webhook endpoints and ICCID ranges.',
  'Operator products': 'For the operator: the whole catalog, and changes to it.',
  Requests: 'The request log: look up a `Request-Id` to see the error and what to do about it.',
  'Audit log': 'Who changed what in the account, and who saw activation codes. Kept for a year.',
  'Operator audit log': 'For the operator: the audit log of all accounts and of the deployment.',
  'Operator executions':
    'For the operator: executions of all accounts. Find stuck and failed ones, retry them, and resolve unknown outcomes.',
  Sandbox: 'Simulated devices and networks, for tests.',
  'Operator events':
    'For the operator: the events of all accounts, with an order, consumers and webhook endpoints of the deployment.',
  'Operator accounts': 'For the operator: the accounts of the deployment, their limits and their keys.',
};
