import { computed, type ComputedRef } from 'vue';

import { useServer } from '../../../server/use-server.ts';
import { annotationKey } from '../../../server/role-names.ts';
import { roleWith, rolesType, type Binding, type RoleMap } from '../access-objects.ts';
import { giveRole, takeRole } from '../bindings.ts';
import { ofUsers, useBindings } from '../use-access.ts';
import type { CheckAddress } from './check-address.ts';
import type { PreviewBody } from './preview.ts';

/** The proposed change of the roles of a user, or of the roles that a role includes. */
export type Proposal = {
  /** The names of the roles that the subject has now. */
  readonly present: ComputedRef<readonly string[]>;
  readonly isEmpty: ComputedRef<boolean>;
  readonly proposed: ComputedRef<PreviewBody['proposed']>;
  /** Adds a role, or cancels the addition of the role. */
  readonly add: (role: string) => void;
  /** Removes a role, or cancels the removal of the role. */
  readonly remove: (role: string) => void;
  readonly clear: () => void;
  /** Writes the proposal. */
  readonly apply: () => Promise<void>;
};

export function useProposal(address: CheckAddress, roles: () => RoleMap | undefined): Proposal {
  const { client, platform } = useServer();
  const { subject, added, removed, set } = address;
  const { bindings } = useBindings(() => (subject.value.kind === 'user' ? ofUsers(named(subject.value.name)) : ''));
  const role = computed(() => (subject.value.kind === 'role' ? roles()?.get(subject.value.name) : undefined));
  const present = computed((): readonly string[] =>
    subject.value.kind === 'role'
      ? (role.value?.dependencies ?? [])
      : [...new Set((bindings.value ?? []).map(({ roleRef }) => roleRef.name))],
  );
  const wanted = computed(() => [
    ...present.value.filter((name) => !removed.value.includes(name)),
    ...added.value.filter((name) => !present.value.includes(name)),
  ]);
  const isEmpty = computed(() => added.value.length === 0 && removed.value.length === 0);
  const toggle = (key: 'with' | 'without', names: readonly string[], name: string): void => {
    const next = names.includes(name) ? names.filter((each) => each !== name) : [...names, name];
    set({ [key]: next.join(',') });
  };
  const clear = (): void => {
    set({ with: undefined, without: undefined });
  };

  const applyToUser = async (user: string, bound: readonly Binding[]): Promise<void> => {
    for (const name of added.value) if (!present.value.includes(name)) await giveRole(client, user, name);
    for (const binding of bound)
      if (removed.value.includes(binding.roleRef.name)) await takeRole(client, user, binding);
  };
  const apply = async (): Promise<void> => {
    if (subject.value.kind === 'user') await applyToUser(subject.value.name, bindings.value ?? []);
    if (role.value !== undefined) {
      const { uid, resourceVersion } = role.value.object.metadata;
      const annotations = { [annotationKey(platform.domain, 'dependencies')]: JSON.stringify(wanted.value) };
      await client.patch(rolesType, role.value.name, { metadata: { annotations } }, { uid, resourceVersion });
    }
    clear();
  };
  return {
    present,
    isEmpty,
    proposed: computed(() => {
      if (isEmpty.value) return undefined;
      if (role.value !== undefined) return { roles: [roleWith(role.value, wanted.value, platform.domain)] };
      return subject.value.kind === 'user' ? { boundRoles: wanted.value } : undefined;
    }),
    add: (name) => {
      toggle('with', added.value, name);
    },
    remove: (name) => {
      toggle('without', removed.value, name);
    },
    clear,
    apply,
  };
}

function named(name: string): readonly string[] {
  return name === '' ? [] : [name];
}
