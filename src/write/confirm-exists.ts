import type { WriteContext, WriteOutcome } from '../command/command.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Execute } from './execute.ts';

/**
 * Asks the log whether an object exists that this node has not folded: another node may have just created it. Resolves
 * once this node has folded it, or with the refusal for a missing one. Appends nothing.
 */
export async function confirmExists(
  execute: Execute,
  { type, name }: { readonly type: ResourceType; readonly name: string },
  context: WriteContext,
): Promise<WriteOutcome> {
  return execute(type, { type: 'find', name }, { ...context, dryRun: true });
}
