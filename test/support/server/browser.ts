import { ask, type Answered } from '../ask.ts';

/** A browser with the cookies of one host. It follows no redirect on its own. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** Navigates to a path or URL of the server. */
  async visit(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    const { origin, pathname, search } = new URL(url);
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answered = await ask(origin, pathname + search, {
      headers: {
        accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
        ...(cookie === '' ? {} : { cookie }),
        ...headers,
      },
    });
    for (const set of answered.headers['set-cookie'] ?? []) this.#take(set);
    return answered;
  }

  /** Names of the cookies, oldest first. */
  names(): readonly string[] {
    return [...this.#cookies.keys()];
  }

  get(name: string): string | undefined {
    return this.#cookies.get(name);
  }

  set(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  /** Takes another host's cookies for this one's, as for a proxy in front of several nodes. */
  copy(): Browser {
    const copy = new Browser();
    for (const [name, value] of this.#cookies) copy.set(name, value);
    return copy;
  }

  #take(set: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(set) ?? [];
    if (set.includes('Max-Age=0;')) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

export function locationOf({ headers }: Answered): string {
  return headers.location ?? '';
}
