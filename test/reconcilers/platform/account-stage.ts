import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { Bindings } from '../../../reconcilers/platform/bindings.ts';
import { Claims } from '../../../reconcilers/platform/unique-claims.ts';
import { Collector } from '../../../reconcilers/platform/collector.ts';
import { RoleHealth } from '../../../reconcilers/platform/role-health.ts';
import { Tokens } from '../../../reconcilers/platform/tokens.ts';
import { bindingsFinalizer } from '../../../src/auth/types/user-type.ts';
import { claimedValueOf, claimStream, reconcileClaim } from '../../../src/write/unique/unique-claims.ts';
import type { Command } from '../../../src/command/command.ts';
import { eventSchema, type EventMetadata } from '../../../src/command/event.ts';
import type { Execute } from '../../../src/write/execute.ts';
import type { EventLog } from '../../../src/log/log.ts';
import type { JsonObject } from '../../../src/resource/object/object.ts';
import { Access, platform } from '../../support/access.ts';
import { domain } from '../../support/given.ts';
import { idOf } from '../../support/id-of.ts';
import { altered } from '../../support/writing.ts';
import { Lead } from '../controller-stage.ts';

export type Part = 'bindings' | 'tokens' | 'role-health' | 'claims' | 'collector';

type Reconciler = { open(): void; idle(): Promise<void>; stop(): Promise<void> };

/** How a node comes to its end: at which of its writes, and whether that one is still made. */
export type End = { readonly atWrite: number; readonly isMade: boolean };

/** One node that believes to lead: its reconcilers, and all they write. */
export class Leader {
  readonly lead = new Lead();
  /** Writes that were begun. */
  writes = 0;
  /** Each write waits for it: a step that was decided meanwhile is decided on a stale read. */
  before: (what: Command | 'append') => Promise<void> = () => Promise.resolve();
  readonly reconcilers: Reconciler[] = [];
  readonly died: Promise<void>;
  readonly #end: End | undefined;
  #reportDead: () => void = () => undefined;
  isDead = false;

  constructor(end: End | undefined) {
    this.#end = end;
    this.died = new Promise((resolve) => {
      this.#reportDead = resolve;
    });
  }

  /** A node that has died neither writes nor learns what came of it. */
  async write<T>(what: Command | 'append', send: () => Promise<T>): Promise<T> {
    this.writes += 1;
    await this.before(what);
    const isLast = this.#end?.atWrite === this.writes;
    if (this.isDead || (isLast && !this.#end.isMade)) return this.#die();
    const outcome = await send();
    return isLast ? this.#die() : outcome;
  }

  async #die(): Promise<never> {
    this.isDead = true;
    this.#reportDead();
    this.lead.give(false);
    return new Promise(() => undefined);
  }
}

/**
 * The reconcilers of accounts and claims, over the real write door with its rules, with as many leaders as a test
 * wants.
 */
export class AccountStage {
  readonly access: Access;
  readonly errors: unknown[] = [];
  #leaders: Leader[] = [];
  #ids = 0;

  private constructor(access: Access) {
    this.access = access;
  }

  static async open(t: Test): Promise<AccountStage> {
    // A password's hash takes a tenth of a second: none is looked at here.
    const stage = new AccountStage(
      await Access.open(t, {
        secrets: () => ({
          keep: async (withheld) =>
            Promise.resolve({
              ok: true,
              kept: { revision: 0, ...(withheld.kind === 'token' ? { token: 'pat_shown' } : {}) },
            }),
        }),
      }),
    );
    t.teardown(async () => stage.stopAll());
    return stage;
  }

