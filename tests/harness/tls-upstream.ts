import { createServer, type TLSSocket } from 'node:tls'
import { completion } from './byok'
import type { Issued } from './private-authority'

/** A request as it reached the upstream. */
interface TlsRequest {
  path: string
  /** All lines of its head. */
  head: string
  /** The name in the client certificate; undefined where none was verified. */
  client: string | undefined
}

/** A provider that verifies client certificates, where it has an authority for them. */
export interface TlsUpstream extends AsyncDisposable {
  port: number
  requests: TlsRequest[]
  /** The number of connections whose handshake was complete. */
  readonly accepted: number
}

/** Starts it on 127.0.0.2. */
export async function startTlsUpstream(
  { certificate, key }: Issued,
  clientAuthority?: string,
): Promise<TlsUpstream> {
  const requests: TlsRequest[] = []
  const sockets = new Set<TLSSocket>()
  const verification = clientAuthority
    ? { ca: clientAuthority, requestCert: true, rejectUnauthorized: true }
    : {}
  let accepted = 0
  const server = createServer({ cert: certificate, key, ...verification }, (socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    const client = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined
    answerEach(socket, (head) => requests.push({ path: head.split(' ')[1] ?? '', head, client }))
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    port,
    requests,
    get accepted() {
      return accepted
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Answers requests one after the other, as HTTP/1.1 with kept connections. */
function answerEach(socket: TLSSocket, onRequest: (head: string) => void): void {
  let unread = ''
  socket.on('data', async (bytes) => {
    unread += bytes.toString('latin1')
    const end = unread.indexOf('\r\n\r\n') + 4
    const head = unread.slice(0, end)
    const bodyBytes = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (end < 4 || unread.length < end + bodyBytes) return
    unread = ''
    onRequest(head)
    const isList = / \S*\/models /.test(head)
    const list = { object: 'list', data: [{ id: 'm' }] }
    const text = isList ? JSON.stringify(list) : await completion().text()
    const fields = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}`
    socket.write(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${text}`)
  })
}
