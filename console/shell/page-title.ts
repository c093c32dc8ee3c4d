import { computed, onScopeDispose, shallowRef, toValue, watchEffect, type MaybeRefOrGetter } from 'vue';
import { useI18n } from 'vue-i18n';
import { useRoute } from 'vue-router';

/** The title that the page has set, for example the name of an object. */
const own = shallowRef<(() => string) | undefined>();

/** Sets the title of the window while the calling component is shown. */
export function usePageTitle(title: MaybeRefOrGetter<string>): void {
  const mine = (): string => toValue(title);
  own.value = mine;
  onScopeDispose(() => {
    if (own.value === mine) own.value = undefined;
  });
}

/**
 * Sets the title of the window: the title that the page has set, otherwise the title of the route. Only the shell calls
 * this function, once.
 */
export function useRouteTitle(): void {
  const route = useRoute();
  const { t } = useI18n();
  const title = computed(() => own.value?.() ?? (route.meta.title === undefined ? '' : t(route.meta.title)));
  watchEffect(() => {
    document.title = title.value === '' ? 'Ledgerplane' : `${title.value} · Ledgerplane`;
  });
}
