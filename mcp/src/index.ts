export { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from './create-http-handler.ts';
export { createMcpServer, type McpServerOptions } from './create-mcp-server.ts';
export { type StdioServer, serveStdio } from './serve-stdio.ts';
