import { randomBytes } from 'node:crypto';
import { type InstallProfile, idPrefixes } from '@simplane/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readBrand, readLogo } from '../../accounts/branding/show.ts';
import type { Service } from '../../background/service.ts';
import { readDataLeft } from '../../orders/bundles/data-left.ts';
import { requireEsim } from '../../orders/esims/get.ts';
import { showInstallProfile } from '../../orders/esims/install.ts';
import { type FoundLink, findLink } from '../../orders/install-links/find.ts';
import { recordView } from '../../orders/install-links/record-view.ts';
import { AppError } from '../../platform/app-error.ts';
import { labelOf, requireOwnCell } from '../../platform/cell.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { discardRest } from '../discard-rest.ts';
import type { RefusalPace } from '../pace-refusals.ts';
import { detectDevice } from './detect-device.ts';
import { isPerson } from './is-person.ts';
import { createLinkLimits } from './link-limits.ts';
import { renderNotice, renderPage, type Shown } from './page.ts';
import { canInstall, stepOf, topicOfError } from './step-of.ts';
import { chooseLanguage } from './texts/index.ts';

const url = '/i/:token';

/** Nothing of the page leaves the browser: not to caches, other sites, frames or search engines. */
const headers = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function policyOf(nonce: string): string {
  return (
    `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; ` +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
  );
}

/** The pages that end users open. They have no key: the token of their link says whose eSIM it is. */
export function serveInstallPages(app: FastifyInstance, service: Service, pace: RefusalPace): void {
  const { db, clock } = service;
  const limits = createLinkLimits();

  app.get(url, (request, reply) =>
    withLink(request, reply, async (link) => {
      if (isPerson(request) && limits.takeView(link.id)) await recordView(db, viewerOf(request), link);
      return sendPage(request, reply, link, null);
    }),
  );

  app.post(url, { onRequest: ignoreBody }, (request, reply) =>
    withLink(request, reply, async (link) => {
      if (isFromElsewhere(request) || !canInstall(stepOf(link))) {
        return reply.redirect(pathOf(request), 303);
      }
      if (!limits.takeCode(link.id)) return sendNotice(request, reply, link, 'tooOften');
      const esim = await requireEsim(db, link.account_id, link.iccid);
      const viewer = { ...viewerOf(request), db, keyring: service.keyring };
      const seenBy = { install_link_id: idOfUuid(idPrefixes.installLink, link.id) };
      return sendPage(request, reply, link, await showInstallProfile(viewer, esim, seenBy));
    }),
  );

  app.get(`${url}/status`, (request, reply) =>
    withLink(request, reply, async (link) => {
      const step = stepOf(link);
      const etag = `"${step}"`;
      reply.header('ETag', etag);
      if (request.headers['if-none-match'] === etag) return reply.code(304).send();
      return reply.send({ step });
    }),
  );

  app.get(`${url}/logo`, (request, reply) =>
    withLink(request, reply, async (link) => {
      const logo = await readLogo(db, link.account_id);
      return logo ? reply.type('image/png').send(logo) : refuse(request, reply);
    }),
  );

  /** A token that does not work gets the same answer and costs the same, whatever the reason; many of them wait, as unknown keys do. */
  async function withLink(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: (link: FoundLink) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    reply.headers(headers);
    const { token } = request.params as { token: string };
    const link = await findLink(db, clock, token);
    if (!link) {
      requireOwnCell(service.cell, labelOf(token), 'This install link');
      return refuse(request, reply);
    }
    if (!limits.takeRequest(link.id)) {
      throw new AppError('rate_limited', 'This link is opened too often; retry after a second.', {
        headers: { 'Retry-After': '1' },
      });
    }
    return answer(link);
  }

  function refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = new AppError('resource_missing', 'This install link has ended.');
    request.refusal = refusal;
    pace.answer(request, reply, refusal, () => void sendNotice(request, reply.code(404), null, 'ended'));
    return reply;
  }

  function sendNotice(
    request: FastifyRequest,
    reply: FastifyReply,
    link: FoundLink | null,
    kind: 'ended' | 'tooOften',
  ): FastifyReply {
    const language = languageOf(request, link);
    if (kind === 'tooOften') reply.code(429).header('Retry-After', '3600');
    return send(reply, (nonce) => renderNotice(language, kind, nonce));
  }

  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    link: FoundLink,
    profile: InstallProfile | null,
  ): Promise<FastifyReply> {
    const step = stepOf(link);
    const { device } = request.query as { device?: unknown };
    const language = languageOf(request, link);
    const account = { uuid: link.account_id, name: link.account_name };
    const shown: Shown = {
      path: pathOf(request),
      iccid: link.iccid,
      language,
      brand: await readBrand(db, account, language),
      device: detectDevice(request.headers['user-agent'], device),
      step,
      trouble: step === 'failed' && link.profile_error ? topicOfError[link.profile_error.code] : null,
      asksConfirmation: link.confirmation_code_required,
      returnUrl: link.return_url,
      profile,
      data: step === 'online' ? await readDataLeft(db, link) : null,
    };
    return send(reply, (nonce) => renderPage(shown, nonce));
  }

  function viewerOf({ id: requestId, ip }: FastifyRequest) {
    const { newUuid, signals } = service;
    return { clock, newUuid, signals, apiKey: null, requestId, ip };
  }
}

function send(reply: FastifyReply, render: (nonce: string) => string): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  return reply
    .header('Content-Security-Policy', policyOf(nonce))
    .type('text/html; charset=utf-8')
    .send(render(nonce));
}

function languageOf({ headers }: FastifyRequest, link: FoundLink | null) {
  return link?.language ?? chooseLanguage(headers['accept-language']);
}

/** Without the query. */
function pathOf({ params }: FastifyRequest): string {
  return `/i/${(params as { token: string }).token}`;
}

/** The form has no fields, so there is nothing to read. Removes what would make Fastify look for a parser. */
function ignoreBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  delete request.raw.headers['content-type'];
  delete request.raw.headers['content-length'];
  delete request.raw.headers['transfer-encoding'];
  discardRest(request.raw);
  done();
}

/** Whether another site sent the form. Our page sends `Origin: null`, because it sends no referrer; a reload may have no site. */
function isFromElsewhere({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site = 'none', origin = 'null', host } = headers;
  if (site !== 'same-origin' && site !== 'none') return true;
  return origin !== 'null' && !(URL.canParse(origin) && new URL(origin).host === host);
}
