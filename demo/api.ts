import { setTimeout as sleep } from 'node:timers/promises';

/** The HTTP API of a server, called as an administrator. Requests with a response that asks for a retry are retried. */
export type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

const attemptsMax = 10;

export class Api {
  readonly url: string;
  readonly authorization: string;

  constructor(url: string, password: string) {
    this.url = url;
    this.authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(this.url + path, {
        method,
        headers: {
          authorization: this.authorization,
          ...(body === undefined
            ? {}
            : { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const later = response.status === 429 || response.status === 503;
      if (!later || attempt === attemptsMax)
        return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
      await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
    }
  }

  /** Sends like `send`; throws with the server's message unless the status is one of `statuses`. */
  async expect(statuses: readonly number[], method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.send(method, path, body);
    if (!statuses.includes(answer.status))
      throw new Error(
        `${method} ${path} was answered ${answer.status.toString()}: ${JSON.stringify(answer.body).slice(0, 500)}`,
      );
    return answer;
  }
}
