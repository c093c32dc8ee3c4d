/** The messages of a language. The members of the first level are the folders that the messages come from. */
export type Messages = { [key: string]: string | Messages };

/** Returns the messages by folder: `../pages/objects/messages/en.json` has the messages `objects.…`. */
export function messagesOf(files: Readonly<Record<string, Messages>>): Messages {
  return Object.fromEntries(
    Object.entries(files).map(([path, messages]) => [path.split('/').at(-3) ?? path, messages]),
  );
}
