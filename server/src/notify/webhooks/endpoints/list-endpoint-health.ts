export { backlogCountLimit, type EndpointHealthRow, listEndpointHealth } from './sql/list-endpoint-health.ts';
