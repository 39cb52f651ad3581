/** The message matches the database driver's own, and so makes a 503 of the error (`http/render.ts`). */
export const noAnswer = () => new Error('no answer in time: timeout')

/** Settles as `asked` does, or rejects after `ms`: a frozen server keeps no deadline of its own. */
export async function withTimeout<Value>(
  asked: Promise<Value>,
  ms: number,
  late: () => Error = noAnswer,
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), ms)
  try {
    return await Promise.race([asked, promise])
  } finally {
    clearTimeout(timer)
  }
}
