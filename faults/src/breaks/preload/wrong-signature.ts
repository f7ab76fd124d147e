// Signs with a different key than the endpoint's.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const { createHmac } = crypto;

crypto.createHmac = (algorithm, key, options) => createHmac(algorithm, `not ${String(key)}`, options);
syncBuiltinESMExports();
