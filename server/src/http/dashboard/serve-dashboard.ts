import type { FastifyInstance } from 'fastify';
import type { Service } from '../../service.ts';
import type { UnknownKeyLimit } from '../unknown-key-limit.ts';
import { serveFiles } from './serve-files.ts';
import { serveSessions } from './serve-sessions.ts';

/** The page, its sessions, and its way to the operations (`paths.ts`). `app.ts` checks the host of all three. */
export function serveDashboard(app: FastifyInstance, service: Service, unknownKeys: UnknownKeyLimit): void {
  serveSessions(app, service, unknownKeys);
  serveFiles(app);
}
