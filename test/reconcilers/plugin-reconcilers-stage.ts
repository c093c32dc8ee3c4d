import type { CausingEvent } from '../../src/command/event.ts';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { ReconcileSlots } from '../../reconcilers/reconcile-slots.ts';
import type { PluginStep } from '../../reconcilers/plugins/plugin-reconciler.ts';
import { PluginReconcilers } from '../../reconcilers/plugins/plugin-reconcilers.ts';
import { CodeFolders } from '../../src/plugin/errors/error-attribution.ts';
import type { ReconcileRequest } from '../../src/plugin/api/public/reconciler.ts';
import { asPluginObject } from '../../src/plugin/objects/load-object.ts';
import type { Client, PluginLogger, PluginObject, TypeName } from '../../src/plugin/api/plugin.ts';
import type { MountedReconciler } from '../../src/plugin/api/reconciler-mounts.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { MemoryObjects, WidgetWriter } from '../support/memory/memory-objects.ts';
import { widgetType } from '../support/watched-type.ts';
import { Lead, turns } from './controller-stage.ts';

export type Line = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** A plugin's code may return anything. `names`: watches the objects of the other type. */
export type Mounted = {
  readonly reconcile: (request: ReconcileRequest) => unknown;
  readonly names?: (object: PluginObject) => unknown;
  readonly plural?: 'widgets' | 'gadgets';
};

type Patch = { readonly type: TypeName; readonly name: string; readonly patch: unknown };

export function typeOf(plural: string): MountedReconciler['type'] {
  return { group: 'example.com', version: 'v1', plural };
}

/** Reconcilers of one plugin over widgets, and over gadgets that they may watch. */
export class PluginReconcilersStage {
  readonly clock = new FakeClock();
  readonly lead = new Lead();
  readonly lines: Line[] = [];
  readonly reports: string[] = [];
  readonly reconcilers: PluginReconcilers;
  readonly suspects = new CodeFolders();
  /** Whether what a step was given may still be used, in the order of the steps. */
  readonly over: (() => boolean)[] = [];
  /** The event that each step follows, likewise. */
  readonly causes: (CausingEvent | undefined)[] = [];
  readonly #objects: MemoryObjects;
  readonly #widgets: WidgetWriter;
  readonly #gadgets: WidgetWriter;

  constructor() {
    this.suspects.add({ name: 'shop', folder: '/plugins/shop', bundled: false });
    const log = new MemoryLog();
    this.#objects = new MemoryObjects(log, this.clock, [widgetType(), widgetType('gadgets')]);
    this.#widgets = new WidgetWriter(log);
    this.#gadgets = new WidgetWriter(log, 'gadgets');
    this.reconcilers = new PluginReconcilers({
      changes: this.#objects,
      reader: this.#objects,
      bound: new ReconcileSlots(this.clock),
      leadership: this.lead,
      clock: this.clock,
      loggerOf: () => recorder(this.lines),
      parse: asPluginObject,
      placeOf: (plugin, stack) => this.suspects.placeOf(plugin, stack),
      clientOf: (_plugin, step) => {
        this.over.push(step.isOver);
        this.causes.push(step.causedBy);
        return { patch: async (type, name, patch) => this.#patch({ type, name, patch }, step) } as Client;
      },
      uuid: randomUUID,
    });
    this.reconcilers.subscribe((plugin) => {
      this.reports.push(plugin);
    });
  }

  async mount(reconcile: Mounted['reconcile'], names?: Mounted['names']): Promise<void> {
    await this.mountAll({ widgets: { reconcile, ...(names === undefined ? {} : { names }) } });
  }

  /** Mounts reconcilers of widgets by name. */
  async mountAll(mounted: Readonly<Record<string, Mounted>>): Promise<void> {
    this.reconcilers.mount(
      'shop',
      Object.entries(mounted).map(([name, { reconcile, names, plural = 'widgets' }]) => ({
        name,
        type: typeOf(plural),
        concurrency: 4,
        reconcile: reconcile as MountedReconciler['reconcile'],
        watches:
          names === undefined
            ? []
            : [
                {
                  type: typeOf(plural === 'widgets' ? 'gadgets' : 'widgets'),
                  names: names as (object: PluginObject) => readonly string[],
                },
              ],
      })),
    );
    await turns(8);
  }

  async widget(name: string, text = ''): Promise<void> {
    await this.#widgets.write(name, { text });
    await this.#fold();
  }

  async gadget(name: string, text: string): Promise<void> {
    await this.#gadgets.write(name, { text });
    await this.#fold();
  }

  async pass(ms: number, stepMs = ms): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - passed));
      await turns(8);
    }
  }

  get messages(): readonly string[] {
    return this.reconcilers.health('shop').map(({ message }) => message);
  }

  get conditions(): readonly string[] {
    return this.reconcilers.health('shop').map(({ type }) => type);
  }

  /** Writes `spec.text`, as the client of a step does. */
  async #patch({ type, name, patch }: Patch, { causedBy, requestId }: PluginStep): Promise<PluginObject> {
    const id = requestId();
    const { text } = (patch as { readonly spec: { readonly text: string } }).spec;
    const writer = type.plural === 'gadgets' ? this.#gadgets : this.#widgets;
    await writer.write(name, { text }, { requestId: id, correlationId: causedBy?.correlationId ?? id });
    await this.#objects.fold();
    return {} as PluginObject;
  }

  async #fold(): Promise<void> {
    await this.#objects.fold();
    await turns(8);
    await nextTurn();
  }
}

function recorder(lines: Line[]): PluginLogger {
  const note =
    (level: Line['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      lines.push({ level, message, fields });
    };
  return { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
}
