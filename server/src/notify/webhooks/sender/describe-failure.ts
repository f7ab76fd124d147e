import { errors } from 'undici';

/** Why there was no response, worded for the endpoint's owner. */
export function describeFailure(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return 'response is not valid HTTP';
  // undici's messages for an unsolicited 100 or 101.
  if (error instanceof errors.SocketError && /^bad (response|upgrade)$/.test(error.message)) {
    return 'unexpected interim response (100 or 101)';
  }
  const code = codeOf(error);
  return textOf[code] ?? textOfFamily.find(([family]) => family.test(code))?.[1] ?? 'connection failed';
}

export function codeOf(error: unknown): string {
  const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return code ?? cause?.code ?? name;
}

const textOf: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ECONNABORTED: 'connection reset',
  ENOTFOUND: 'host name not found',
  EHOSTUNREACH: 'host unreachable',
  EHOSTDOWN: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENETDOWN: 'network unreachable',
  EADDRNOTAVAIL: 'network unreachable',
  ETIMEDOUT: 'could not connect in time',
  UND_ERR_CONNECT_TIMEOUT: 'could not connect in time',
  UND_ERR_HEADERS_TIMEOUT: 'timed out',
  UND_ERR_BODY_TIMEOUT: 'timed out',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_HEADERS_OVERFLOW: 'headers too long',
  ERR_ADDRESS_REFUSED: 'address not allowed',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the port does not speak TLS',
  CERT_HAS_EXPIRED: 'certificate expired',
  CERT_NOT_YET_VALID: 'certificate is not valid yet',
  CERT_REVOKED: 'certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate issuer is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate issuer is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate issuer is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate chain is incomplete',
};

const textOfFamily: [RegExp, string][] = [
  [/CERT/, 'certificate is not valid'],
  [/^(ERR_SSL_|ERR_TLS_|EPROTO$)/, 'TLS handshake failed'],
];
