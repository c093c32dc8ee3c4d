import { shallowRef, watch, type ShallowRef } from 'vue';
import { useI18n } from 'vue-i18n';

import type { TypeSchema } from '../../../server/type-schema.ts';
import type { Assist } from '../../../ui/editor/assist.ts';

/**
 * Returns the completion for the text of a type. The completion is loaded when a schema is known; undefined until then.
 */
export function useAssist(
  schema: () => TypeSchema | undefined,
  isNew: boolean,
): Readonly<ShallowRef<Assist | undefined>> {
  const { t, locale } = useI18n();
  const assist = shallowRef<Assist>();
  watch(
    [schema, locale],
    async ([wanted], _, onCleanup) => {
      const leaving = new AbortController();
      onCleanup(() => {
        leaving.abort();
      });
      if (wanted === undefined) {
        assist.value = undefined;
        return;
      }
      const { schemaAssist } = await import('./schema-assist.ts');
      if (leaving.signal.aborted) return;
      assist.value = schemaAssist(wanted, isNew, {
        required: t('objects.assist.required'),
        preset: (value) => t('objects.assist.preset', { value }),
        allowed: (values) => t('objects.assist.allowed', { values }),
      });
    },
    { immediate: true },
  );
  return assist;
}
