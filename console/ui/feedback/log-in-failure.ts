import { ClientError } from 'ledgerplane/client';
import { useI18n } from 'vue-i18n';

import { useFailureText } from './failure-text.ts';

/** Returns a function that describes why a log-in failed. */
export function useLogInFailure(): (error: unknown) => string {
  const { t } = useI18n();
  const textOf = useFailureText();
  return (error) =>
    error instanceof ClientError && error.status === 401 ? t('ui.failure.credentials') : textOf(error);
}
