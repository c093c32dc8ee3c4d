import type { Answer } from '../answer.ts';
import { parseAccept } from '../body/accept-header.ts';
import type { Exchange } from '../exchange.ts';
import { problems, type Problem } from '../problem.ts';

/**
 * Whether the client prefers a page to a problem document. A browser sends `text/html` in `Accept` when it navigates.
 */
export function wantsPage({ req }: Exchange): boolean {
  return parseAccept(req.headers.accept).some(({ type }) => type === 'text/html');
}

/**
 * Returns a refusal as a page without scripts and styles. `again` is the relative URL of the log-in, so that a proxy
 * can serve the page below a path prefix. If `again` is undefined, the page has no link.
 */
export function pageOfProblem({ requestId }: Exchange, refused: Problem, again: string | undefined): Answer {
  const { status, title } = problems[refused.reason];
  const { retryAfterSeconds, headers = [] } = refused;
  const link = again === undefined ? '' : `      <p><a href="${escaped(again)}">Log in again</a></p>\n`;
  const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Log-in failed</title>
  </head>
  <body>
    <main>
      <h1>Log-in failed</h1>
      <p>${escaped(title)}: ${escaped(refused.detail)}.</p>
${link}      <p>Request ${escaped(requestId)}</p>
    </main>
  </body>
</html>
`;
  return {
    kind: 'bytes',
    status,
    bytes: Buffer.from(page),
    contentType: 'text/html; charset=utf-8',
    headers: [
      ...headers,
      ...(retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]),
      'Referrer-Policy',
      'no-referrer',
    ],
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => `&#${String(character.charCodeAt(0))};`);
}
