import { type ComponentType, lazy } from 'react';
import { pathInAccount } from './account-path.ts';
import { NotFound } from './screens/not-found.tsx';

type Screen = ComponentType;
type Route = { pattern: RegExp; screen: Screen };

/** Each screen is loaded when it is first opened. */
const screen = (load: () => Promise<{ default: Screen }>) => lazy(load);

const accountRoutes: Route[] = [
  { pattern: /^\/$/, screen: screen(() => import('./screens/home.tsx')) },
  { pattern: /^\/esims$/, screen: screen(() => import('./screens/esims.tsx')) },
  { pattern: /^\/esims\/[^/]+$/, screen: screen(() => import('./screens/esim.tsx')) },
  { pattern: /^\/executions\/[^/]+$/, screen: screen(() => import('./screens/execution.tsx')) },
  { pattern: /^\/events$/, screen: screen(() => import('./screens/events.tsx')) },
  { pattern: /^\/events\/[^/]+$/, screen: screen(() => import('./screens/event.tsx')) },
  { pattern: /^\/webhooks$/, screen: screen(() => import('./screens/webhooks.tsx')) },
  { pattern: /^\/webhooks\/[^/]+$/, screen: screen(() => import('./screens/webhook.tsx')) },
  { pattern: /^\/keys$/, screen: screen(() => import('./screens/keys.tsx')) },
  { pattern: /^\/requests$/, screen: screen(() => import('./screens/requests.tsx')) },
  { pattern: /^\/requests\/[^/]+$/, screen: screen(() => import('./screens/request.tsx')) },
  { pattern: /^\/audit$/, screen: screen(() => import('./screens/audit.tsx')) },
];

const operatorRoutes: Route[] = [
  { pattern: /^\/$/, screen: screen(() => import('./screens/operator/overview.tsx')) },
  { pattern: /^\/accounts$/, screen: screen(() => import('./screens/operator/accounts.tsx')) },
  { pattern: /^\/executions$/, screen: screen(() => import('./screens/operator/executions.tsx')) },
  { pattern: /^\/executions\/[^/]+$/, screen: screen(() => import('./screens/operator/execution.tsx')) },
  { pattern: /^\/endpoints$/, screen: screen(() => import('./screens/operator/endpoints.tsx')) },
  { pattern: /^\/networks$/, screen: screen(() => import('./screens/operator/networks.tsx')) },
  { pattern: /^\/processes$/, screen: screen(() => import('./screens/operator/processes.tsx')) },
  { pattern: /^\/products$/, screen: screen(() => import('./screens/operator/products.tsx')) },
  { pattern: /^\/audit$/, screen: screen(() => import('./screens/operator/audit.tsx')) },
];

export function findScreen(path: string, isOperator: boolean): Screen {
  const inside = isOperator ? pathInAccount(path) : null;
  const [routes, rest] =
    inside !== null ? [accountRoutes, inside] : [isOperator ? operatorRoutes : accountRoutes, path];
  return routes.find(({ pattern }) => pattern.test(rest))?.screen ?? NotFound;
}
