/** Errors of a stream whose reader has gone, at once and on later writes. */
const closedCodes = new Set(['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'])

/**
 * Keeps a command whose output cannot be written from ending with a stack. If the reader has enough, as `head` has, the
 * command runs to its end, with its own exit code; any other failure, such as a full disk, is one line and exit code 1.
 */
export function guardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (closedCodes.has(error.code ?? '')) return
    process.stderr.write(`tollgate: The output could not be written: ${error.message}.\n`)
    process.exit(1)
  })
  // There is nowhere left to report it.
  process.stderr.on('error', () => undefined)
}
