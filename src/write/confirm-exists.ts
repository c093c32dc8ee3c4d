import type { WriteContext, WriteOutcome } from '../command/command.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { Execute } from './execute.ts';

/**
 * Reads from the log whether an object exists that this node has not folded, because another node may have created the
 * object. Succeeds when this node has folded the object. Refuses if the object is missing or the log is unavailable.
 */
export async function confirmExists(
  execute: Execute,
  { type, name }: { readonly type: ResourceType; readonly name: string },
  context: WriteContext,
): Promise<WriteOutcome> {
  return execute(type, { type: 'find', name }, { ...context, dryRun: true });
}
