/**
 * Ends the process quietly with exit code 0 when its output is closed, as behind `| head`; otherwise the runtime would
 * print a stack.
 */
export function endOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}
