import type { Schema } from '../../resource/schema/schema-check.ts';
import type { UniqueNames } from '../names.ts';
import type { MediaTypes } from '../type-operations.ts';

export type PlatformContext = {
  readonly domain: string;
  readonly media: MediaTypes;
  readonly ids: UniqueNames;
  /**
   * Returns the schema of a kind of the core group, such as `User`, or of a list, such as `PersonalAccessTokenList`.
   */
  readonly schemaOf: (kind: string) => Schema;
};
