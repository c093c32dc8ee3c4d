import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

import { adminAuthorization, type CallInit, type TestServer } from '../server/start-server.ts';

export type TlsAnswered = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: unknown };

/**
 * Calls a server with `TLS=auto` as the super administrator, over reused connections. Requests and responses are JSON.
 */
export class TlsCaller {
  readonly #url: string;
  readonly #agent: Agent;

  private constructor(url: string, ca: string) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, ca });
  }

  static async to(t: Test, { url, dataDir }: Pick<TestServer, 'url' | 'dataDir'>): Promise<TlsCaller> {
    const caller = new TlsCaller(url, await readFile(join(dataDir, 'tls', 'ca.crt'), 'utf8'));
    t.teardown(() => {
      caller.#agent.destroy();
    });
    return caller;
  }

  async call(path: string, { method = 'GET', body, headers = {} }: CallInit = {}): Promise<TlsAnswered> {
    return new Promise((resolve, reject) => {
      const sent = { authorization: adminAuthorization, 'content-type': 'application/json', ...headers };
      const req = request(`${this.#url}${path}`, { method, agent: this.#agent, headers: sent }, (res) => {
        text(res).then((answered) => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, body: JSON.parse(answered) as unknown });
        }, reject);
      });
      req.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
