import type { ConsoleMessages } from 'ledgerplane/console-kit';
import type { MessageContext, MessageFunction } from 'vue-i18n';

/** The messages of a plugin by language. */
export type MessagesByLanguage = { readonly en: ConsoleMessages; readonly [language: string]: ConsoleMessages };

/** The messages of a plugin, in the form that vue-i18n accepts. */
export type FilledMessages = { [key: string]: MessageFunction | FilledMessages };

/**
 * Returns the messages of a plugin in a language. A message that the language lacks is in English. The texts become
 * functions: in the message syntax of vue-i18n, characters such as `@` could make a text throw.
 */
export function filledMessages(messages: MessagesByLanguage, language: string): FilledMessages {
  return merged(messages.en, messages[language] ?? {});
}

function merged(english: ConsoleMessages, other: ConsoleMessages): FilledMessages {
  const entries: [string, FilledMessages[string]][] = [];
  for (const key of new Set([...Object.keys(english), ...Object.keys(other)])) {
    const [first, second] = [own(other, key), own(english, key)];
    const chosen = first ?? second;
    if (typeof chosen === 'string') entries.push([key, filling(chosen)]);
    else entries.push([key, merged(levelOf(second), levelOf(first))]);
  }
  return Object.fromEntries(entries);
}

function levelOf(messages: string | ConsoleMessages | undefined): ConsoleMessages {
  return typeof messages === 'object' ? messages : {};
}

function own(messages: ConsoleMessages, key: string): string | ConsoleMessages | undefined {
  return Object.hasOwn(messages, key) ? messages[key] : undefined;
}

/** Returns a function that fills the placeholders of a text, and chooses between its singular and plural. */
function filling(text: string): MessageFunction {
  const forms = text.split(' | ');
  return (context: MessageContext) => {
    const form = forms.length === 1 ? text : context.plural(forms);
    return form.replaceAll(/\{(\w+)\}/gu, (whole, name: string) => {
      const value: unknown = context.named(name);
      return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
    });
  };
}
