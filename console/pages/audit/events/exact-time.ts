import { useI18n } from 'vue-i18n';

/** Returns a function that formats the time of an event (RFC 3339) with milliseconds, in the user's time zone. */
export function useExactTime(): (time: string) => string {
  const { locale } = useI18n();
  return (time) => {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    return date.toLocaleString(locale.value, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      timeZoneName: 'short',
    });
  };
}
