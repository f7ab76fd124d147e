import {
  encodeId,
  type InstallProfile,
  idPrefixes,
  isWrite,
  type Operation,
  operations,
  type WriteOperation,
} from '@simplane/contract';
import fastJsonStringify from 'fast-json-stringify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Context } from '../accounts/context.ts';
import type { KnownKey } from '../accounts/key-directory.ts';
import type { AnyWrite } from '../accounts/write.ts';
import type { Service } from '../background/service.ts';
import type { HandingOver } from '../notify/events/hand-over.ts';
import type { Probing } from '../notify/webhooks/sender/probes.ts';
import type { Seating } from '../orders/executions/seats.ts';
import { AppError } from '../platform/app-error.ts';
import type { Database } from '../platform/db/database.ts';
import type { Claim } from '../platform/idempotency/claim.ts';
import type { KeysInFlight } from '../platform/idempotency/keys-in-flight.ts';
import type { Answer, Outcome } from '../platform/idempotency/outcome.ts';
import { labelCursor } from '../platform/lists/cursor.ts';
import { maxPageBytes, smallPageBytes } from '../platform/lists/read-page.ts';
import { type AccountTurns, createAccountTurns } from './account-turns.ts';
import { wayOf } from './audit-write.ts';
import { boundFilter, isFiltered } from './bound-filter.ts';
import { claimKey } from './claim-key.ts';
import type { DatabaseShares } from './database-shares.ts';
import { emptyBody, isStorable, type JsonBody, unstorableText } from './json-body.ts';
import { onFirstCall } from './on-first-call.ts';
import { compileQueryValidator, readQuery } from './query.ts';
import { pictureOf } from './representations.ts';
import { ownerOf } from './request-owner.ts';
import { findAnswer, runWrite } from './run-write.ts';
import { sendFile } from './send-file.ts';
import { unlessGone } from './unless-gone.ts';
import type { UnreadAnswers } from './unread-answers.ts';
import { compileValidator } from './validate.ts';

type Input = {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
};
export type ReadHandler = (ctx: Context, input: Input) => Promise<object>;
export type WriteHandler = AnyWrite<Context & Probing & HandingOver & Seating, Input>;

/** Requests with thousands of rows must leave database connections free for small requests. */
const largeBodyLimits = { running: 3, waiting: 32 };
/** A thousand QR codes take seconds of the process. One account draws two files at once. */
const fileLimits = { running: 4, waiting: 8 };
const unlimited: AccountTurns = (_, work) => work();

const noFields = { type: 'object', properties: {}, additionalProperties: false };

type Parts = { service: Service; shares: DatabaseShares; keysInFlight: KeysInFlight; unread: UnreadAnswers };

