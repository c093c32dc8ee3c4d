import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import type { Answer } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { isTagKnown } from '../resources/conditional-requests.ts';
import { viewerPage, viewerScript } from './viewer-page.ts';

/** A file of the viewer. Without `text`, the content is in the viewer's package. */
type Asset = {
  readonly type: string;
  readonly text?: string;
};

/** The served files by name. No other file of the viewer's package is served. */
const assets: ReadonlyMap<string, Asset> = new Map([
  ['', { type: 'text/html; charset=utf-8', text: viewerPage }],
  ['start.js', { type: 'text/javascript; charset=utf-8', text: viewerScript }],
  ['swagger-ui.css', { type: 'text/css; charset=utf-8' }],
  ['swagger-ui-bundle.js', { type: 'text/javascript; charset=utf-8' }],
  ['swagger-ui-standalone-preset.js', { type: 'text/javascript; charset=utf-8' }],
  ['favicon-32x32.png', { type: 'image/png' }],
]);

/** The content security policy. The viewer draws icons from data URLs. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Creates the routes for the viewer of the API documents: the page `/docs` and its files. */
export function docsRoutes(): readonly PlatformRoute[] {
  const loaded = new Map<string, Promise<Loaded>>();
  return [...assets].map(([name, asset]) => ({
    method: 'GET',
    path: name === '' ? '/docs' : `/docs/${name}`,
    route: async (_params, exchange) => {
      const known = loaded.get(name);
      const file = known ?? load(name, asset);
      if (known === undefined) loaded.set(name, file);
      try {
        return answerOf(exchange, await file);
      } catch (error) {
        // The next request reads the file again.
        loaded.delete(name);
        throw error;
      }
    },
  }));
}

type Loaded = {
  readonly bytes: Buffer;
  readonly type: string;
  readonly hash: string;
};

async function load(name: string, { type, text }: Asset): Promise<Loaded> {
  const bytes = text === undefined ? await readFile(join(packageFolder(), name)) : Buffer.from(text);
  return {
    bytes,
    type,
    hash: createHash('sha256').update(bytes).digest('hex'),
  };
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}

function answerOf({ req }: Exchange, { bytes, type, hash }: Loaded): Answer {
  const etag = `"${hash}"`;
  const headers = new Map([
    ['etag', etag],
    ['content-security-policy', policy],
    ['referrer-policy', 'no-referrer'],
  ]);
  if (isTagKnown(req, etag)) return { kind: 'custom', status: 304, bytes: undefined, headers };
  return {
    kind: 'custom',
    status: 200,
    bytes,
    headers: headers.set('content-type', type),
  };
}
