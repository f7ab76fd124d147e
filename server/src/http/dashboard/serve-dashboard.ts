import type { FastifyInstance } from 'fastify';
import type { Service } from '../../background/service.ts';
import { serveFiles } from './serve-files.ts';
import { type SignInLimits, serveSessions } from './serve-sessions.ts';

/** The page, its sessions, and its way to the operations (`paths.ts`). `app.ts` checks the host of all three. */
export function serveDashboard(app: FastifyInstance, service: Service, limits: SignInLimits): void {
  serveSessions(app, service, limits);
  serveFiles(app);
}
