import type { Static } from 'typebox';
import { exampleId, exampleTime } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { idParams, nullableString, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

const example = {
  id: exampleId(idPrefixes.session),
  object: 'session',
  api_key: { id: exampleId(idPrefixes.apiKey), name: 'Admin', last4: 'x7Qd' },
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
  created: exampleTime,
  expires_at: exampleTime + 12 * 3600,
};

/** Longer names of browsers are cut. */
export const maxUserAgentLength = 200;

export const Session = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.session) }),
    object: Type.Literal('session'),
    api_key: Type.Object(
      {
        id: Type.String({ pattern: idPattern(idPrefixes.apiKey) }),
        name: Type.String(),
        last4: Type.String(),
      },
      { description: 'The key that it stands for.' },
    ),
    ip: nullableString({ description: 'The address it was started from.' }),
    user_agent: nullableString({
      description: `The browser it was started with, as its \`User-Agent\` header says: up to ${maxUserAgentLength} characters.`,
    }),
    created: unixSeconds('When someone signed in.'),
    expires_at: unixSeconds('When it ends by itself: no later than its key.'),
  },
  {
    title: 'Session',
    description: 'Someone who is signed in to the dashboard.',
    examples: [example],
  },
);

export type Session = Static<typeof Session>;

export const EndedSession = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.session) }),
    object: Type.Literal('session'),
    deleted: Type.Boolean({ description: 'Always `true`.' }),
  },
  {
    title: 'EndedSession',
    description: 'Confirms that the session has ended.',
    examples: [{ id: example.id, object: 'session', deleted: true }],
  },
);

export const sessionList = listOf(Session, 'SessionList');
export const sessionParams = idParams(idPrefixes.session, 'Id of the session (`sess_…`).');

export const listSessions = operation({
  method: 'GET',
  path: '/v1/sessions',
  tag: 'Sessions',
  summary: 'List dashboard sessions',
  description:
    'Returns who is signed in to the dashboard with keys of the account. Sessions that have ended are not listed; the audit log has them.',
  scope: 'admin',
  query: listQuery({}),
  status: 200,
  response: sessionList,
  refusals: ['cursor_invalid'],
});

export const deleteSession = operation({
  method: 'DELETE',
  audit: { action: 'session.ended', target: 'session' },
  path: '/v1/sessions/{id}',
  tag: 'Sessions',
  summary: 'End a dashboard session',
  description:
    'Signs the session out on every process, and ends its open streams within 5 seconds. Its key goes on working: revoke that too if it may be known to others.',
  scope: 'admin',
  params: sessionParams,
  allowedWhenSuspended: true,
  status: 200,
  response: EndedSession,
  refusals: ['resource_missing'],
});
