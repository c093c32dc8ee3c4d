/** The messages of a language. Each member of the first level has the name of the folder that contains the messages. */
export type Messages = { [key: string]: string | Messages };

/** Returns the messages by folder: the file `../pages/objects/messages/en.json` contains the messages `objects.…`. */
export function messagesOf(files: Readonly<Record<string, Messages>>): Messages {
  return Object.fromEntries(
    Object.entries(files).map(([path, messages]) => [path.split('/').at(-3) ?? path, messages]),
  );
}
