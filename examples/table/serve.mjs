/**
 * Serves the page and the modules of the client, and forwards all other requests to the server. The page and the API
 * then have the same origin, which session cookies and CSRF protection require.
 *
 *     LEDGERPLANE_SERVER=http://127.0.0.1:8090 PORT=8091 node examples/table/serve.mjs
 */
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const { LEDGERPLANE_SERVER: server = 'http://127.0.0.1:8090', PORT: port = '8091' } = process.env;
const page = import.meta.dirname;
/** The parent of the client's folder, because the client's modules also import modules from other folders. */
const modules = resolve(dirname(fileURLToPath(import.meta.resolve('ledgerplane/client'))), '..');
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript' };
const files = { '/': 'index.html', '/table.mjs': 'table.mjs' };

const proxy = createServer((req, res) => {
  const { pathname } = new URL(req.url, 'http://localhost');
  const file = fileAt(pathname);
  if (file === undefined) passOn(req, res);
  else send(file, res);
});
proxy.listen(Number(port), '127.0.0.1', () => {
  console.log(`open http://127.0.0.1:${proxy.address().port}/`);
});

function fileAt(pathname) {
  if (Object.hasOwn(files, pathname)) return join(page, files[pathname]);
  const path = resolve(modules, pathname.slice('/ledgerplane/'.length));
  const isModule = pathname.startsWith('/ledgerplane/') && path.startsWith(modules + sep) && extname(path) === '.js';
  return isModule ? path : undefined;
}

async function send(file, res) {
  try {
    const bytes = await readFile(file);
    res.setHeader('content-type', types[extname(file)]);
    res.setHeader('content-security-policy', "default-src 'self'; style-src 'self' 'unsafe-inline'");
    res.end(bytes);
  } catch {
    res.writeHead(404).end();
  }
}

/** Forwards a request with the headers of the browser, because the server compares `Host` with the page's origin. */
function passOn(req, res) {
  const onward = request(new URL(req.url, server), { method: req.method, headers: req.headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    res.flushHeaders();
    answer.pipe(res);
    res.once('close', () => answer.destroy());
  });
  onward.on('error', () => {
    if (res.headersSent) res.destroy();
    else res.writeHead(503, { 'retry-after': '1' }).end();
  });
  req.pipe(onward);
}
