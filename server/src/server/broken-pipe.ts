/**
 * Ends the process quietly, with the code 0, once nobody reads its output any more, as behind `| head`; without it
 * the runtime would print a stack.
 */
export function endOnBrokenPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}