  lead(parts: readonly Part[], end?: End): Leader {
    const leader = new Leader(end);
    const {
      access: { models, clock, permissions, log, execute },
    } = this;
    const type = (plural: string) => this.access.type(plural);
    const given = {
      changes: models,
      reader: models,
      bound: new ReconcileSlots(clock),
      leadership: leader.lead,
      clock,
      uuid: () => this.#id(),
      onError: (error: unknown): void => {
        if (!leader.isDead) this.errors.push(error);
      },
      execute: this.#executeOf(leader, execute),
    };
    const all = [...this.access.types.values()];
    const types = { types: (key: string) => all.find((one) => one.key === key), serving: () => all };
    const made: Record<Part, () => Reconciler> = {
      bindings: () =>
        new Bindings({
          ...given,
          users: type('users'),
          roleBindings: type('rolebindings'),
          log,
          finalizer: bindingsFinalizer(domain),
        }),
      tokens: () => new Tokens({ ...given, tokens: type('personalaccesstokens'), permissions }),
      'role-health': () => new RoleHealth({ ...given, roles: type('roles'), domain }),
      collector: () => new Collector({ ...given, ...types }),
      claims: () =>
        new Claims({
          ...given,
          ...types,
          log,
          streamOf: claimStream,
          settle: async (stream, { fenceOf }) => this.#settleClaim(leader, { stream, fenceOf }),
        }),
    };
    leader.reconcilers.push(...parts.map((part) => made[part]()));
    this.#leaders.push(leader);
    for (const reconciler of leader.reconcilers) reconciler.open();
    return leader;
  }

  async stopAll(): Promise<void> {
    const leaders = this.#leaders.splice(0);
    for (const { lead } of leaders) lead.give(false);
    await this.access.settle(
      Promise.all(leaders.flatMap(({ reconcilers }) => reconcilers.map(async (reconciler) => reconciler.stop()))),
    );
  }

  /** Until every live node waits. */
  async settle(): Promise<void> {
    const { models } = this.access;
    let position = -1n;
    while (position !== models.position()) {
      position = models.position();
      await this.access.settle(
        Promise.all(
          this.#leaders.map(async ({ reconcilers, died }) =>
            Promise.race([died, Promise.all(reconcilers.map(async (reconciler) => reconciler.idle()))]),
          ),
        ),
      );
      // Keys that are due again at once wait for the clock.
      for (let turn = 0; turn < 8; turn += 1) await nextTurn();
      this.access.clock.advance(1);
      for (let turn = 0; turn < 8; turn += 1) await nextTurn();
    }
  }

  /** Lets time pass, and whatever is due in it happen. */
  async pass(ms: number, stepMs = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.access.clock.advance(stepMs);
      await this.settle();
    }
  }

  async given(...objects: readonly JsonObject[]): Promise<void> {
    await this.access.given(...objects);
  }

  as(subject = platform) {
    return this.access.as(subject);
  }

  /** The events of one object, by type. */
  async history(plural: string, name: string): Promise<readonly string[]> {
    const stream = `object:${this.access.type(plural).key}/${name}`;
    return (await this.access.recorded()).filter((recorded) => recorded.stream === stream).map(({ type }) => type);
  }

  #executeOf(leader: Leader, execute: Execute): Execute {
    return async (type, command, context) => leader.write(command, async () => execute(type, command, context));
  }

  async #settleClaim(
    leader: Leader,
    { stream, fenceOf }: { readonly stream: string; readonly fenceOf: number | undefined },
  ) {
    const { clock } = this.access;
    const log: EventLog = altered(this.access.log, {
      append: async (...call) => leader.write('append', async () => this.access.log.append(...call)),
    });
    const metadata = (): EventMetadata => ({
      actor: 'platform:claims',
      verb: 'update',
      requestId: 'r',
      time: new Date(clock.now()).toISOString(),
      schema: eventSchema,
      $correlationId: 'r',
    });
    return reconcileClaim(
      { log, clock, uuid: () => this.#id(), metadata },
      { stream: stream as never, value: claimedValueOf(stream)!.value, fenceOf: fenceOf as never },
    );
  }

  #id(): string {
    this.#ids += 1;
    return idOf(`stage ${String(this.#ids)}`);
  }
}
