import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

import { StartError } from '../base/start-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the process's variables, and the variables in `.env` in `folder`. The process's variables take precedence,
 * and empty variables are ignored.
 */
export function readEnvironment(folder: string, variables: Environment): Environment {
  return { ...withoutEmpty(readEnvFile(join(folder, '.env'))), ...withoutEmpty(variables) };
}

function readEnvFile(path: string): Environment {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new StartError(`${path} cannot be read: ${String(error)}`, { exitCode: 2, cause: error });
  }
  return { ...parseEnv(text) };
}

function withoutEmpty(variables: Environment): Environment {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''));
}
