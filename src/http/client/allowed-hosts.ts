import type { IncomingMessage } from 'node:http';

/** The paths of probes. Probes address a node by its IP address. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);

/**
 * The host names that requests may name, each with any port or with one port. Without entries, every name is allowed.
 */
export class AllowedHosts {
  readonly #hosts: ReadonlySet<string>;

  constructor(hosts: readonly string[]) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
  }

  /**
   * Returns whether the Host header, and a request target in absolute form, name allowed hosts. A probe may name any
   * host.
   */
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
