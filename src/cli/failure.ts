/** A command ends without what was asked for: `message` is for whoever typed it, without a stack and without a secret. */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** What was typed cannot be meant so; nothing was sent. */
export function mistake(message: string): CommandFailure {
  return new CommandFailure(message, 2);
}

/** The server refused, or could not be reached. */
export function failed(message: string): CommandFailure {
  return new CommandFailure(message, 1);
}

/** As a shell tells a command that Ctrl-C ended. */
export function interrupted(): CommandFailure {
  return new CommandFailure('interrupted', 130);
}
