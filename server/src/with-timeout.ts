/** Its words are what the database's own driver says, and make a 503 of it (`http/render.ts`). */
export const noAnswer = () => new Error('no answer in time: timeout')

/** What was asked, or a rejection after `ms`: a frozen server keeps no deadline of its own. */
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
