/** The message is that of the database's own driver, which `http/render.ts` turns into a 503. */
export const noAnswer = () => new Error('no answer in time: timeout')

/** Resolves as `asked` does, or rejects after `ms`: a frozen server enforces no timeout of its own. */
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
