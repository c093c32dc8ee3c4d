import { useMutation, useQueryClient } from '@tanstack/vue-query';
import { computed, shallowRef, type ComputedRef, type Ref } from 'vue';

import { useServer } from '../../../server/use-server.ts';
import { packagePath, type PluginObject } from '../plugin-object.ts';

/** The maximum size of a package that the server accepts, in bytes. */
const packageBytesMax = 20_971_520;

/** A package that the user has chosen. The server first checks the package, and installs it when the user confirms. */
export function usePackage(upgraded: () => string | undefined): {
  readonly file: Readonly<Ref<File | undefined>>;
  readonly isTooLarge: ComputedRef<boolean>;
  /** The Plugin object that the server would store, with the report in its status. */
  readonly planned: ComputedRef<PluginObject | undefined>;
  readonly isChecking: ComputedRef<boolean>;
  readonly isInstalling: ComputedRef<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly choose: (file: File) => void;
  readonly install: () => Promise<PluginObject | undefined>;
  readonly reset: () => void;
} {
  const { client, platform } = useServer();
  const queries = useQueryClient();
  const file = shallowRef<File>();
  const send = async (sent: File, query: { readonly dryRun?: 'All' }): Promise<PluginObject | undefined> => {
    const name = upgraded();
    const form = new FormData();
    form.set('file', sent);
    const path = packagePath(platform.domain, ...(name === undefined ? ['install'] : [name, 'upgrade']));
    return client.request<PluginObject>(path, { method: 'POST', body: form, query });
  };
  const checking = useMutation({ mutationFn: async (sent: File) => send(sent, { dryRun: 'All' }) });
  const installing = useMutation({
    mutationFn: async (sent: File) => send(sent, {}),
    onSettled: async () => queries.invalidateQueries({ queryKey: ['types'] }),
  });
  const isTooLarge = computed(() => (file.value?.size ?? 0) > packageBytesMax);
  const reset = (): void => {
    file.value = undefined;
    checking.reset();
    installing.reset();
  };
  return {
    file,
    isTooLarge,
    planned: computed(() => (checking.isSuccess.value ? checking.data.value : undefined)),
    isChecking: computed(() => checking.isPending.value),
    isInstalling: computed(() => installing.isPending.value),
    error: computed(() => installing.error.value ?? checking.error.value),
    choose: (chosen) => {
      reset();
      file.value = chosen;
      if (!isTooLarge.value) checking.mutate(chosen);
    },
    install: async () => (file.value === undefined ? undefined : installing.mutateAsync(file.value)),
    reset,
  };
}
