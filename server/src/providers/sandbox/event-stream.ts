const encoder = new TextEncoder()

/**
 * Sends chunks as an OpenAI event stream that ends in `[DONE]`. Nothing is made before the client reads
 * it; once `signal` aborts, the next read fails with its reason, as reading from a cut connection does.
 */
export function createEventStream(chunks: Iterable<object>, signal: AbortSignal): Response {
  const iterator = chunks[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (signal.aborted) return controller.error(signal.reason)
        const next = iterator.next()
        const data = next.done ? '[DONE]' : JSON.stringify(next.value)
        controller.enqueue(encoder.encode(`data: ${data}\n\n`))
        if (next.done) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
}
