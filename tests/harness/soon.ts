/**
 * Sends an instant that is a moment away, and returns what `send` returns. Where that rejects, as the machine stood still
 * and the instant was past when it arrived, it is sent a later one.
 */
export async function sendSoon<Result>(
  send: (instant: string) => Promise<Result>,
  afterMs = 60,
): Promise<Result> {
  try {
    return await send(new Date(Date.now() + afterMs).toISOString())
  } catch (thrown) {
    if (afterMs > 5000) throw thrown
    return sendSoon(send, afterMs * 5)
  }
}
