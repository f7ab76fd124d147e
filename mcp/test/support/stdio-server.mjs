// `simplane mcp` without the command line.
import { serveStdio } from '../../dist/index.js';

const { SIMPLANE_API_KEY: apiKey, SIMPLANE_BASE_URL: baseUrl } = process.env;
const server = serveStdio({ apiKey, baseUrl, maxRetries: 1 });
process.once('SIGTERM', () => void server.close());
