import type { Socket } from 'node:net';
import { currentApiVersion } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { Service } from '../service.ts';
import { renderError } from './render-error.ts';
import { newRequestId } from './serve-operation.ts';

/** What never became a request (bad bytes, endless headers, a client that stalls) still gets an answer of our form. */
export function answerMalformed(service: Service, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId(service);
  const refusal = explain(error);
  const { status, body } = renderError(refusal, requestId, service.publicUrl());
  service.metrics.errorCount.inc({ error_type: refusal.code });
  service.log.info(
    { request_id: requestId, status, error_code: refusal.code, parser: error.code },
    'malformed request',
  );
  const head = [
    `HTTP/1.1 ${status} ${refusal.code}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    `Service-Version: ${currentApiVersion}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
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
