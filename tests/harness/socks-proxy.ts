import { connect, createServer, type Socket } from 'node:net'

/** A SOCKS5 proxy that knows one network: each name leads to 127.0.0.2. */
export interface SocksProxy extends AsyncDisposable {
  port: number
  /** Host and port of each tunnel that was requested, with the user who requested it. */
  requests: { target: string; username: string | undefined }[]
  /** The password of all users; without one the proxy requires no authentication. */
  password: string | undefined
  /** The code that answers the request for a tunnel: 0 for a tunnel. */
  code: number
}

/** Reads a text behind its length. */
const textAt = (bytes: Buffer, at: number) =>
  bytes.toString('utf8', at + 1, at + 1 + (bytes[at] ?? 0))

const messageOf = (client: Socket) => new Promise<Buffer>((resolve) => client.once('data', resolve))

/** Returns whether the client may go on, and its user. */
async function authenticate(client: Socket, { password }: Pick<SocksProxy, 'password'>) {
  await messageOf(client)
  if (password === undefined) {
    client.write(Buffer.from([5, 0]))
    return { isAllowed: true, username: undefined }
  }
  client.write(Buffer.from([5, 2]))
  const message = await messageOf(client)
  const username = textAt(message, 1)
  const isAllowed = textAt(message, 2 + Buffer.byteLength(username)) === password
  client.write(Buffer.from([1, isAllowed ? 0 : 1]))
  return { isAllowed, username }
}

/** Starts it on 127.0.0.1. Clients send each message at once. */
export async function startSocksProxy(): Promise<SocksProxy> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }

  async function serve(client: Socket) {
    track(client)
    const { isAllowed, username } = await authenticate(client, proxy)
    if (!isAllowed) {
      client.end()
      return
    }
    const request = await messageOf(client)
    const port = request.readUInt16BE(request.length - 2)
    proxy.requests.push({ target: `${textAt(request, 4)}:${port}`, username })
    const reply = Buffer.from([5, proxy.code, 0, 1, 0, 0, 0, 0, 0, 0])
    if (proxy.code !== 0) {
      client.end(reply)
      return
    }
    const upstream = connect(port, '127.0.0.2', () => {
      client.write(reply)
      client.pipe(upstream)
      upstream.pipe(client)
    })
    track(upstream)
    upstream.on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
  }

  const server = createServer((client) => void serve(client))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxy: SocksProxy = {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    requests: [],
    password: undefined,
    code: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return proxy
}
