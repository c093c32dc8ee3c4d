import type { RemoteClient } from 'ledgerplane/client';

import { bindingsType, type Binding } from './access-objects.ts';

/** Binds a user to a role. */
export async function giveRole(client: RemoteClient, user: string, role: string): Promise<void> {
  const readable = `${user}-${role}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .slice(0, 100);
  await client.create(bindingsType, {
    metadata: { generateName: `${readable}-` },
    roleRef: { kind: 'Role', name: role },
    subjects: [{ kind: 'User', name: user }],
  });
}

/** Removes one user from a binding. The other users of the binding keep the role. */
export async function takeRole(client: RemoteClient, user: string, binding: Binding): Promise<void> {
  const { name, uid, resourceVersion } = binding.metadata;
  const subjects = binding.subjects.filter((subject) => subject.name !== user);
  const unchanged = { uid, resourceVersion };
  if (subjects.length === 0) await client.delete(bindingsType, name, unchanged);
  else await client.patch(bindingsType, name, { subjects }, unchanged);
}
