import type { Socket } from 'node:net';
import { currentApiVersion } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { Service } from '../service.ts';
import { isAnswered } from './bound-pipelining.ts';
import { type RenderedError, renderError } from './render-error.ts';
import { newRequestId } from './serve-operation.ts';

/** What never became a request (bad bytes, endless headers, a client that stalls) still gets an answer of our form. */
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

/** Renders such a refusal with all its headers, and leaves its trace in log and metrics, which no hook does for it. */
export function refuseMalformed(service: Service, requestId: string, refusal: AppError): RenderedError {
  const { status, body } = renderError(refusal, requestId, service.publicUrl());
  service.metrics.errorCount.inc({ error_type: refusal.code });
  service.log.info({ request_id: requestId, status, error_code: refusal.code }, 'malformed request');
  const headers = {
    'Content-Type': 'application/json',
    'Request-Id': requestId,
    'Service-Version': currentApiVersion,
  };
  return { status, headers, body };
}

function explain({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new AppError('headers_too_large', 'The request line and headers are larger than 16 kB together.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('request_timeout', 'The request did not arrive whole in time.');
  }
  return new AppError('request_malformed', 'This is not an HTTP/1.1 request.');
}
