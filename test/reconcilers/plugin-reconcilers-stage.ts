import type { CausingEvent } from '../../src/command/event.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { ReconcileSlots } from '../../reconcilers/reconcile-slots.ts';
import { PluginReconcilers } from '../../reconcilers/plugins/plugin-reconcilers.ts';
import { CodeFolders } from '../../src/plugin/errors/error-attribution.ts';
import type { ReconcileRequest } from '../../src/plugin/api/public/reconciler.ts';
import { asPluginObject } from '../../src/plugin/objects/load-object.ts';
import type { Client, PluginLogger, PluginObject } from '../../src/plugin/api/plugin.ts';
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
      clientOf: (_plugin, { isOver, causedBy }) => {
        this.over.push(isOver);
        this.causes.push(causedBy);
        return {} as Client;
      },
    });
    this.reconcilers.subscribe((plugin) => {
      this.reports.push(plugin);
    });
  }

  /** What plugins' code answers is anything. */
  async mount(
    reconcile: (request: ReconcileRequest) => unknown,
    names?: (object: PluginObject) => unknown,
  ): Promise<void> {
    const type = (plural: string): MountedReconciler['type'] => ({ group: 'example.com', version: 'v1', plural });
    this.reconcilers.mount('shop', [
      {
        name: 'widgets',
        type: type('widgets'),
        concurrency: 4,
        reconcile: reconcile as MountedReconciler['reconcile'],
        watches:
          names === undefined
            ? []
            : [{ type: type('gadgets'), names: names as (object: PluginObject) => readonly string[] }],
      },
    ]);
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
