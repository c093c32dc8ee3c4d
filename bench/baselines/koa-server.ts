import Koa from 'koa';

/**
 * A minimal Koa server for comparison. The argument of the process is the kind of handler. The parent process sends the
 * fixed response as a message.
 */
export type KoaBaseline = 'fixed' | 'echo';

const app = new Koa();
let fixed = Buffer.alloc(0);

if (process.argv[2] === 'fixed') {
  app.use((context) => {
    context.type = 'application/json';
    context.body = fixed;
  });
} else {
  app.use(async (context) => {
    const chunks: Buffer[] = [];
    for await (const chunk of context.req) chunks.push(chunk as Buffer);
    context.status = context.method === 'POST' ? 201 : 200;
    context.body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as object;
  });
}

process.on('message', (message: { readonly bytes: Uint8Array }) => {
  fixed = Buffer.from(message.bytes);
});
process.on('disconnect', () => {
  process.exit(0);
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
server.keepAliveTimeout = 60_000;
