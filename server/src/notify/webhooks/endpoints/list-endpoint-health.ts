export { backlogCountLimit, type EndpointHealthRow, listEndpointHealth } from './sql/health.ts';
