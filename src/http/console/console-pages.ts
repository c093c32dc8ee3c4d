import type { IncomingMessage } from 'node:http';

import type { WellFormedRequest } from '../access-refusal.ts';
import { refusal, type Answer } from '../answer.ts';
import { parseAccept } from '../body/accept-header.ts';
import { headerOf } from '../exchange.ts';
import { methodNotAllowed, problem } from '../problem.ts';
import { isTagKnown } from '../resources/conditional-requests.ts';
import { acceptsEncoding } from './accept-encoding.ts';
import { readConsoleFiles } from './console-files.ts';
import type { EncodedFile } from './encoded-file.ts';
import { frontEndPlace, type FrontEnds } from './front-ends.ts';
import type { KeptFiles } from './kept-files.ts';

/** The web console at `/console/`, and the redirects of browsers from `/` and `/uc/`. */
export type ConsolePages = {
  /**
   * Returns the response to a request for the console; undefined for any other request. Credentials in the request are
   * ignored: the files of the console are public, and the page must load without a valid session.
   */
  answer(req: IncomingMessage, info: WellFormedRequest): Answer | Promise<Answer> | undefined;
};

/**
 * The content security policy. The page loads scripts, styles and images only from this server, and sends requests only
 * to this server. Images may also be data URLs, for the icons in style sheets.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every response of the console. */
const safe = [
  ['content-security-policy', policy],
  ['referrer-policy', 'no-referrer'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
  ['cross-origin-opener-policy', 'same-origin'],
] as const;

const yearSeconds = 31_536_000;

/**
 * Creates the console's responses. `folder` is the absolute path of the built console. `frontEnds` contains the front
 * ends of the started plugins.
 */
export function createConsolePages(folder: string, frontEnds: FrontEnds): ConsolePages {
  const find = filesOf(folder, frontEnds.kept);
  return {
    answer: (req, { segments }) => {
      if (segments[0] !== 'console') return shortAddress(req, segments);
      const { method = 'GET', url = '' } = req;
      if (method !== 'GET' && method !== 'HEAD') return refusal(methodNotAllowed(method, ['GET', 'HEAD']));
      if (segments.length === 1 && !/^\/+console\//u.test(url)) return redirectTo('console/');
      const place = frontEndPlace(segments);
      return place === undefined
        ? page(req, segments.slice(1).join('/'), find)
        : foundFile(req, async (accepts) => frontEnds.find(place, accepts), 'no started plugin has this file');
    },
  };
}

type Accepts = (encoding: string) => boolean;
type FindFile = (name: string, accepts: Accepts) => Promise<EncodedFile | undefined>;

/** Returns the function that finds the files of the built console. The names of the files are read once. */
function filesOf(folder: string, kept: KeptFiles): FindFile {
  let reading: ReturnType<typeof readConsoleFiles> | undefined;
  return async (name, accepts) => {
    reading ??= readConsoleFiles(folder);
    const files = await reading.catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    // The console is not built yet, so the next request reads the names again.
    if (files.size === 0) reading = undefined;
    // No plugin has this name, so the key differs from the keys of plugins' files.
    return kept.find({ folder: '/console/', files, name, accepts, isHashed: name.startsWith('assets/') });
  };
}

/** Redirects a browser from `/` or an address below `/uc/`. Returns undefined for any other request. */
function shortAddress(req: IncomingMessage, segments: readonly string[]): Answer | undefined {
  const [first] = segments;
  if ((first !== undefined && first !== 'uc') || !prefersHtml(req)) return undefined;
  return redirectTo(first === undefined ? 'console/' : ownPage(req, segments));
}

/**
 * Returns a file. Any other path returns the start page, because only the page knows its routes. As an exception, a
 * missing file of the build is a 404: a script or style sheet must not be replaced by HTML.
 */
async function page(req: IncomingMessage, name: string, find: FindFile): Promise<Answer> {
  const found = await find(name, acceptedBy(req));
  if (found !== undefined) return fileAnswer(req, found);
  if (/^(?:assets|kit)\//u.test(name)) return refusal(problem('not-found', 'the console has no such file'));
  const missing = 'the console is not built: `npm run build` builds it';
  return foundFile(req, async (accepts) => find('index.html', accepts), missing);
}

async function foundFile(
  req: IncomingMessage,
  find: (accepts: Accepts) => Promise<EncodedFile | undefined>,
  missing: string,
): Promise<Answer> {
  const found = await find(acceptedBy(req));
  return found === undefined ? refusal(problem('not-found', missing)) : fileAnswer(req, found);
}

function acceptedBy(req: IncomingMessage): Accepts {
  const accepted = headerOf(req, 'accept-encoding');
  return (encoding) => acceptsEncoding(accepted, encoding);
}

function fileAnswer(req: IncomingMessage, { bytes, type, encoding, etag, isHashed }: EncodedFile): Answer {
  const headers = new Map<string, string>([
    ...safe,
    ['etag', etag],
    ['vary', 'Accept-Encoding'],
    ['cache-control', isHashed ? `public, max-age=${String(yearSeconds)}, immutable` : 'no-cache'],
  ]);
  if (isTagKnown(req, etag)) return { kind: 'custom', status: 304, bytes: undefined, headers };
  headers.set('content-type', type);
  if (encoding !== undefined) headers.set('content-encoding', encoding);
  return { kind: 'custom', status: 200, bytes, headers };
}

/**
 * Returns the address of a user's own page: `/console/uc/…` for the short address `/uc/…`. The result is relative to
 * the path of the request.
 */
function ownPage({ url = '' }: IncomingMessage, segments: readonly string[]): string {
  const [path = '', query] = url.split('?', 2);
  const depth = path.replaceAll(/\/+/gu, '/').split('/').length - 2;
  const inner = segments.map(encodeURIComponent).join('/');
  return `${'../'.repeat(depth)}console/${inner}${query === undefined ? '' : `?${query}`}`;
}

/** Redirects to a relative location, so that a proxy can serve the console below a path prefix. */
function redirectTo(location: string): Answer {
  const headers = new Map<string, string>([...safe, ['location', location], ['vary', 'Accept']]);
  return { kind: 'custom', status: 302, bytes: new Uint8Array(), headers };
}

/** Returns whether a browser opens a page: the header Accept then prefers HTML explicitly. */
function prefersHtml({ method, headers: { accept } }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && parseAccept(accept)[0]?.type === 'text/html';
}
