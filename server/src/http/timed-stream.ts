/** Timeouts of a stream that the client reads. */
export interface StreamTimeouts {
  /** For the whole stream. */
  maxDurationMs: number
  /** For the client to read, between two chunks. */
  stalledMs: number
}

type Controller = ReadableStreamDefaultController<Uint8Array>

/**
 * Streams lines on demand: nothing is read before the first pull. `onEnd` is called once `lines` has ended, for any
 * reason.
 */
export function streamTimed(
  lines: AsyncGenerator<string>,
  { maxDurationMs, stalledMs }: StreamTimeouts,
  onEnd: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOver = false
  let durationTimer: Timer | undefined
  let stallTimer: Timer | undefined
  const end = async () => {
    if (isOver) return
    isOver = true
    clearTimeout(durationTimer)
    clearTimeout(stallTimer)
    await lines.return(undefined).catch(() => undefined)
    onEnd()
  }
  const expire = (controller: Controller) => {
    controller.error(new Error('the export took too long'))
    void end()
  }
  const source = {
    start(controller: Controller) {
      durationTimer = setTimeout(expire, maxDurationMs, controller)
      stallTimer = setTimeout(expire, stalledMs, controller)
    },
    async pull(controller: Controller) {
      clearTimeout(stallTimer)
      const next = await lines.next().catch(async (thrown: unknown) => {
        await end()
        throw thrown
      })
      if (isOver) return
      if (!next.done) {
        controller.enqueue(encoder.encode(next.value))
        stallTimer = setTimeout(expire, stalledMs, controller)
        return
      }
      await end()
      controller.close()
    },
    cancel: end,
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}
