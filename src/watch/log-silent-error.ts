/** The log did not answer, or not with what it has now: the watch goes on from where it is once it does. */
export class LogSilentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogSilentError';
  }
}
