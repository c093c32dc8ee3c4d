import { computed, readonly, shallowRef, watch, type ComputedRef, type Ref } from 'vue';

/**
 * `unknown`: the page has not asked yet. `ended`: the session of this page's user has ended while the page was open, so
 * the page offers to log in again and keeps what is on it.
 */
export type SessionStatus = 'unknown' | 'visitor' | 'user' | 'ended';

export type Account = {
  readonly username: string;
  readonly displayName: string;
  /** Whether the server has a User object; users of an identity provider have none. */
  readonly isLocal: boolean;
};

/** The place of the token against cross-site requests, shared by the tabs. On its own, it is no credential. */
const csrfKey = 'ledgerplane.csrf';

/** The user of this page. One instance serves the whole page. */
export class Session {
  readonly #status = shallowRef<SessionStatus>('unknown');
  readonly #account = shallowRef<Account | undefined>();

  get status(): Readonly<Ref<SessionStatus>> {
    return readonly(this.#status);
  }

  get account(): Readonly<Ref<Account | undefined>> {
    return readonly(this.#account);
  }

  readonly username: ComputedRef<string> = computed(() => this.#account.value?.username ?? '');

  /** Resolves when the server has said whether this page has a user. */
  async known(): Promise<void> {
    await until(this.#status, (status) => status !== 'unknown');
  }

  /** The token from the last log-in in this browser; absent after a log-in elsewhere. */
  get csrfToken(): string | undefined {
    return localStorage.getItem(csrfKey) ?? undefined;
  }

  keepCsrfToken(token: string): void {
    localStorage.setItem(csrfKey, token);
  }

  begin(account: Account): void {
    this.#account.value = account;
    this.#status.value = 'user';
  }

  /** Call this when the server refuses the credentials of a request. */
  refused(): void {
    this.#status.value = this.#account.value === undefined ? 'visitor' : 'ended';
  }

  /** Ends the session on purpose. */
  end(): void {
    localStorage.removeItem(csrfKey);
    this.#account.value = undefined;
    this.#status.value = 'visitor';
  }
}

/** Resolves when the value meets the condition. */
async function until<T>(value: Readonly<Ref<T>>, isMet: (value: T) => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = watch(
      value,
      (present) => {
        if (!isMet(present)) return;
        resolve();
        queueMicrotask(() => {
          stop();
        });
      },
      { immediate: true, flush: 'sync' },
    );
  });
}
