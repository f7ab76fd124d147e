# One image for every role: `serve` is the API, the worker or both, by SIMPLANE_ROLE; the operator's commands are beside it.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci && npm run build && npm prune --omit=dev

FROM node:22-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 SIMPLANE_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/contract/package.json ./contract/
COPY --from=build /app/contract/dist ./contract/dist
COPY --from=build /app/sdk/package.json ./sdk/
COPY --from=build /app/sdk/dist ./sdk/dist
COPY --from=build /app/mcp/package.json ./mcp/
COPY --from=build /app/mcp/dist ./mcp/dist
COPY --from=build /app/server/package.json ./server/
COPY --from=build /app/server/bin ./server/bin
COPY --from=build /app/server/migrations ./server/migrations
COPY --from=build /app/server/dist ./server/dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "server/bin/simplane-server.js"]
CMD ["serve"]
