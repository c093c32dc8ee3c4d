# The server, slim and not root. Everything it writes is under /data: the rest of its file system may be read-only.
#
#   docker build -t ledgerplane .
#   docker run --read-only -p 127.0.0.1:8090:8090 -v ledgerplane:/data ledgerplane

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
COPY projections projections
COPY reconcilers reconcilers
COPY plugins plugins
COPY console console
RUN node scripts/prepare.mjs

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8090 DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force && ln -s /app/dist/src/main.js /usr/local/bin/ledgerplane && mkdir -m 700 /data && chown node:node /data
COPY --from=build /app/dist/src dist/src
COPY --from=build /app/dist/projections dist/projections
COPY --from=build /app/dist/reconcilers dist/reconcilers
COPY --from=build /app/dist/plugins dist/plugins
COPY --from=build /app/dist/console dist/console
COPY roles roles
COPY templates templates
COPY LICENSE ./
USER node
VOLUME /data
EXPOSE 8090
# Ready only once its read models have caught up: a node that cannot serve yet gets no traffic.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process, so a signal to stop reaches it.
ENTRYPOINT ["node", "/app/dist/src/main.js"]
CMD ["serve"]
