import { openLog } from '../../../src/server/open-log.ts';
import type { OpenLog } from '../../../src/server/open-log.ts';
import type { EventLog, RecordedEvent, SubscribeOptions } from '../../../src/log/log.ts';

/** A log that can pause its subscribers: until `release`, the node runs and writes, but folds no events. */
export class StalledLog {
  #held: Promise<void> | undefined;
  #release: () => void = () => undefined;
  #holds: (options: SubscribeOptions) => boolean = () => true;

  readonly open: OpenLog = async (config, options) => {
    const opened = await openLog(config, options);
    return { ...opened, log: this.#wrap(opened.log) };
  };

  /** `holds`: the subscriptions that pause; all, if it is left out. */
  hold(holds: (options: SubscribeOptions) => boolean = () => true): void {
    this.#holds = holds;
    this.#held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#held = undefined;
    this.#release();
  }

  #wrap(log: EventLog): EventLog {
    return {
      append: (...call) => log.append(...call),
      readStream: (...call) => log.readStream(...call),
      readStreamBackward: (...call) => log.readStreamBackward(...call),
      readAllBackward: (options) => log.readAllBackward(options),
      readLast: (stream) => log.readLast(stream),
      readAll: (options) => log.readAll(options),
      subscribe: (options) => this.#subscribe(log, options),
      state: () => log.state(),
      head: () => log.head(),
      readAt: (position) => log.readAt(position),
      close: () => log.close(),
    };
  }

  async *#subscribe(log: EventLog, options: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
    for await (const batch of log.subscribe(options)) {
      if (this.#holds(options)) await this.#held;
      yield batch;
    }
  }
}
