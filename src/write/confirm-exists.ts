import type { WriteContext, WriteOutcome } from '../command/command.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Execute } from './execute.ts';

/**
 * Reads from the log whether an object exists that this node has not folded, because another node may have just created
 * the object. Resolves when this node has folded the object, or with the refusal for a missing object. Appends nothing.
 */
export async function confirmExists(
  execute: Execute,
  { type, name }: { readonly type: ResourceType; readonly name: string },
  context: WriteContext,
): Promise<WriteOutcome> {
  return execute(type, { type: 'find', name }, { ...context, dryRun: true });
}
