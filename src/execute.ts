import type { Command, WriteContext, WriteOutcome } from './command/command.ts';
import type { ResourceType } from './resource/resource-type.ts';

/** The one door for writes: HTTP, plugins and reconcilers alike. */
export type Execute = (type: ResourceType, command: Command, context: WriteContext) => Promise<WriteOutcome>;
