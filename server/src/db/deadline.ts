/** What was asked, or a rejection after `ms`: a frozen server keeps no deadline of its own. */
export async function within<Value>(asked: Promise<Value>, ms: number): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('the database is slow: timeout')), ms)
  try {
    return await Promise.race([asked, promise])
  } finally {
    clearTimeout(timer)
  }
}
