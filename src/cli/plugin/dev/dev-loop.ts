import type { Environment } from '../../../config/environment.ts';
import { compileLines } from './compile-lines.ts';
import { runStep, type DevStep, type ShellCommand, type StepResult } from './dev-step.ts';

export type DevLoopOptions = {
  /** The command that compiles the plugin; undefined for a plugin that needs no compiler. */
  readonly compile: ShellCommand | undefined;
  /** Returns the command for the tests; undefined if there are no tests. Called after `onCompiled`. */
  readonly test: () => Promise<ShellCommand | undefined>;
  readonly variables: Environment;
  /** Called after each successful compilation. Without a compiler, called at the beginning and after each change. */
  readonly onCompiled: () => Promise<void>;
  readonly say: (text: string) => void;
};

const pathsShownMax = 4;

/** Compiles and tests a plugin at the beginning and after each change. A change ends the command that is running. */
export class DevLoop {
  readonly #options: DevLoopOptions;
  #isStopped = false;
  /** Whether the sources have changed since the present cycle began. */
  #isOutdated = false;
  #step: DevStep | undefined;
  #wake: () => void = () => undefined;

  constructor(options: DevLoopOptions) {
    this.#options = options;
  }

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isOutdated = false;
      await this.#cycle();
      if (!this.#isEnded())
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  changed(paths: readonly string[]): void {
    const more = paths.length - pathsShownMax;
    const shown = paths.slice(0, pathsShownMax).join(', ');
    this.#options.say(`changed: ${shown}${more > 0 ? ` and ${String(more)} more` : ''}`);
    this.#isOutdated = true;
    this.#interrupt();
  }

  stop(): void {
    this.#isStopped = true;
    this.#interrupt();
  }

  #interrupt(): void {
    this.#step?.stop();
    this.#wake();
  }

  #isEnded(): boolean {
    return this.#isStopped || this.#isOutdated;
  }

  async #cycle(): Promise<void> {
    const { compile, test, onCompiled, say } = this.#options;
    if (compile !== undefined) {
      const compiled = await this.#run(compile);
      if (this.#isEnded()) return;
      say(compiled.isOk ? 'compile: ok' : `compile: failed\n${indented(compileLines(compiled.printed))}`);
      if (!compiled.isOk) return;
    }
    await onCompiled();
    const tests = await test();
    if (this.#isEnded()) return;
    if (tests === undefined) {
      say('test: there are no tests');
      return;
    }
    const tested = await this.#run(tests);
    if (!this.#isEnded())
      say(tested.isOk ? `test: ok${passedIn(tested.printed)}` : `test: failed\n${indented(tested.printed)}`);
  }

  async #run(command: ShellCommand): Promise<StepResult> {
    this.#step = runStep(command, this.#options.variables);
    try {
      return await this.#step.ended;
    } finally {
      this.#step = undefined;
    }
  }
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
}

/** Returns `, <count> passed`, according to the summary of Node's test runner; empty without a summary. */
function passedIn(printed: string): string {
  const count = /^\S* ?pass (\d+)$/mu.exec(printed)?.[1];
  return count === undefined ? '' : `, ${count} passed`;
}
