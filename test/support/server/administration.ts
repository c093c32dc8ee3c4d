import { ask, basic, type Answered, type Asked } from '../ask.ts';
import { adminAuthorization } from './start-server.ts';

export type Rule = Readonly<Record<string, readonly string[]>>;

export type RoleGiven = {
  readonly rules?: readonly Rule[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

export function passwordOf(name: string): string {
  return `the password of ${name}`;
}

export function as(name: string): Readonly<Record<string, string>> {
  return { authorization: basic(name, passwordOf(name)) };
}

/**
 * An administrator's preparations on a running server, before a test checks the rights of others. Each call throws if
 * it fails.
 */
export class Administration {
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, ...more }: Omit<Asked, 'method' | 'body'> = {},
  ): Promise<Answered> {
    const answered = await ask(this.#origin, path, {
      method,
      ...more,
      headers: {
        authorization: adminAuthorization,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answered.status >= 300) throw new Error(`${method} ${path}: ${String(answered.status)} ${answered.text}`);
    return answered;
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests match objects without their types
  async object(plural: string, name: string): Promise<Record<string, any>> {
    return JSON.parse((await this.call('GET', core(plural, name))).text) as Record<string, unknown>;
  }

  async user(name: string): Promise<void> {
    await this.call('POST', core('users'), { metadata: { name }, spec: { password: passwordOf(name) } });
  }

  async role(name: string, { rules = [], labels = {}, annotations = {} }: RoleGiven = {}): Promise<void> {
    await this.call('POST', core('roles'), { metadata: { name, labels, annotations: prefixed(annotations) }, rules });
  }

  async bind(name: string, role: string, ...users: readonly string[]): Promise<void> {
    await this.call('POST', core('rolebindings'), {
      metadata: { name },
      roleRef: { kind: 'Role', name: role },
      subjects: users.map((user) => ({ kind: 'User', name: user })),
    });
  }

  async merge(plural: string, name: string, document: object): Promise<void> {
    await this.call('PATCH', core(plural, name), document);
  }

  async remove(plural: string, name: string): Promise<void> {
    await this.call('DELETE', core(plural, name));
  }

  /** Removes the rules of all roles, so that only super administrators have rights until the test grants others. */
  async emptyAllRoles(): Promise<void> {
    const { items } = JSON.parse((await this.call('GET', core('roles'))).text) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    for (const {
      metadata: { name },
    } of items)
      if (name !== 'super-role') await this.merge('roles', name, { rules: [] });
  }
}

export function core(plural: string, name?: string): string {
  return `/api/v1alpha1/${plural}${name === undefined ? '' : `/${name}`}`;
}

export function prefixed(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [`rbac.authorization.svc.run/${key}`, value]),
  );
}
