/**
 * An error that ends a command. `message` is printed to standard error, without a stack, and must not contain secrets.
 */
export class CommandFailure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = 'CommandFailure';
    this.exitCode = exitCode;
  }
}

/** The server cannot be reached, or the connection ended before the end of a response. */
export class ConnectionFailure extends CommandFailure {
  constructor(message: string) {
    super(message, 1);
    this.name = 'ConnectionFailure';
  }
}

/** The server refused the request. `status`: the HTTP status of the refusal. */
export class RefusalFailure extends CommandFailure {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message, 1);
    this.name = 'RefusalFailure';
    this.status = status;
  }
}

/** Returns the error for an invalid command line or setting. The exit code is 2. */
export function usageError(message: string): CommandFailure {
  return new CommandFailure(message, 2);
}

/** Returns the error for a command that failed. The exit code is 1. */
export function commandError(message: string): CommandFailure {
  return new CommandFailure(message, 1);
}

/** Returns the error for a command that Ctrl-C interrupted. The exit code is that of an interrupted shell command. */
export function interrupted(): CommandFailure {
  return new CommandFailure('interrupted', 130);
}
