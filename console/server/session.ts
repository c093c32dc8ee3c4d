import { computed, readonly, shallowRef, watch, type ComputedRef, type Ref } from 'vue';

/**
 * `unknown`: the page has no response yet. `ended`: the session ended while the page was open. The page then keeps its
 * content and offers to log in again.
 */
export type SessionStatus = 'unknown' | 'visitor' | 'user' | 'ended';

export type Account = {
  readonly username: string;
  readonly displayName: string;
  /** Whether the user has a User object. Users of the identity provider have none. */
  readonly isLocal: boolean;
};

/** The key of the CSRF token in the storage, which all tabs share. The token alone is not a credential. */
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

  /** Resolves when it is known whether this page has a user. */
  async known(): Promise<void> {
    await until(this.#status, (status) => status !== 'unknown');
  }

  /** The CSRF token of the last log-in in this browser; undefined if the log-in was elsewhere. */
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

  /** Ends the session after a log-out. */
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
