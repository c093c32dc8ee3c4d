import { ClientError, ConnectionError } from 'ledgerplane/client';
import { useI18n } from 'vue-i18n';

/**
 * Returns a function that describes a failure to the user. The server's message is shown unchanged, because it contains
 * the place and the remedy.
 */
export function useFailureText(): (error: unknown) => string {
  const { t } = useI18n();
  return (error) => {
    if (error instanceof ConnectionError) return t('ui.failure.connection');
    if (error instanceof ClientError) {
      if (error.status === 401) return t('ui.failure.session');
      if (error.status === 429) return t('ui.failure.busy', { seconds: error.retryAfterSeconds ?? 1 });
      return error.message;
    }
    return error instanceof Error ? error.message : String(error);
  };
}
