/** A body that is generated as it is read, and counts the bytes. */
export function endless(piece: string) {
  const count = { bytes: 0 }
  const bytes = new TextEncoder().encode(piece)
  const body = new ReadableStream({
    pull(controller) {
      count.bytes += bytes.length
      controller.enqueue(bytes)
    },
  })
  return { body, count }
}

/** Reads so many bytes of an answer, and disconnects. */
export async function readSome(url: string, bytes: number): Promise<void> {
  const { body } = await fetch(url, { method: 'POST', body: '{}' })
  let read = 0
  for await (const piece of body ?? []) {
    read += piece.byteLength
    if (read >= bytes) return
  }
}
