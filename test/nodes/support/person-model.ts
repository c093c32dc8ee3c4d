import { basic } from '../../support/ask.ts';
import { core } from '../../support/server/administration.ts';
import type { AlternatingClient, Reply, Request } from './alternating-client.ts';
import type { NodeProcess } from './node-process.ts';
import { widgetsPath, wrong } from './widget-model.ts';

const own = '/apis/uc.api.svc.run/v1alpha1';

type Session = { readonly cookie: string; readonly csrf: string };

/**
 * The life of one user, one step at a time, each on the next node: created here, logged in there. Sessions and tokens
 * are valid everywhere at once; a change is effective once it is folded, so a node first reads at the change's
 * position.
 */
export class PersonModel {
  readonly #client: AlternatingClient;
  readonly #name: string;
  readonly #steps: readonly (() => Promise<void>)[];
  #step = 0;
  #password = '';
  #passwords = 0;
  #session: Session = { cookie: '', csrf: '' };
  #token = '';
  #bindings = 0;
  /** Of the last write that changes what the others may. */
  #position = '0';

  constructor(client: AlternatingClient, name: string) {
    this.#client = client;
    this.#name = name;
    this.#steps = [
      () => this.#bind(),
      () => this.#expectRead(200),
      () => this.#logIn(),
      () => this.#useSession(200),
      () => this.#makeToken(),
      () => this.#useToken(200),
      () => this.#changePassword(),
      () => this.#useSession(401),
      () => this.#logIn(),
      () => this.#logOut(),
      () => this.#disable(true),
      () => this.#useToken(401),
      () => this.#disable(false),
      () => this.#expectRead(200),
      () => this.#unbind(),
      () => this.#expectRead(403),
    ];
  }

  /** How often it went through all of them. */
  get rounds(): number {
    return Math.floor(this.#step / this.#steps.length);
  }

  async step(): Promise<void> {
    if (this.#passwords === 0) {
      this.#drawPassword();
      await this.#write(
        {
          method: 'POST',
          path: core('users'),
          body: { metadata: { name: this.#name }, spec: { password: this.#password } },
        },
        [201],
      );
      return;
    }
    await this.#steps[this.#step % this.#steps.length]!();
    this.#step += 1;
  }

  async #bind(): Promise<void> {
    this.#bindings += 1;
    await this.#write(
      {
        method: 'POST',
        path: core('rolebindings'),
        body: {
          metadata: { name: this.#binding },
          roleRef: { kind: 'Role', name: 'widget-reader' },
          subjects: [{ kind: 'User', name: this.#name }],
        },
      },
      [201],
    );
  }

  async #unbind(): Promise<void> {
    await this.#write({ method: 'DELETE', path: core('rolebindings', this.#binding) }, [200]);
  }

  async #changePassword(): Promise<void> {
    const before = this.#password;
    this.#drawPassword();
    await this.#write(
      { method: 'PATCH', path: core('users', this.#name), body: { spec: { password: this.#password } } },
      [200],
    );
    const node = await this.#informed();
    await this.#expect(node, 401, this.#basic(before));
    await this.#expect(node, 200, this.#basic());
  }

  async #disable(disabled: boolean): Promise<void> {
    await this.#write({ method: 'PATCH', path: core('users', this.#name), body: { spec: { disabled } } }, [200]);
    await this.#expect(await this.#informed(), disabled ? 401 : 200, this.#basic());
  }

  /** By password, from a node that knows the change before. */
  async #expectRead(status: number): Promise<void> {
    const node = await this.#informed();
    const reply = await this.#client.send({ path: widgetsPath, headers: this.#basic() }, node);
    if (reply.status !== status) throw wrong(reply, `${this.#name} reading widgets must be ${status.toString()}`);
  }

  async #logIn(): Promise<void> {
    const node = await this.#informed();
    for (;;) {
      const reply = await this.#client.send(
        {
          method: 'POST',
          path: '/login',
          headers: { authorization: '' },
          body: { username: this.#name, password: this.#password },
        },
        node,
      );
      if (reply.status === 200) {
        this.#session = {
          cookie: reply.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '',
          csrf: reply.json.csrfToken,
        };
        return;
      }
      if (reply.status !== 503) throw wrong(reply, `${this.#name} logs in with the password`);
      await this.#client.refused();
    }
  }

  async #useSession(status: number): Promise<void> {
    if (status === 200) await this.#expectAtOnce(this.#client.next(), status, { cookie: this.#session.cookie });
    else await this.#expect(await this.#informed(), status, { cookie: this.#session.cookie });
  }

  async #logOut(): Promise<void> {
    const { cookie, csrf } = this.#session;
    const reply = await this.#client.write({
      method: 'POST',
      path: '/logout',
      headers: { authorization: '', cookie, 'x-csrf-token': csrf },
    });
    if (reply.status !== 204 && !(reply.status === 401 && reply.isRepeated))
      throw wrong(reply, `${this.#name} logs out`);
    // Its end is an event like any other, with a position that no answer returned.
    for (const node of this.#client.nodes) await this.#until(node, 401, { cookie });
  }

  async #makeToken(): Promise<void> {
    const { cookie, csrf } = this.#session;
    const reply = await this.#client.write({
      method: 'POST',
      path: `${own}/personalaccesstokens`,
      headers: { authorization: '', cookie, 'x-csrf-token': csrf },
      body: {
        metadata: { generateName: `${this.#name}-` },
        spec: { description: 'of the test', roles: ['widget-reader'], expiresAt: '2099-01-01T00:00:00Z' },
      },
    });
    if (reply.status !== 201) throw wrong(reply, `${this.#name} makes a token`);
    this.#token = reply.json.status.token;
  }

  async #useToken(status: number): Promise<void> {
    const headers = { authorization: `Bearer ${this.#token}` };
    if (status === 200) await this.#expectAtOnce(this.#client.next(), status, headers);
    else await this.#expect(await this.#informed(), status, headers);
  }

  async #write(request: Request, statuses: readonly number[]): Promise<void> {
    const reply = await this.#client.write(request);
    if (reply.status === 409 && request.method === 'POST' && reply.isRepeated) {
      const there = await this.#client.send(
        {
          path: core(
            request.path.split('/').at(-1)!,
            (request.body as { readonly metadata: { readonly name: string } }).metadata.name,
          ),
        },
        reply.node,
      );
      this.#record(there);
      return;
    }
    if (reply.status === 404 && request.method === 'DELETE' && reply.isRepeated) return;
    if (!statuses.includes(reply.status))
      throw wrong(reply, `${request.method ?? ''} ${request.path} for ${this.#name}`);
    this.#record(reply);
  }

  #record({ json }: Reply): void {
    this.#position = json.metadata.resourceVersion;
  }

  /** The next node, once it knows the last change. */
  async #informed(): Promise<NodeProcess> {
    const node = this.#client.next();
    await this.#client.read({ path: `${core('users', this.#name)}?resourceVersion=${this.#position}` }, node);
    return node;
  }

  /** Before it refuses a node asks the log whether it missed something; without a log it cannot refuse. */
  async #expect(node: NodeProcess, status: number, headers: Readonly<Record<string, string>>): Promise<void> {
    const reply =
      status === 200
        ? await this.#client.send(this.#asking(headers), node)
        : await this.#client.read({ ...this.#asking(headers), credentialIsNew: true }, node);
    if (reply.status !== status)
      throw wrong(reply, `${this.#name} must be answered ${status.toString()} with ${Object.keys(headers).join()}`);
  }

  /** Made on one node and shown to another, with nothing between. */
  async #expectAtOnce(node: NodeProcess, status: number, headers: Readonly<Record<string, string>>): Promise<void> {
    const reply = await this.#client.read({ ...this.#asking(headers), credentialIsNew: true }, node);
    if (reply.status !== status)
      throw wrong(
        reply,
        `${this.#name} must be answered ${status.toString()} at once with ${Object.keys(headers).join()}`,
      );
  }

  async #until(node: NodeProcess, status: number, headers: Readonly<Record<string, string>>): Promise<void> {
    for (;;) {
      const reply = await this.#client.send({ ...this.#asking(headers), credentialIsNew: true }, node);
      if (reply.status === status) return;
      if (reply.status !== 200 && reply.status !== 503)
        throw wrong(reply, `${this.#name} comes to be answered ${status.toString()}`);
      await this.#client.refused();
    }
  }

  #asking(headers: Readonly<Record<string, string>>): Request {
    return { path: `${own}/users/-`, headers: { authorization: '', ...headers } };
  }

  #basic(password = this.#password): Readonly<Record<string, string>> {
    return { authorization: basic(this.#name, password) };
  }

  get #binding(): string {
    return `${this.#name}-reads-${this.#bindings.toString()}`;
  }

  #drawPassword(): void {
    this.#passwords += 1;
    this.#password = `password ${this.#passwords.toString()} of ${this.#name}`;
  }
}