/** Registers an operation. Its validation, idempotency and serialisation are derived from the contract. */
export function serveOperation(
  app: FastifyInstance,
  { service, shares, keysInFlight, unread }: Parts,
  definition: Operation,
  handler: ReadHandler | WriteHandler,
): void {
  const stringify = onFirstCall(() => fastJsonStringify(definition.response as object));
  const { query: querySchema, pictures, files, alsoReturns } = definition;
  // A schema of its own: one for both answers would check each order against both.
  const stringifyOther = alsoReturns
    ? onFirstCall(() => fastJsonStringify(alsoReturns.response as object))
    : stringify;
  const inTurn = definition.bodyLimitBytes === undefined ? unlimited : createAccountTurns(largeBodyLimits);
  const readInTurn = files ? createAccountTurns(fileLimits) : unlimited;
  const checkQuery = querySchema ? onFirstCall(() => compileQueryValidator(querySchema)) : () => null;
  const checkBody = isWrite(definition)
    ? onFirstCall(() => compileValidator(definition.body ?? noFields))
    : () => null;
  const { clock, newUuid, signals, handOver, seats, keyring, addressPolicy, probes, mode, cell, core } =
    service;
  const { cells, endpointLimit, usageMaxAgeMs, requiresCheckDigit, publicUrl } = service;

  app.route({
    method: definition.method,
    url: definition.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: definition },
    ...(definition.bodyLimitBytes !== undefined && { bodyLimit: definition.bodyLimitBytes }),
    handler: (request, reply) =>
      isWrite(definition)
        ? answerWrite(request, reply, definition)
        : readInTurn(ownerOf(request), () => answerRead(request, reply)),
  });

  async function answerRead(request: FastifyRequest, reply: FastifyReply) {
    const input = readInput(request, emptyBody);
    const invalid = checkQuery(input.query);
    if (invalid) throw invalid;
    // Set before the handler runs, so that its errors have them too. Only install profiles are pictures or files, and they are secret.
    if (pictures || files) reply.headers({ Vary: 'Accept', 'Cache-Control': 'no-store' });
    if (mayBeLarge(definition)) await unread.reserve(request, smallPageBytes);
    const result = await (handler as ReadHandler)(
      contextOf(request, dbForRead(request, reply, input.query)),
      input,
    );
    const picture = pictures && pictureOf(result as InstallProfile, pictures, request.headers.accept);
    if (picture) {
      reply.header('Content-Disposition', `inline; filename="${picture.fileName}"`);
      return reply.code(definition.status).type(picture.mediaType).send(picture.bytes);
    }
    if (files && (await sendFile({ request, reply, unread }, result, input.query))) return reply;
    return send(reply, {
      status: definition.status,
      location: null,
      body: stringify(labelCursor(cell, result)),
    });
  }

  async function answerWrite(request: FastifyRequest, reply: FastifyReply, write: WriteOperation) {
    const body = (request.body as JsonBody | undefined) ?? emptyBody;
    const claim = claimKey(request, body, write, clock.nowMs());
    if (claim && !keysInFlight.enter(claim.id)) throw inProgress();
    let outcome: Outcome;
    try {
      outcome = await runOrReplay(request, claim, readInput(request, body), write);
    } finally {
      // After the commit and before the response is sent, so that an immediate retry is replayed and never gets a 409.
      if (claim) keysInFlight.leave(claim.id);
    }
    return sendOutcome(request, reply, outcome);
  }

  async function runOrReplay(
    request: FastifyRequest,
    claim: Claim | null,
    input: Input,
    write: WriteOperation,
  ): Promise<Outcome> {
    const ctx = contextOf(request, shares.writesOf(callerOf(request)));
    const asked = { request, ctx, input, claim, definition: write, publicUrl, stringify, stringifyOther };
    const invalid = checkQuery(input.query) ?? checkBody(input.body);
    if (!invalid) return inTurn(ownerOf(request), () => runWrite(handler as WriteHandler, asked));
    const earlier = await findAnswer(asked);
    if (earlier) return earlier;
    throw invalid;
  }

  function readInput(request: FastifyRequest, body: JsonBody): Input {
    const params = request.params as Record<string, string>;
    for (const [param, value] of Object.entries(params)) {
      if (isStorable(value)) continue;
      // PUT creates what the path names.
      if (definition.method === 'PUT') throw unstorableText(param);
      throw new AppError('resource_missing', `No object has this ${param}.`, { param });
    }
    const query = request.query as Record<string, unknown>;
    return { params, query: querySchema ? readQuery(querySchema, query) : {}, body: body.value };
  }

  function dbForRead(
    request: FastifyRequest,
    { raw: response }: FastifyReply,
    query: Input['query'],
  ): Database {
    const reads = shares.readsOf(callerOf(request));
    if (!querySchema || files || !isFiltered(query)) return reads;
    const owner = ownerOf(request);
    return boundFilter(
      reads,
      (work) => shares.filterTurns(owner, unlessGone(response, work)),
      querySchema,
      query,
    );
  }

  function contextOf(request: FastifyRequest, db: Database): Context & Probing & HandingOver & Seating {
    const { account, apiVersion, id: requestId, ip } = request;
    const { apiKey } = callerOf(request);
    // Listed one by one: spreading an object took 3 % of the time to accept an order.
    return {
      db,
      clock,
      newUuid,
      signals,
      handOver,
      seats,
      keyring,
      addressPolicy,
      probes,
      endpointLimit,
      usageMaxAgeMs,
      mode,
      cell,
      cells,
      core,
      requiresCheckDigit,
      apiVersion,
      publicUrl,
      waitForRoom: () => unread.reserve(request, maxPageBytes),
      account: account as Account, // null only for operators' operations and /v1/me, whose handlers expect that
      apiKey,
      requestId,
      ip,
      via: wayOf(request),
    };
  }
}

function callerOf({ caller }: FastifyRequest): KnownKey {
  if (!caller) throw new Error('an operation ran without a caller');
  return caller;
}

/** Lists, and events, whose data is the account's own. */
function mayBeLarge({ path, query }: Operation): boolean {
  return query?.properties['starting_after'] !== undefined || path === operations.getEvent.path;
}

function sendOutcome(request: FastifyRequest, reply: FastifyReply, outcome: Outcome) {
  switch (outcome.kind) {
    case 'in_progress':
      throw inProgress();
    case 'reused':
      throw new AppError(
        'idempotency_key_reused',
        'This Idempotency-Key was used for a different request in the last 24 hours; use a new key.',
        { param: 'Idempotency-Key' },
      );
    case 'answered':
      request.idempotency = outcome.replayed ? 'replayed' : 'fresh';
      if (outcome.replayed) {
        reply.header('Idempotent-Replayed', 'true');
        if (outcome.answer.status >= 400) request.storedError = outcome.answer.body;
      }
      if (outcome.answer.isSecret) reply.header('Cache-Control', 'no-store');
      return send(reply, outcome.answer);
  }
}

function send(reply: FastifyReply, { status, location, body }: Answer) {
  if (location) reply.header('Location', location);
  return reply.code(status).type('application/json').send(body);
}

function inProgress(): AppError {
  return new AppError(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still running; retry the same request after a second.',
    { headers: { 'Retry-After': '1' } },
  );
}

/** Identifies a request in its response and in the log. */
export function newRequestId(service: Service): string {
  return encodeId(idPrefixes.request, service.newUuid());
}
