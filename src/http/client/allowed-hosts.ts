import type { IncomingMessage } from 'node:http';

/** Probes name a node by its address, which is no name to configure. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

/** The host names a server answers to, each for any port or for one; none given: every name. */
export class AllowedHosts {
  readonly #hosts: ReadonlySet<string>;

  constructor(hosts: readonly string[]) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /** Whether the request names an allowed host, in its Host header and in its target where that names one. */
  allows({ method, url = '/', headers: { host = '' } }: IncomingMessage): boolean {
    if (this.#hosts.size === 0) return true;
    if ((method === 'GET' || method === 'HEAD') && probes.has(url.split('?', 1)[0] ?? '')) return true;
    const inTarget = /^https?:\/\/([^/?#]*)/iu.exec(url)?.[1];
    return this.#has(host) && (inTarget === undefined || this.#has(inTarget));
  }

  #has(authority: string): boolean {
    const parts = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(?::(\d{1,5}))?$/u.exec(authority.toLowerCase());
    const [, name = '', port = '80'] = parts ?? [];
    return parts !== null && (this.#hosts.has(name) || this.#hosts.has(`${name}:${String(Number(port))}`));
  }
}
