import { operation } from '../operation.ts';
import { listQuery } from '../pagination.ts';
import { EndedSession, sessionList, sessionParams } from '../session.ts';

const tag = 'Operator deployment';

export const listOperatorSessions = operation({
  method: 'GET',
  path: '/v1/operator/sessions',
  tag,
  summary: 'List operators’ dashboard sessions',
  description:
    'Returns who is signed in to the dashboard with operators’ keys. An account’s sessions: `GET /v1/sessions` with `Service-Account`.',
  scope: 'operator',
  query: listQuery({}),
  status: 200,
  response: sessionList,
  refusals: ['cursor_invalid'],
});

export const deleteOperatorSession = operation({
  method: 'DELETE',
  audit: { action: 'session.ended', target: 'session' },
  path: '/v1/operator/sessions/{id}',
  tag,
  summary: 'End an operator’s dashboard session',
  description: 'Signs the session out on every process, and ends its open streams within 5 seconds.',
  scope: 'operator',
  params: sessionParams,
  status: 200,
  response: EndedSession,
  refusals: ['resource_missing'],
});
