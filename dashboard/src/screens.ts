import type { ComponentType } from 'react';
import { pathInAccount } from './account-path.ts';

/** Each screen is loaded when it is first opened. */
type Load = () => Promise<{ default: ComponentType }>;
type Route = { pattern: RegExp; load: Load };

const accountRoutes: Route[] = [
  { pattern: /^\/$/, load: () => import('./screens/home.tsx') },
  { pattern: /^\/esims$/, load: () => import('./screens/esims.tsx') },
  { pattern: /^\/esims\/[^/]+$/, load: () => import('./screens/esim.tsx') },
  { pattern: /^\/executions\/[^/]+$/, load: () => import('./screens/execution.tsx') },
  { pattern: /^\/batches\/[^/]+$/, load: () => import('./screens/batch.tsx') },
  { pattern: /^\/events$/, load: () => import('./screens/events.tsx') },
  { pattern: /^\/events\/[^/]+$/, load: () => import('./screens/event.tsx') },
  { pattern: /^\/webhooks$/, load: () => import('./screens/webhooks.tsx') },
  { pattern: /^\/webhooks\/[^/]+$/, load: () => import('./screens/webhook.tsx') },
  { pattern: /^\/consumers$/, load: () => import('./screens/consumers.tsx') },
  { pattern: /^\/catalog$/, load: () => import('./screens/catalog.tsx') },
  { pattern: /^\/branding$/, load: () => import('./screens/branding.tsx') },
  { pattern: /^\/keys$/, load: () => import('./screens/keys.tsx') },
  { pattern: /^\/requests$/, load: () => import('./screens/requests.tsx') },
  { pattern: /^\/requests\/[^/]+$/, load: () => import('./screens/request.tsx') },
  { pattern: /^\/audit$/, load: () => import('./screens/audit.tsx') },
];

const operatorRoutes: Route[] = [
  { pattern: /^\/$/, load: () => import('./screens/operator/overview.tsx') },
  { pattern: /^\/accounts$/, load: () => import('./screens/operator/accounts.tsx') },
  { pattern: /^\/executions$/, load: () => import('./screens/operator/executions.tsx') },
  { pattern: /^\/executions\/[^/]+$/, load: () => import('./screens/operator/execution.tsx') },
  { pattern: /^\/endpoints$/, load: () => import('./screens/operator/endpoints.tsx') },
  { pattern: /^\/networks$/, load: () => import('./screens/operator/networks.tsx') },
  { pattern: /^\/processes$/, load: () => import('./screens/operator/processes.tsx') },
  { pattern: /^\/products$/, load: () => import('./screens/operator/products.tsx') },
  { pattern: /^\/audit$/, load: () => import('./screens/operator/audit.tsx') },
];

export function findScreen(path: string, isOperator: boolean): Load {
  const inside = isOperator ? pathInAccount(path) : null;
  const [routes, rest] =
    inside !== null ? [accountRoutes, inside] : [isOperator ? operatorRoutes : accountRoutes, path];
  return routes.find(({ pattern }) => pattern.test(rest))?.load ?? (() => import('./screens/not-found.tsx'));
}
