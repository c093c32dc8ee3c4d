import { createServer } from 'node:http';

/** A server that uses only Node's HTTP, to show that the load generator is not the bottleneck. */
const body = Buffer.from('{"ok":true}');

const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('disconnect', () => {
  process.exit(0);
});
