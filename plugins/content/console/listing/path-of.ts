import type { TypeName } from 'ledgerplane/client';

export function pathOf({ group, version, plural }: TypeName): string {
  return `/apis/${group}/${version}/${plural}`;
}
