import type { Socket } from 'node:net';
import { currentApiVersion } from '@simplane/contract';
import type { Service } from '../background/service.ts';
import { AppError } from '../platform/app-error.ts';
import { isAnswered } from './bound-pipelining.ts';
import { type RenderedError, renderError } from './render-error.ts';
import { newRequestId } from './serve-operation.ts';

/** Answers input that never became a request (invalid bytes, too many headers, a stalled client) with our error body. */
export function answerMalformed(service: Service, error: NodeJS.ErrnoException, socket: Socket): void {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isAnswered(socket);
  if (error.code === 'ECONNRESET' || isLate || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = refuseMalformed(service, newRequestId(service), explain(error));
  const head = [
    `HTTP/1.1 ${status} Refused`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Renders the error with its headers and records it in log and metrics, because no hook runs for it. */
export function refuseMalformed(service: Service, requestId: string, refusal: AppError): RenderedError {
  const { status, body } = renderError(refusal, requestId, service.publicUrl());
  service.metrics.errorCount.inc({ error_type: refusal.code });
  service.log.info({ request_id: requestId, status, error_code: refusal.code }, 'malformed request');
  const headers = {
    'Content-Type': 'application/json',
    'Request-Id': requestId,
    'Service-Version': currentApiVersion,
    'X-Content-Type-Options': 'nosniff',
  };
  return { status, headers, body };
}

function explain({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new AppError(
      'headers_too_large',
      'The request line and headers together are larger than 16 kB. Send fewer or shorter headers, or a shorter query.',
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError(
      'request_timeout',
      'The complete request did not arrive in time. Send it again; with an Idempotency-Key that is always safe.',
    );
  }
  return new AppError(
    'request_malformed',
    'This is not a valid HTTP/1.1 request. Check the client and any proxy in between.',
  );
}
