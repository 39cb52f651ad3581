/** One HTTP/1.1 request as it came over the wire. Header names are in lower case. */
export interface RawRequest {
  method: string
  target: string
  headers: Record<string, string>
  body: Buffer
}

interface Head {
  method: string
  target: string
  headers: Record<string, string>
  length: number
}

const headEnd = Buffer.from('\r\n\r\n')
const none = Buffer.alloc(0)

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  return { method, target, headers, length: Number(headers['content-length'] ?? 0) }
}

/** The content of a chunked body and the bytes it took, undefined while it is not all there. */
function readChunked(bytes: Buffer): { body: Buffer; taken: number } | undefined {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    // Trailers of a request are of no use to a test; only the empty one is understood.
    if (size === 0) return { body: Buffer.concat(parts), taken: start + 2 }
    parts.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}

/**
 * Starts reading one connection. `push` takes what arrived and returns the requests that are now
 * complete, which may be none or several; it understands content-length and chunked bodies.
 */
export function requestParser(): { push: (bytes: Buffer) => RawRequest[] } {
  let waiting: Buffer[] = []
  let size = 0
  let head: Head | undefined
  // A body of 32 MB comes in hundreds of pieces; they are joined once, when enough is there.
  let wanted = 1

  function body(bytes: Buffer, of: Head): { body: Buffer; taken: number } | undefined {
    if (of.headers['transfer-encoding']?.includes('chunked')) return readChunked(bytes)
    if (bytes.length >= of.length) return { body: bytes.subarray(0, of.length), taken: of.length }
    wanted = of.length
    return undefined
  }

  function next(bytes: Buffer): { request?: RawRequest; rest: Buffer } {
    let rest = bytes
    if (!head) {
      const end = rest.indexOf(headEnd)
      if (end < 0) return { rest }
      head = parseHead(rest.toString('latin1', 0, end))
      rest = rest.subarray(end + headEnd.length)
    }
    const read = body(rest, head)
    if (!read) return { rest }
    const { method, target, headers } = head
    head = undefined
    return {
      request: { method, target, headers, body: read.body },
      rest: rest.subarray(read.taken),
    }
  }

  return {
    push(bytes) {
      waiting.push(bytes)
      size += bytes.length
      if (size < wanted) return []
      wanted = 1
      const requests: RawRequest[] = []
      let step = next(waiting.length === 1 ? bytes : Buffer.concat(waiting))
      while (step.request) {
        requests.push(step.request)
        step = step.rest.length > 0 ? next(step.rest) : { rest: none }
      }
      waiting = step.rest.length > 0 ? [step.rest] : []
      size = step.rest.length
      return requests
    },
  }
}
