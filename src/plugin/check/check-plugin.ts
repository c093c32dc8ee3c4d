import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';

import type { Clock } from '../../base/clock.ts';
import { isList, isObject } from '../../base/guards.ts';
import { checkProcessMs } from '../../limits/plugins.ts';
import { fatalOf } from '../load/load-trial.ts';
import { forkModuleProcess } from '../load/module-process.ts';
import type { Platform } from './check-files.ts';
import { checkProcessUrl, type CheckStart } from './check-process.ts';
import type { PluginProblem } from './plugin-problem.ts';

/**
 * Returns the problems of a plugin's folder that can be found without a server. The module runs in a separate process,
 * so that a module that loops or exits does not end the check.
 */
export async function checkPlugin(path: string, platform: Platform, clock: Clock): Promise<readonly PluginProblem[]> {
  const real = await realpath(path);
  const start: CheckStart = { checkOf: { path: real, name: basename(real), bundled: false }, platform };
  const child = forkModuleProcess(checkProcessUrl, start);
  const problems: PluginProblem[] = [];
  child.on('message', (message) => {
    problems.push(...problemsIn(message));
  });
  const messages = { isBegin: isText('begins'), isEnd: isText('ended') };
  const fatal = await fatalOf(child, clock, { ...messages, startMs: checkProcessMs });
  if (fatal !== undefined) problems.push({ file: undefined, line: undefined, text: fatal.message });
  return problems;
}

function isText(text: string): (message: unknown) => boolean {
  return (message) => message === text;
}

/**
 * Returns the problems in a message. Other values are ignored, because the plugin's code in the process can send any
 * value.
 */
function problemsIn(message: unknown): readonly PluginProblem[] {
  const problems = isObject(message) ? message['problems'] : undefined;
  return isList(problems) ? problems.filter(isProblem) : [];
}

function isProblem(value: unknown): value is PluginProblem {
  return isObject(value) && typeof value['text'] === 'string';
}
